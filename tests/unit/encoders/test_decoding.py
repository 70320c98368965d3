import io

import numpy as np
import pytest
from PIL import Image

from xlingual.encoders.decoding import broken, decoded, distinct
from xlingual.errors import InputError
from xlingual.records import Images


def png(shade, size=(4, 3)):
    out = io.BytesIO()
    Image.new("L", size, shade).save(out, "PNG")
    return out.getvalue()


def images(*sources):
    return Images(sources, ["en"] * len(sources), [f"p{i}" for i in range(len(sources))])


def shade(image):
    return image.getpixel((0, 0))[0]


@pytest.mark.parametrize("ahead", [1, 3, 100])
def test_order_is_kept(ahead):
    batch = images(*(png(i) for i in range(20)))
    assert list(decoded(batch, shade, ahead=ahead)) == list(range(20))
    assert list(decoded(images(), shade)) == []


def test_an_error_names_the_first_row_and_counts():
    batch = images(png(0), b"x", png(1), b"y", None)
    found = decoded(batch, shade)
    assert next(found) == 0
    with pytest.raises(
        InputError, match=r"row 'p1': .*not an image.*\(2 of 4 images are missing or broken, 1 text"
    ):
        next(found)


def test_broken_pictures_are_found(tmp_path):
    gone = tmp_path / "gone.png"
    whole = png(7, (90, 90))
    found = broken(images(whole, gone, None, whole[: len(whole) // 2], b"", whole))
    assert list(found) == [1, 2, 3, 4]
    assert "gone.png" in found[1] and "has no image" in found[2] and "is empty" in found[4]


def test_distinct_contents(tmp_path):
    for name, content in (("a", png(1)), ("b", png(2)), ("c", png(1)), ("d", png(3, (40, 30)))):
        (tmp_path / name).write_bytes(content)
    paths = [tmp_path / name for name in "abcd"]
    first, code = distinct(images(*paths, png(1), tmp_path / "none", None, None))
    np.testing.assert_array_equal(first, [0, 1, 3, 5, 6, 7])
    np.testing.assert_array_equal(code, [0, 1, 0, 2, 0, 3, 4, 5])
