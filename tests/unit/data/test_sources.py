from pathlib import Path

import pytest

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError


def sources(folder, *cells):
    rows = [{"id": i, "lang": "en", "text": "a", "image": cell} for i, cell in enumerate(cells)]
    return Manifest.of(rows, folder=folder, image_column="image")


def test_kinds_of_cells(tmp_path):
    manifest = sources(
        tmp_path,
        "a.png",
        b"bytes",
        {"bytes": b"bytes", "path": "b.png"},
        {"bytes": None, "path": "a.png"},
        {"bytes": None, "path": None},
        bytearray(b"other"),
        Path("a.png"),
    )
    assert manifest.image.tolist() == [0, 1, 1, 0, -1, 2, 0]
    assert manifest.image_source == [tmp_path / "a.png", b"bytes", b"other"]
    assert manifest.item.tolist() == [0, 1, 1, 0, 2, 3, 0]


@pytest.mark.parametrize("path", ["../x.png", "/etc/passwd", "sub/../../x.png", "..", "in/../../x", "a\0b"])
def test_paths_outside_the_folder(tmp_path, path):
    folder = tmp_path / "manifest"
    folder.mkdir()
    with pytest.raises(
        InputError, match=r"row 2, column 'image': .*(outside the manifest's folder|zero byte)"
    ):
        sources(folder, "fine.png", path)


def test_links_that_lead_outside(tmp_path):
    folder, outside = tmp_path / "manifest", tmp_path / "outside"
    folder.mkdir(), outside.mkdir()
    (outside / "secret.png").write_bytes(b"x")
    (folder / "file.png").symlink_to(outside / "secret.png")
    (folder / "place").symlink_to(outside)
    (folder / "own.png").symlink_to("real.png")
    assert sources(folder, "own.png").image_source == [folder / "own.png"]
    for path in ("file.png", "place/secret.png", "place/sub/none.png"):
        with pytest.raises(InputError, match="outside the manifest's folder"):
            sources(folder, path)
