import io
import os

import numpy as np
import pytest
from PIL import Image, features

from xlingual import images
from xlingual.errors import InputError
from xlingual.images import decode, open_image, read_bytes


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def test_transparency_is_put_over_white():
    clear = Image.new("RGBA", (2, 1), (255, 0, 0, 0))
    clear.putpixel((1, 0), (255, 0, 0, 255))
    image = open_image(encoded(clear))
    assert image.mode == "RGB"
    assert [image.getpixel((x, 0)) for x in range(2)] == [(255, 255, 255), (255, 0, 0)]


def test_transparent_palette_and_grey():
    palette = Image.new("P", (1, 1), 0)
    palette.putpalette([9, 9, 9])
    assert open_image(encoded(palette, transparency=0)).getpixel((0, 0)) == (255, 255, 255)
    assert open_image(encoded(Image.new("LA", (1, 1), (0, 0)))).getpixel((0, 0)) == (255, 255, 255)
    assert open_image(encoded(Image.new("L", (1, 1), 7))).getpixel((0, 0)) == (7, 7, 7)


def test_sixteen_bits_are_scaled():
    image = open_image(encoded(Image.new("I;16", (1, 1), 128 * 257)))
    assert image.getpixel((0, 0)) == (128, 128, 128)


@pytest.mark.parametrize(("mode", "white"), [("F", 1.0), ("F", 255.0), ("I", 2**31 - 1), ("I", -1)])
def test_pixels_without_a_white_are_refused(mode, white):
    with pytest.raises(InputError):
        open_image(encoded(Image.new(mode, (2, 2), white), "TIFF"))


@pytest.mark.skipif(not features.check("avif"), reason="this Pillow reads no AVIF")
def test_avif_is_read():
    assert open_image(encoded(Image.new("RGB", (3, 2), (200, 30, 30)), "AVIF")).size == (3, 2)


def test_images_are_put_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    content = encoded(Image.new("RGB", (4, 2)), "JPEG", exif=exif)
    assert open_image(content).size == (2, 4)


def test_too_many_pixels(monkeypatch):
    monkeypatch.setattr(images, "MOST_PIXELS", 100)
    assert open_image(encoded(Image.new("1", (10, 10)))).size == (10, 10)
    with pytest.raises(InputError, match="has more than 100 pixels"):
        open_image(encoded(Image.new("1", (11, 10))))


def test_bomb_is_refused():
    bomb = bytearray(encoded(Image.new("1", (1, 1))))
    bomb[16:24] = (100_000).to_bytes(4, "big") * 2
    from zlib import crc32

    bomb[29:33] = crc32(bytes(bomb[12:29])).to_bytes(4, "big")
    with pytest.raises(InputError, match="has more than 80,000,000 pixels"):
        open_image(bytes(bomb))


def test_files(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    with pytest.raises(InputError, match=r"row 'r1': cannot read the image .*a\.png \(No such file"):
        read_bytes(path, row="r1")
    with pytest.raises(InputError, match="is a folder: the image must be a regular file"):
        read_bytes(tmp_path)
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)  # reading it would wait for ever
    with pytest.raises(InputError, match=r"pipe\.png is a named pipe: row 'r2': the image must be a regular"):
        open_image(pipe, row="r2")
    with pytest.raises(InputError, match=r"row 'r3': the image is a URL .*: download it and name the file"):
        read_bytes(tmp_path / "https://shop.example/a.png", row="r3")
    path.write_bytes(encoded(Image.new("RGB", (3, 2))))
    assert open_image(path).size == (3, 2)
    assert read_bytes(path) == path.read_bytes()
    monkeypatch.setattr(images, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="larger than"):
        read_bytes(path)


TURNED = {  # EXIF's numbers, and what they say is to be done with the rows and columns
    2: lambda shown: shown[:, ::-1],
    3: lambda shown: np.rot90(shown, 2),
    4: lambda shown: shown[::-1],
    5: lambda shown: shown.swapaxes(0, 1),
    6: lambda shown: np.rot90(shown, -1),
    7: lambda shown: np.rot90(shown, 2).swapaxes(0, 1),
    8: lambda shown: np.rot90(shown),
}


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(10))
def test_every_orientation_is_turned_upright(orientation, format):
    exif = Image.Exif()
    exif[0x0112] = orientation
    noise = Image.effect_noise((8, 4), 50).convert("RGB")
    straight, marked = decode(encoded(noise, format)), decode(encoded(noise, format, exif=exif))
    turn = TURNED.get(orientation, lambda shown: shown)  # 0, 1 and unknown numbers: as it is
    np.testing.assert_array_equal(np.asarray(marked), turn(np.asarray(straight)))


def test_a_image_is_turned_whatever_else_its_exif_holds():
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "words"
    damaged = exif.tobytes().replace(b"\x01\x0e", b"\x01\x00")  # its width is now in words
    assert decode(encoded(Image.new("RGB", (4, 2)), exif=damaged)).size == (2, 4)


def test_cmyk_and_palette_become_rgb():
    cyan = Image.new("CMYK", (4, 4), (255, 0, 0, 0))
    assert open_image(encoded(cyan, "JPEG")).mode == "RGB"
    palette = Image.new("RGB", (1, 1), (9, 8, 7)).convert("P", palette=Image.Palette.ADAPTIVE)
    assert open_image(encoded(palette)).getpixel((0, 0)) == (9, 8, 7)


def test_a_jpeg_that_will_be_scaled_down_is_decoded_small():
    content = encoded(Image.effect_noise((1024, 512), 50), "JPEG")
    assert open_image(content, side=16).size == (128, 64)
    assert open_image(content, side=2000).size == open_image(content).size == (1024, 512)
