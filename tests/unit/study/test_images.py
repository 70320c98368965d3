"""Images of a study: small enough for a page, upright, and with nothing hidden in them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from xlingual.study.folder import SIDE, encoded_image, write_images


def photo(size: tuple[int, int], **options: object) -> bytes:
    image = Image.new("RGB", size, "white")
    image.paste("red", (0, 0, size[0] // 2, size[1]))
    out = BytesIO()
    image.save(out, "JPEG", quality=95, **options)
    return out.getvalue()


def test_what_a_camera_wrote_is_dropped() -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"  # description
    exif[0x0112] = 6  # to be turned to the right
    made = encoded_image(photo((200, 100), exif=exif, comment=b"secret words", icc_profile=b"secret " * 9))
    assert b"secret" not in made
    with Image.open(BytesIO(made)) as image:
        assert image.format == "WEBP" and not image.getexif() and image.size == (100, 200)
        assert image.getpixel((50, 20))[1] < 60 < 200 < image.getpixel((50, 180))[1]  # red is at the top


@pytest.mark.parametrize(
    ("size", "expected"),
    [((4000, 1000), (SIDE, 256)), ((500, 2048), (250, SIDE)), ((300, 20), (300, 20))],
)
def test_large_images_are_made_smaller(size: tuple[int, int], expected: tuple[int, int]) -> None:
    with Image.open(BytesIO(encoded_image(photo(size)))) as image:
        assert image.size == expected


def test_images_are_written_by_their_names(tmp_path: Path) -> None:
    content = encoded_image(photo((10, 10)))
    write_images(tmp_path, {"abc.webp": content})
    write_images(tmp_path / "none", {})
    assert (tmp_path / "images/abc.webp").read_bytes() == content
    assert not (tmp_path / "none").exists()
