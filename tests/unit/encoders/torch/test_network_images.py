"""`st:` and `hf:` for images: tiny checkpoints, against direct calls of transformers and the library."""

import json
import shutil
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
library = pytest.importorskip("sentence_transformers")

from PIL import Image  # noqa: E402

from xlingual.encoders import image_encoder  # noqa: E402
from xlingual.encoders.runtime import loading  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.records import Images  # noqa: E402

shared = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "image_models.py")))
IMAGES = [shared.noise(i, (50 + 7 * i, 40)) for i in range(5)]
FAMILIES = ("resnet", "regnet", "convnext", "vit", "dinov2", "clip", "siglip")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with loading("test"):
        return {family: (folder / family, *shared.save(folder / family, family)) for family in FAMILIES}


@pytest.fixture(scope="module")
def clip(saved, tmp_path_factory):
    """The same CLIP bare, as sentence-transformers saves it today, and as it once did."""
    root = tmp_path_factory.mktemp("clip")
    bare, _, processor = saved["clip"]
    shutil.copytree(bare, root / "bare")
    words = {"<pad>": 0, "<|startoftext|>": 1, "<|endoftext|>": 2, "a</w>": 3, "a": 4}
    tokenizer = transformers.CLIPTokenizer(vocab=words, merges=[])
    with loading("test"):
        transformers.CLIPProcessor(image_processor=processor, tokenizer=tokenizer).save_pretrained(
            root / "bare"
        )
        processor.save_pretrained(root / "bare")
        library.SentenceTransformer(str(root / "bare"), device="cpu").save(str(root / "today"))
    shutil.copytree(root / "bare", root / "once" / "0_CLIPModel")
    modules = [
        {"idx": 0, "name": "0", "path": "0_CLIPModel", "type": "sentence_transformers.models.CLIPModel"}
    ]
    (root / "once" / "modules.json").write_text(json.dumps(modules))
    return root


def encoder(spec):
    return image_encoder(spec)[1]


def batch(*images):
    sources = [image if isinstance(image, bytes | Path | None) else shared.encoded(image) for image in images]
    return Images(sources, ["en"] * len(sources), [f"p{i}" for i in range(len(sources))])


def directly(model, processor, images, layer="pooler_output"):
    with torch.no_grad():
        inputs = processor(images=images, return_tensors="pt")
        if hasattr(model, "get_image_features"):
            return model.get_image_features(**inputs).pooler_output.numpy()
        return getattr(model(**inputs), layer).numpy()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.cases(3)
def test_vectors_of_hf_are_those_of_transformers(saved, family):
    folder, model, processor = saved[family]
    vectors = encoder(f"hf:{folder}?batch=2").encode(batch(*IMAGES))
    expected = directly(model, processor, IMAGES)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected.reshape(len(expected), -1), atol=1e-5)
    other = encoder(f"hf:{folder}").encode(batch(*IMAGES[::-1], IMAGES[0]))
    np.testing.assert_allclose(other[-2::-1], vectors, atol=1e-5)
    np.testing.assert_array_equal(other[-1], other[4])
    assert encoder(f"hf:{folder}").encode(batch()).shape == (0, vectors.shape[1])


@pytest.mark.parametrize("form", ["bare", "today", "once"])
@pytest.mark.cases(1)
def test_vectors_of_st_are_those_of_the_library(clip, form):
    vectors = encoder(f"st:{clip / form}?batch=2").encode(batch(*IMAGES))
    model = library.SentenceTransformer(str(clip / form), device="cpu")
    np.testing.assert_allclose(vectors, model.encode(IMAGES), atol=1e-5)
    np.testing.assert_allclose(vectors, encoder(f"hf:{clip / 'bare'}").encode(batch(*IMAGES)), atol=1e-5)
    cut = encoder(f"st:{clip / form}?dim=5")
    np.testing.assert_allclose(cut.encode(batch(*IMAGES)), vectors[:, :5], atol=1e-6)
    assert cut.identity != encoder(f"st:{clip / form}").identity
    loaded = encoder(model)
    np.testing.assert_allclose(loaded.encode(batch(*IMAGES)), vectors, atol=1e-5)


def test_a_classifier_gives_the_first_token(saved, tmp_path):
    _, model, processor = saved["vit"]
    classifier = transformers.ViTForImageClassification(model.config)  # without weights of a pooler
    classifier.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    first = directly(classifier.eval().vit, processor, IMAGES, "last_hidden_state")[:, 0]
    np.testing.assert_allclose(encoder(f"hf:{tmp_path}").encode(batch(*IMAGES)), first, atol=1e-5)


def test_images_and_options_that_cannot_be_used(saved, tmp_path):
    hf = encoder(f"hf:{saved['resnet'][0]}?batch=1")
    with pytest.raises(InputError, match=r"row 'p1'.*2 of 4 images .*1 text has no image"):
        hf.encode(batch(IMAGES[0], b"hello", IMAGES[1], tmp_path / "gone.png", None))
    with pytest.raises(InputError, match="3 × 900 pixels"):
        hf.encode(batch(Image.new("RGB", (3, 900))))
    for options, name in (("prompt=x", "prompt"), ("pool=mean", "pool"), ("dim=3", "dim")):
        with pytest.raises(InputError, match=name):
            encoder(f"hf:{saved['clip'][0]}?{options}")


def test_identities_follow_files_and_options(saved, tmp_path):
    folder = saved["vit"][0]
    shutil.copytree(folder, tmp_path / "copy")
    same = {encoder(f"hf:{path}?batch={n}").identity for path in (folder, tmp_path / "copy") for n in (1, 9)}
    settings = json.loads((tmp_path / "copy/preprocessor_config.json").read_text())
    (tmp_path / "copy/preprocessor_config.json").write_text(json.dumps(settings | {"image_mean": [0, 0, 0]}))
    other = {encoder(f"hf:{folder}?{option}").identity for option in ("dtype=float16", "dtype=bfloat16")}
    assert len(same) == 1
    assert len(same | other | {encoder(f"hf:{tmp_path / 'copy'}").identity}) == 4
