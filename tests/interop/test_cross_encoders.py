"""`cross-encoder:` and `xlingual.reranker` score pairs as sentence-transformers does."""

import numpy as np
import pytest
from tests.checkpoints import TEXTS

library = pytest.importorskip("sentence_transformers")
torch = pytest.importorskip("torch")

import xlingual  # noqa: E402
from xlingual import InputError, Manifest, crosslingual_retrieval  # noqa: E402
from xlingual.encoders.cross_encoder import adapter_of, folder_of  # noqa: E402
from xlingual.records import Texts  # noqa: E402

OPTIONS = {"batch": 4, "device": "cpu", "dtype": "float32", "revision": None}
OPTIONS |= {"max_length": None, "remote-code": None}
N = len(TEXTS)


@pytest.fixture(scope="module")
def folder(checkpoints):
    return checkpoints("cross_encoder")


@pytest.fixture(scope="module")
def model(folder):
    return library.CrossEncoder(str(folder), device="cpu")


def pairs():
    texts = [*TEXTS, *TEXTS[::-1]]
    return Texts(texts, ["en"] * 2 * N, [str(i) for i in range(2 * N)], context=[*TEXTS, *TEXTS])


def theirs(model, batch):
    return model.predict(
        list(zip(batch.context, batch.text, strict=True)),
        activation_fn=torch.nn.Identity(),
        show_progress_bar=False,
    )


def test_scores_are_the_logits_of_the_library(folder, model):
    expected = theirs(model, pairs())
    assert np.ptp(expected) > 0
    for scorer in (folder_of(str(folder), OPTIONS, "cross-encoder:x"), adapter_of(model)):
        found = scorer.encode_noting(pairs())
        np.testing.assert_allclose(found.vectors[:, 0], expected, atol=1e-5)
        assert found.truncated.shape == (2 * N,)
        assert scorer.encode_noting(pairs().take(np.arange(0))).vectors.shape == (0, 1)
        assert scorer.has_own_identity
        assert not scorer.has_changed()


def test_pairs_are_cut_at_the_length_that_is_asked_for(folder):
    scorer = folder_of(str(folder), {**OPTIONS, "max_length": 8}, "cross-encoder:x")
    found = scorer.encode_noting(pairs())
    tokenizer = scorer.model.tokenizer
    batch = pairs()
    lengths = [
        len(tokenizer(q, c, truncation=False)["input_ids"])
        for q, c in zip(batch.context, batch.text, strict=True)
    ]
    assert found.truncated.tolist() == [length > 8 for length in lengths]
    assert any(found.truncated)
    assert not all(found.truncated)
    short = library.CrossEncoder(str(folder), device="cpu", max_length=8)
    np.testing.assert_allclose(found.vectors[:, 0], theirs(short, batch), atol=1e-5)
    plain = folder_of(str(folder), OPTIONS, "cross-encoder:x")
    assert "max_length=8" in scorer.identity != plain.identity
    with pytest.raises(InputError, match="max_length=100000 is more than the"):
        folder_of(str(folder), {**OPTIONS, "max_length": 100000}, "cross-encoder:x").encode(pairs())


def test_identities_change_with_weights(model, folder):
    one = adapter_of(model).identity
    assert one == adapter_of(library.CrossEncoder(str(folder), device="cpu")).identity
    other = library.CrossEncoder(str(folder), device="cpu")
    scorer = adapter_of(other)
    assert scorer.identity == one
    with torch.no_grad():
        next(iter(other.parameters())).add_(1)
    assert scorer.has_changed()
    assert adapter_of(other).identity != one


def test_what_is_no_cross_encoder_is_refused(checkpoints, tmp_path):
    found = folder_of(str(checkpoints("sentence_bert")), OPTIONS, "cross-encoder:x")
    with pytest.raises(InputError, match="would be random"):
        found.encode(pairs())
    three = tmp_path / "three"
    library.CrossEncoder(str(checkpoints("bert")), num_labels=3, device="cpu").save_pretrained(str(three))
    with pytest.raises(InputError, match="gives each pair 3 numbers, and re-ranking needs one score"):
        folder_of(str(three), OPTIONS, "cross-encoder:x").encode(pairs())
    with pytest.raises(InputError, match=r"is a sparse encoder"):
        folder_of(str(checkpoints("sparse_encoder")), OPTIONS, "cross-encoder:x")


@pytest.mark.filterwarnings("ignore:.*were cut:xlingual.errors.DataWarning")
def test_spec_and_object_rank_alike(folder, model):
    rng = np.random.default_rng(0)
    vectors = {tag: rng.normal(size=(N, 5)).astype(np.float32) for tag in ("en", "de")}
    manifest = Manifest.from_rows(
        [
            {"id": f"p{i}", "text_en": f"{t} {i}", "text_de": f"{t} number {i}"}
            for i, t in enumerate(TEXTS)
            if t.strip()
        ]
    )
    vectors = {tag: v[: len(manifest) // 2] for tag, v in vectors.items()}
    found = crosslingual_retrieval(
        manifest,
        {
            "v": vectors,
            "spec": f"cross-encoder:{folder}?first=4&device=cpu::v",
            "object": xlingual.reranker(model, "v", first=4),
        },
        measures=["R@1", "R@4"],
        store=None,
    )
    rows = found.per_query.to_pylist()
    own, other = ([r["value"] for r in rows if r["encoder"] == name] for name in ("spec", "object"))
    assert own == other
    whole = {name: [e.value for e in found.entries if e.encoder == name] for name in ("v", "spec")}
    assert whole["v"] != whole["spec"]  # the first change places
