"""`st:` on images: tiny CLIP models in the forms that sentence-transformers writes."""

import json
import shutil
from functools import partial
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

transformers = pytest.importorskip("transformers")
sentence_transformers = pytest.importorskip("sentence_transformers")

from xlingual.encoders import image_encoder  # noqa: E402
from xlingual.encoders.huggingface_images import HuggingFaceImages  # noqa: E402
from xlingual.encoders.sentence_transformer_images import SentenceTransformerImages  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.records import Images  # noqa: E402

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("image_models.py"))))
hf = partial(shared.encoder_of, HuggingFaceImages, "hf")
st = partial(shared.encoder_of, SentenceTransformerImages, "st")
IMAGES = [shared.noise(i) for i in range(5)]


def batch(*images):
    sources = [p if isinstance(p, bytes) else shared.encoded(p) for p in images]
    return Images(sources, ["en"] * len(sources), [f"p{i}" for i in range(len(sources))])


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    log = transformers.utils.logging
    level = log.get_verbosity()
    log.set_verbosity_error()
    log.disable_progress_bar()
    _, processor = shared.save(folder, "clip")
    words = {"<pad>": 0, "<|startoftext|>": 1, "<|endoftext|>": 2, "a</w>": 3, "a": 4}
    tokenizer = transformers.CLIPTokenizer(vocab=words, merges=[])
    transformers.CLIPProcessor(image_processor=processor, tokenizer=tokenizer).save_pretrained(folder)
    processor.save_pretrained(folder)  # older models have it in a file of its own
    yield folder
    log.set_verbosity(level)
    log.enable_progress_bar()


@pytest.fixture(scope="module")
def forms(clip, tmp_path_factory):
    """The same model: of transformers, as it is written today, and as CLIP models were once written."""
    today, once = tmp_path_factory.mktemp("today"), tmp_path_factory.mktemp("once")
    sentence_transformers.SentenceTransformer(str(clip), device="cpu").save(str(today))
    shutil.copytree(clip, once / "0_CLIPModel")
    kind = "sentence_transformers.models.CLIPModel"
    modules = [{"idx": 0, "name": "0", "path": "0_CLIPModel", "type": kind}]
    (once / "modules.json").write_text(json.dumps(modules))
    return {"bare": clip, "today": today, "once": once}


@pytest.mark.parametrize("form", ["bare", "today", "once"])
@pytest.mark.cases(1)
def test_vectors_are_those_of_the_library(forms, form):
    encoder = st(forms[form], batch=2, device="cpu")
    found = encoder.encode(batch(*IMAGES))
    model = sentence_transformers.SentenceTransformer(str(forms[form]), device="cpu")
    np.testing.assert_allclose(found, model.encode(IMAGES), atol=1e-5)
    np.testing.assert_allclose(found, hf(forms["bare"]).encode(batch(*IMAGES)), atol=1e-5)
    assert found.dtype == np.float32
    assert encoder.encode(batch()).shape == (0, found.shape[1])


def test_batches_and_order_change_no_vector(forms):
    alone = st(forms["today"], batch=1).encode(batch(*IMAGES))
    together = st(forms["today"]).encode(batch(*IMAGES[::-1], IMAGES[0]))
    np.testing.assert_allclose(alone, together[-2::-1], atol=1e-5)


def test_first_dimensions(forms):
    whole, cut = (st(forms["today"], dim=d) for d in (None, 5))
    np.testing.assert_allclose(cut.encode(batch(*IMAGES)), whole.encode(batch(*IMAGES))[:, :5], atol=1e-6)
    assert cut.identity != whole.identity and cut.content == ("bytes",)


def test_a_spec_names_it(forms):
    name, encoder = image_encoder(f"st:{forms['today']}?dim=5")
    assert name == Path(forms["today"]).name and isinstance(encoder, SentenceTransformerImages)
    assert encoder.identity == st(forms["today"], dim=5).identity
    assert encoder.encode(batch(*IMAGES)).shape == (5, 5)


def test_broken_pictures_are_named(forms):
    encoder = st(forms["bare"])
    with pytest.raises(InputError, match=r"row 'p1': the image is empty.*1 of 2 images"):
        encoder.encode(batch(IMAGES[0], b""))
