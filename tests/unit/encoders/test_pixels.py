import io
import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from xlingual.encoders import pixels
from xlingual.encoders.pixels import BINS, CELLS, PixelsEncoder, describe, to_lab
from xlingual.errors import InputError
from xlingual.records import Images

DATA = Path(os.environ.get("XLINGUAL_DATA", Path(__file__).parents[3] / "../shared/data"))
LAYOUT, HISTOGRAM = CELLS * CELLS * 3, int(np.prod(BINS))


def image(colour="red", size=(80, 60), mode="RGB"):
    drawn = Image.new(mode, size, "white" if mode != "RGBA" else (0, 0, 0, 0))
    drawn.paste(colour, (size[0] // 4, size[1] // 4, size[0] // 2, size[1] // 2))
    return drawn


def png(drawn, form="PNG", **options):
    out = io.BytesIO()
    drawn.save(out, form, **options)
    return out.getvalue()


def encode(*sources):
    return PixelsEncoder().encode(
        Images(list(sources), ["en"] * len(sources), [f"p{i}" for i in range(len(sources))])
    )


def refused(*sources):
    with pytest.raises(InputError) as caught:
        encode(*sources)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def parts(vector):
    return np.split(vector, [LAYOUT, LAYOUT + HISTOGRAM])


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_shape_type_and_lengths_of_the_parts():
    vectors = encode(png(image()), png(image("blue")))
    assert vectors.dtype == np.float32
    assert vectors.shape == (2, LAYOUT + HISTOGRAM + (CELLS - 1) ** 2 * 4 * 9)
    for part, weight in zip(parts(vectors[0]), pixels.WEIGHTS.values(), strict=True):
        assert np.linalg.norm(part) == pytest.approx(weight, abs=1e-5)


def test_no_images_give_no_vectors():
    assert encode().shape == (0, encode(png(image())).shape[1])


def test_bytes_and_paths_are_the_same(tmp_path):
    (tmp_path / "a.png").write_bytes(png(image()))
    vectors = encode(png(image()), tmp_path / "a.png")
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_equal_bytes_are_described_once(monkeypatch):
    described = []

    def count(rgb):
        described.append(len(rgb))
        return describe(rgb)

    monkeypatch.setattr(pixels, "describe", count)
    monkeypatch.setattr(pixels, "_CHUNK", 2)
    sources = [png(image(c)) for c in ("red", "red", "blue", "green", "red", "black", "blue")]
    vectors = encode(*sources)
    assert described == [0, 2, 2]  # of none, for the number of dimensions; then of each content once
    for row, source in enumerate(sources):
        np.testing.assert_array_equal(vectors[row], encode(source)[0])


def test_transparency_is_laid_over_white():
    opaque, clear = encode(png(image()), png(image("#ff0000ff", mode="RGBA")))
    np.testing.assert_allclose(opaque, clear, atol=1e-6)
    palette = image().convert("P")
    assert cosine(opaque, encode(png(palette))[0]) > 0.99


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_damaged_exif_is_passed_over():
    raw = png(image(), exif=b"Exif\0\0II*\0\xff\xff\xff\x7f")
    np.testing.assert_array_equal(encode(raw), encode(png(image())))


def test_images_are_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    turned = image().transpose(Image.Transpose.ROTATE_90)
    straight, marked, unmarked = encode(png(image()), png(turned, exif=exif), png(turned))
    np.testing.assert_allclose(straight, marked, atol=1e-6)
    assert cosine(straight, unmarked) < 0.95


def test_sixteen_bits_of_grey_are_scaled():
    deep = np.tile(np.linspace(0, 65535, 64).astype(np.uint16), (64, 1))
    plain = (deep / 257).astype(np.uint8)
    first, second = encode(png(Image.fromarray(deep)), png(Image.fromarray(plain)))
    assert cosine(first, second) > 0.999


@pytest.mark.parametrize(
    ("mode", "form"), [("1", "PNG"), ("L", "PNG"), ("LA", "PNG"), ("CMYK", "JPEG"), ("RGB", "GIF")]
)
def test_other_modes_and_formats_are_read(mode, form):
    assert np.isfinite(encode(png(image().convert(mode), form))).all()


def test_colour_layout_and_edges_each_tell_images_apart():
    base, moved, recoloured = (
        parts(v)
        for v in encode(
            png(image()), png(image().transpose(Image.Transpose.FLIP_LEFT_RIGHT)), png(image("blue"))
        )
    )
    assert cosine(base[0], moved[0]) < 0.8
    np.testing.assert_allclose(base[1], moved[1], atol=1e-6)
    assert cosine(base[1], recoloured[1]) < cosine(base[1], moved[1]) - 0.01
    assert cosine(base[2], recoloured[2]) > 0.95


def test_plain_pictures_have_no_edges_and_finite_vectors():
    vectors = describe(np.stack([np.full((64, 64, 3), level, dtype=np.uint8) for level in (0, 128, 255)]))
    assert np.isfinite(vectors).all()
    assert not vectors[:, LAYOUT + HISTOGRAM :].any()
    assert cosine(vectors[0, :LAYOUT], vectors[2, :LAYOUT]) < 0


def test_lab_of_known_colours():
    rgb = np.array([[255, 255, 255], [0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]], dtype=np.uint8)
    # https://www.brucelindbloom.com calculator, sRGB, D65
    expected = [
        [100, 0, 0],
        [0, 0, 0],
        [53.24, 80.09, 67.20],
        [87.73, -86.18, 83.18],
        [32.30, 79.19, -107.86],
    ]
    np.testing.assert_allclose(to_lab(rgb), expected, atol=0.02)


def test_gradients_equal_a_loop_over_pixels():
    light = np.random.default_rng(0).uniform(0, 100, (1, 64, 64)).astype(np.float32)
    cells = np.zeros((8, 8, 9))
    for y in range(64):
        for x in range(64):
            dx = float(light[0, y, min(x + 1, 63)]) - float(light[0, y, max(x - 1, 0)])
            dy = float(light[0, min(y + 1, 63), x]) - float(light[0, max(y - 1, 0), x])
            place = (np.arctan2(dy, dx) / np.pi % 1) * 9
            low = int(place)
            cells[y // 8, x // 8, low % 9] += np.hypot(dx, dy) * (1 - (place - low))
            cells[y // 8, x // 8, (low + 1) % 9] += np.hypot(dx, dy) * (place - low)
    block = np.concatenate([cells[2, 3], cells[2, 4], cells[3, 3], cells[3, 4]])
    expected = np.minimum(block / np.sqrt((block**2).sum() + 100**2), 0.2)
    found = pixels._gradients(light).reshape(7, 7, 36)[2, 3]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_histograms_equal_a_loop_over_pixels():
    rng = np.random.default_rng(0)
    lab = rng.uniform(-80, 110, (11, pixels.SIZE, pixels.SIZE, 3)).astype(np.float32)  # some out of range
    low, high = pixels.RANGE.astype(np.float64)
    expected = np.zeros(BINS)
    for colour in lab[10].reshape(-1, 3):
        place = np.clip((colour - low) / (high - low), 0, 1) * (np.array(BINS) - 1)
        first = np.minimum(place.astype(int), np.array(BINS) - 2)
        for corner in np.ndindex(2, 2, 2):
            share = np.where(corner, place - first, 1 - (place - first)).prod()
            expected[tuple(first + corner)] += share
    found = pixels._histogram(lab)
    assert found.shape == (11, HISTOGRAM)
    np.testing.assert_allclose(found[10] ** 2, expected.ravel(), atol=1e-2)
    np.testing.assert_array_equal(found[10:], pixels._histogram(lab[10:]))


def test_broken_and_missing_images_name_the_row(tmp_path):
    good = png(image())
    assert "row 'p1' has no image" in refused(good, None)
    assert "row 'p0': the image is empty" in refused(b"")
    assert "row 'p1': the image cannot be decoded (not an image)" in refused(good, b"hello")
    assert "row 'p0': the image cannot be decoded" in refused(good[: len(good) // 2])
    gone = tmp_path / "gone.png"
    assert f"row 'p0': cannot read the image {gone} (No such file" in refused(gone)
    gone.write_bytes(b"hello")
    assert f"row 'p0': the image {gone} cannot be decoded" in refused(gone)
    assert f"{tmp_path} is a folder: row 'p0': the image must be a regular file" in refused(tmp_path)


def bomb(side):
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = side.to_bytes(4, "big") * 2 + bytes([1, 0, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0"))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [9_000, 60_000])
def test_decompression_bombs_are_refused(side):
    assert "row 'p0': the image has more than 80,000,000 pixels" in refused(bomb(side))


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=60))
def test_hostile_bytes_are_refused_in_one_line(raw):
    for start in (b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"BM", b"II*\0", b"RIFF"):
        assert "row 'p0'" in refused(start + raw)


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "emoji").is_dir(), reason="the real data are not here (XLINGUAL_DATA)")
@pytest.mark.slow
def test_neighbours_of_emoji_look_alike(full):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "emoji/emoji.parquet", columns=["char", "subgroup", "image_png"])
    if not full:  # every twelfth subgroup, that of geometric shapes among them
        names = sorted(set(table["subgroup"].to_pylist()))
        few = names[names.index("geometric") % 12 :: 12]
        table = table.filter(pc.is_in(table["subgroup"], pa.array(few)))
    vectors = encode(*table["image_png"].to_pylist())
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -1)
    nearest = scores.argmax(axis=1)
    subgroup = np.array(table["subgroup"].to_pylist())
    assert (subgroup[nearest] == subgroup).mean() > 0.4  # chance: about 0.02
    chars = table["char"].to_pylist()
    assert subgroup[nearest[chars.index("🟢")]] == "geometric"
