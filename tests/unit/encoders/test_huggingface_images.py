"""`hf:` on images: the real loading code on tiny checkpoints, against direct calls of transformers."""

import json
from functools import partial
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from PIL import Image  # noqa: E402

from xlingual.encoders import image_encoder  # noqa: E402
from xlingual.encoders.huggingface_images import HuggingFaceImages  # noqa: E402
from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.records import Images  # noqa: E402

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("image_models.py"))))
hf = partial(shared.encoder_of, HuggingFaceImages, "hf")
FAMILIES = ("resnet", "regnet", "convnext", "vit", "dinov2", "clip", "siglip")
DIMENSIONS = {"clip": 12}


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    log = transformers.utils.logging
    level = log.get_verbosity()
    log.set_verbosity_error()
    log.disable_progress_bar()
    yield
    log.set_verbosity(level)
    log.enable_progress_bar()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {family: (folder / family, *shared.save(folder / family, family)) for family in FAMILIES}


def batch(*images):
    sources = [p if isinstance(p, bytes | Path | None) else shared.encoded(p) for p in images]
    return Images(sources, ["en"] * len(sources), [f"p{i}" for i in range(len(sources))])


IMAGES = [shared.noise(i, (50 + 7 * i, 40)) for i in range(5)]


def directly(model, processor, images):
    with torch.no_grad():
        inputs = processor(images=images, return_tensors="pt")
        if hasattr(model, "get_image_features"):
            return model.get_image_features(**inputs).pooler_output.numpy()
        return model(**inputs).pooler_output.flatten(1).numpy()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.cases(2)
def test_vectors_are_those_of_transformers(saved, family):
    folder, model, processor = saved[family]
    encoder = hf(folder, batch=2)
    vectors = encoder.encode(batch(*IMAGES))
    expected = directly(model, processor, IMAGES)
    assert vectors.dtype == np.float32 and vectors.shape == (5, DIMENSIONS.get(family, 16))
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-7
    assert encoder.encode(batch()).shape == (0, vectors.shape[1])


@pytest.mark.parametrize("family", ["resnet", "dinov2", "clip"])
@pytest.mark.cases(1)
def test_batches_change_no_vector(saved, family):
    alone = hf(saved[family][0], batch=1).encode(batch(*IMAGES))
    together = hf(saved[family][0], batch=64).encode(batch(*IMAGES[::-1]))
    np.testing.assert_allclose(alone, together[::-1], atol=1e-5)


def test_equal_bytes_have_one_vector_and_are_encoded_once(saved, tmp_path, monkeypatch):
    encoder = hf(saved["vit"][0], batch=2)
    (tmp_path / "copy.png").write_bytes(shared.encoded(IMAGES[0]))
    seen = []
    run = encoder._run
    monkeypatch.setattr(encoder, "_run", lambda images: (seen.append(len(images)), run(images))[1])
    vectors = encoder.encode(batch(IMAGES[0], IMAGES[1], tmp_path / "copy.png", IMAGES[0], IMAGES[2]))
    assert seen == [2, 1]
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_array_equal(vectors[0], vectors[3])


def test_every_way_to_write_a_image_is_read(saved):
    encoder = hf(saved["clip"][0])
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = shared.encoded(IMAGES[0].transpose(Image.Transpose.ROTATE_90), exif=exif)
    opaque = IMAGES[0].convert("RGBA")
    plain, upright, clear = encoder.encode(batch(IMAGES[0], turned, opaque))
    np.testing.assert_allclose(plain, upright, atol=1e-6)
    np.testing.assert_allclose(plain, clear, atol=1e-6)
    grey = IMAGES[0].convert("L")
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    shallow, sixteen = encoder.encode(batch(grey, deep))
    np.testing.assert_allclose(shallow, sixteen, atol=1e-5)
    cmyk = shared.encoded(IMAGES[0].convert("CMYK"), "JPEG")
    assert np.isfinite(encoder.encode(batch(IMAGES[0].convert("P"), cmyk))).all()


def test_broken_pictures_are_named_and_counted(saved, tmp_path):
    encoder = hf(saved["resnet"][0], batch=1)
    gone = tmp_path / "gone.png"
    with pytest.raises(InputError) as caught:
        encoder.encode(batch(IMAGES[0], b"hello", IMAGES[1], gone, None))
    assert "row 'p1': the image cannot be decoded (not an image)" in str(caught.value)
    assert "(2 of 4 images are missing or broken, 1 text has no image; skip_broken=True" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="row 'p0': the image cannot be used: it has 3 × 900 pixels"):
        encoder.encode(batch(Image.new("RGB", (3, 900))))
    with pytest.raises(InputError, match="no row has an image: name the column"):
        encoder.encode(batch(None, None))


def test_pools(saved):
    folder, model, processor = saved["vit"]
    with torch.no_grad():
        output = model(**processor(images=IMAGES, return_tensors="pt"), output_hidden_states=True)
    images = batch(*IMAGES)
    for options, expected in (
        ({"pool": "cls"}, output.last_hidden_state[:, 0]),
        ({"pool": "mean"}, output.last_hidden_state.mean(1)),
        ({"pool": "pooler"}, output.pooler_output),
    ):
        found = hf(folder, **options).encode(images)
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
    with pytest.raises(InputError, match="pool=last is for texts"):
        image_encoder(f"hf:{folder}?pool=last")


def test_a_model_without_a_class_token_has_means(saved):
    folder, model, processor = saved["siglip"]
    with torch.no_grad():
        inputs = processor(images=IMAGES, return_tensors="pt")
        output = model.vision_model(**inputs, output_hidden_states=True)
    found = hf(folder, pool="mean").encode(batch(*IMAGES))
    np.testing.assert_allclose(found, output[0].mean(1).numpy(), atol=1e-5)
    with pytest.raises(InputError, match="this model has no class token: write pool=mean"):
        hf(folder, pool="cls").encode(batch(*IMAGES))


def test_a_pooler_that_is_not_in_the_checkpoint_is_never_used(saved, tmp_path):
    _, model, processor = saved["vit"]
    classifier = transformers.ViTForImageClassification(model.config)
    classifier.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    found = hf(tmp_path).encode(batch(*IMAGES))
    with torch.no_grad():
        hidden = classifier.eval().vit(**processor(images=IMAGES, return_tensors="pt")).last_hidden_state
    np.testing.assert_allclose(found, hidden[:, 0].numpy(), atol=1e-5)
    with pytest.raises(InputError, match="no weights of a pooled output"):
        hf(tmp_path, pool="pooler").encode(batch(*IMAGES))


def test_identity_follows_weights_and_options(saved, tmp_path):
    folder, model, processor = saved["vit"]
    model.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    same = {hf(f, batch=b, device="cpu").identity for f in (folder, tmp_path) for b in (1, 9)}
    assert len(same) == 1
    others = {
        hf(folder, pool="mean").identity,
        hf(folder, dtype="bfloat16").identity,
    }
    settings = json.loads((tmp_path / "preprocessor_config.json").read_text())
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings | {"image_mean": [0, 0, 0]}))
    others.add(hf(tmp_path).identity)
    assert len(others | same) == 4
    assert hf(folder).content == ("bytes",)


def test_identity_names_the_device_below_float32_only(saved):
    folder = saved["vit"][0]
    assert "device" not in hf(folder, device="cpu").identity
    assert hf(folder, device="cpu", dtype="float16").identity.endswith("&device=cpu")


def test_a_spec_names_it(saved):
    folder = saved["clip"][0]
    name, encoder = image_encoder(f"eye=hf:{folder}?batch=2&dtype=bfloat16&pool=cls")
    assert name == "eye" and isinstance(encoder, HuggingFaceImages)
    stated = hf(folder, batch=2, dtype="bfloat16", pool="cls")
    assert encoder.identity == stated.identity
    with pytest.raises(InputError, match="prompt is an option for texts"):
        image_encoder(f"hf:{folder}?prompt=x")


def test_half_precision_is_near(saved):
    folder = saved["dinov2"][0]
    whole, half = (hf(folder, dtype=name).encode(batch(*IMAGES)) for name in ("float32", "bfloat16"))
    assert half.dtype == np.float32
    assert 0 < np.abs(whole - half).max() < 0.2


def test_memory_that_runs_out_halves_the_batch(saved, monkeypatch):
    encoder = hf(saved["vit"][0], batch=4)
    expected = encoder.encode(batch(*IMAGES))
    run = encoder._run

    def cramped(images):
        if len(images) > 2:
            raise MemoryError
        return run(images)

    monkeypatch.setattr(encoder, "_run", cramped)
    with pytest.warns(DataWarning, match="write batch=2"):
        found = encoder.encode(batch(*IMAGES))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_images_of_several_shapes_go_through_apart(saved, tmp_path):
    _, model, _ = saved["resnet"]
    processor = transformers.BitImageProcessorPil(size={"shortest_edge": 32}, do_center_crop=False)
    model.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    found = hf(tmp_path).encode(batch(*IMAGES))
    expected = np.concatenate([directly(model, processor, [image]) for image in IMAGES])
    np.testing.assert_allclose(found, expected, atol=1e-5)
