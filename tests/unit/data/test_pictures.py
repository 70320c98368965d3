import io

import pytest
from PIL import Image

from xlingual.data import pictures
from xlingual.data.pictures import open_picture, read_bytes
from xlingual.errors import InputError


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def test_transparency_is_put_over_white():
    clear = Image.new("RGBA", (2, 1), (255, 0, 0, 0))
    clear.putpixel((1, 0), (255, 0, 0, 255))
    image = open_picture(encoded(clear))
    assert image.mode == "RGB"
    assert [image.getpixel((x, 0)) for x in range(2)] == [(255, 255, 255), (255, 0, 0)]


def test_transparent_palette_and_grey():
    palette = Image.new("P", (1, 1), 0)
    palette.putpalette([9, 9, 9])
    assert open_picture(encoded(palette, transparency=0)).getpixel((0, 0)) == (255, 255, 255)
    assert open_picture(encoded(Image.new("LA", (1, 1), (0, 0)))).getpixel((0, 0)) == (255, 255, 255)
    assert open_picture(encoded(Image.new("L", (1, 1), 7))).getpixel((0, 0)) == (7, 7, 7)


def test_sixteen_bits_are_scaled():
    image = open_picture(encoded(Image.new("I;16", (1, 1), 128 * 256)))
    assert image.getpixel((0, 0)) == (128, 128, 128)


def test_pictures_are_put_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    content = encoded(Image.new("RGB", (4, 2)), "JPEG", exif=exif)
    assert open_picture(content).size == (2, 4)


@pytest.mark.parametrize(
    "content", [b"", b"no image", b"<svg/>", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"\x89PNG\r\n\x1a\n"]
)
def test_what_is_no_image(content):
    with pytest.raises(InputError, match="a picture of row 'r7' is not an image that can be read") as error:
        open_picture(content, row="r7")
    assert "object at" not in str(error.value)


def test_truncated_image():
    content = encoded(Image.effect_noise((64, 64), 50))
    with pytest.raises(InputError, match="is not an image that can be read"):
        open_picture(content[: len(content) // 2])


def test_too_many_pixels(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PIXELS", 100)
    assert open_picture(encoded(Image.new("1", (10, 10)))).size == (10, 10)
    with pytest.raises(InputError, match="11 × 10 pixels, more than"):
        open_picture(encoded(Image.new("1", (11, 10))))


def test_bomb_is_refused():
    bomb = bytearray(encoded(Image.new("1", (1, 1))))
    bomb[16:24] = (100_000).to_bytes(4, "big") * 2
    from zlib import crc32

    bomb[29:33] = crc32(bytes(bomb[12:29])).to_bytes(4, "big")
    with pytest.raises(InputError, match="far too many pixels"):
        open_picture(bytes(bomb))


def test_files(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    with pytest.raises(InputError, match=r"a\.png of row 'r1': no such file"):
        read_bytes(path, row="r1")
    with pytest.raises(InputError, match="no such file"):
        read_bytes(tmp_path)
    path.write_bytes(encoded(Image.new("RGB", (3, 2))))
    assert open_picture(path).size == (3, 2)
    assert read_bytes(path) == path.read_bytes()
    monkeypatch.setattr(pictures, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="larger than"):
        read_bytes(path)
