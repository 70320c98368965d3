"""`pixels:` against loops over pixels; images of all kinds, broken and hostile ones."""

import io

import numpy as np
import pytest
from PIL import Image

from xlingual.encoders import image_encoder, pixels
from xlingual.records import Images

LAYOUT, HISTOGRAM = 8 * 8 * 3, 5 * 6 * 6


def image(colour="red", size=(80, 60), mode="RGB"):
    drawn = Image.new(mode, size, "white" if mode != "RGBA" else (0, 0, 0, 0))
    drawn.paste(colour, (size[0] // 4, size[1] // 4, size[0] // 2, size[1] // 2))
    return drawn


def png(drawn, form="PNG", **options):
    out = io.BytesIO()
    drawn.save(out, form, **options)
    return out.getvalue()


def encode(*sources):
    ids = [f"p{i}" for i in range(len(sources))]
    return image_encoder("pixels:")[1].encode(Images(list(sources), ["en"] * len(sources), ids))


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_parts_have_their_lengths_and_equal_contents_one_vector(tmp_path):
    (tmp_path / "a.png").write_bytes(png(image()))
    sources = [png(image(c)) for c in ("red", "blue", "red", "green", *["black", "red"] * 5)]
    vectors = encode(*sources, tmp_path / "a.png")
    assert vectors.dtype == np.float32 and vectors.shape == (15, LAYOUT + HISTOGRAM + 7 * 7 * 36)
    parts = np.split(vectors[0], [LAYOUT, LAYOUT + HISTOGRAM])
    assert list(map(np.linalg.norm, parts)) == pytest.approx([0.45, 0.45, 0.77], abs=1e-5)
    for row, source in enumerate([*sources, sources[0]]):
        np.testing.assert_array_equal(vectors[row], encode(source)[0])
    assert encode().shape == (0, vectors.shape[1])


def test_colour_layout_and_edges_each_tell_images_apart():
    kinds = (image(), image().transpose(Image.Transpose.FLIP_LEFT_RIGHT), image("blue"))
    base, moved, blue = (np.split(row, [LAYOUT, LAYOUT + HISTOGRAM]) for row in encode(*map(png, kinds)))
    assert cosine(base[0], moved[0]) < 0.8
    np.testing.assert_allclose(base[1], moved[1], atol=1e-6)
    assert cosine(base[1], blue[1]) < cosine(base[1], moved[1]) - 0.01
    assert cosine(base[2], blue[2]) > 0.95
    flat = pixels.describe(np.stack([np.full((64, 64, 3), level, dtype=np.uint8) for level in (0, 128, 255)]))
    assert np.isfinite(flat).all() and not flat[:, LAYOUT + HISTOGRAM :].any()


def test_lab_of_known_colours():
    rgb = np.array([[255, 255, 255], [0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]], dtype=np.uint8)
    expected = [
        [100, 0, 0],
        [0, 0, 0],
        [53.24, 80.09, 67.20],
        [87.73, -86.18, 83.18],
        [32.30, 79.19, -107.86],
    ]
    np.testing.assert_allclose(pixels.to_lab(rgb), expected, atol=0.02)  # brucelindbloom.com, sRGB, D65


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
    np.testing.assert_allclose(pixels.gradients(light)[0, 2, 3], expected, atol=1e-4)


def test_histograms_equal_a_loop_over_pixels():
    lab = np.random.default_rng(0).uniform(-80, 110, (3, 64, 64, 3)).astype(np.float32)  # some out of range
    low, high = pixels.RANGE.astype(np.float64)
    expected = np.zeros(pixels.BINS)
    for colour in lab[2].reshape(-1, 3):
        place = np.clip((colour - low) / (high - low), 0, 1) * (np.array(pixels.BINS) - 1)
        first = np.minimum(place.astype(int), np.array(pixels.BINS) - 2)
        for corner in np.ndindex(2, 2, 2):
            expected[tuple(first + corner)] += np.where(corner, place - first, 1 - (place - first)).prod()
    np.testing.assert_allclose(pixels.histogram(lab)[2] ** 2, expected, atol=1e-2)
