"""Training dual encoders from end to end: a model folder comes out, and it is an encoder."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.sides import embed_pool
from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool
from xlingual.records import Texts
from xlingual.training.options import FitOptions
from xlingual.training.parallel import of_pool
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.workflows.train_dual_encoder import HeldOut, fit_options, train_dual_encoder

SMALL = {"batch": 16, "dim": 16, "buckets": 256, "dropout": 0.2}
FIT = FitOptions(epochs=3, rate=1e-2, threads=1, device="cpu", patience=None)
NOUNS = {
    "en": ["cat", "dog", "sun", "sea", "ship", "tree", "king", "bread", "snow", "fire"],
    "de": ["Katze", "Hund", "Sonne", "Meer", "Schiff", "Baum", "König", "Brot", "Schnee", "Feuer"],
}
ASKED = {"en": "Where is the {} number {}?", "de": "Wo ist {} Nummer {}?"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a pool: 30 questions in two languages, ten paragraphs, some texts that answer nothing."""
    root = tmp_path_factory.mktemp("pool")
    questions, candidates = [], []
    for tag, nouns in NOUNS.items():
        for i in range(30):
            place = {"id": str(i), "lang": tag, "cluster": i % 10}
            text = ASKED[tag].format(nouns[i % 10], i // 10)
            questions.append({**place, "text": text, "key": f"k{i}"})
            body = {"text": f"{nouns[i % 10]} {i // 10} {tag}", "context": f"{nouns[i % 10]} …"}
            candidates.append({**place, **body, "keys": [f"k{i}"]})
            candidates.append({**place, "id": f"{i}b", "text": f"nothing {i}", "context": "", "keys": []})
    for name, rows in (("questions", questions), ("candidates", candidates)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (root / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    return train_dual_encoder(folder, tmp_path_factory.mktemp("model"), DualOptions(**SMALL), fit=FIT)


def test_the_model_folder_says_what_it_is(trained):
    config = trained.folder.config
    assert (trained.questions, trained.held_out) == (27, 3)
    assert config["kind"] == "dual-encoder" and config["base"] is None
    assert config["training"]["regime"] == "x-y" and config["training"]["from"] == "words"
    assert config["training"]["scores"] == trained.scores and set(trained.scores) == {"pool", "own-language"}
    assert config["data"]["languages"] == ["en", "de"] and config["data"]["answers"] == 54


def test_it_is_an_encoder_whose_validation_can_be_found_again(trained, folder):
    pool = MultilingualPool.read(folder)
    held = HeldOut(of_pool(MultilingualPool.read(folder)).divided(0.1, 0)[1])
    (encoder,) = text_encoders(f"model:{trained.folder.path}", languages=["en", "de"]).values()
    found = embed_pool(pool, "m", encoder)
    scores = held.average_precision(found.questions[held.questions], found.candidates[held.candidates])
    assert scores == (trained.scores["pool"], trained.scores["own-language"])
    assert encoder.content == ("text", "language")


def test_the_validation_is_the_evaluation_of_that_pool(folder, tmp_path):
    """All questions held out: the same mAP as `evaluate multilingual-pool`, whole and monolingual."""
    draws = np.random.default_rng(0)
    pool = MultilingualPool.read(folder)
    held = HeldOut(of_pool(MultilingualPool.read(folder)))
    sides = {
        role: draws.standard_normal((n, 4)).astype(np.float32)
        for role, n in (("query", 60), ("candidate", 120))
    }
    sides["candidate"][5] = sides["candidate"][7]  # a tie
    for role, vectors in sides.items():
        np.save(tmp_path / f"v.{'questions' if role == 'query' else 'candidates'}.npy", vectors)
    results = multilingual_pool(pool, text_encoders=f"v={tmp_path}/v.{{role}}.npy")
    whole, own = held.average_precision(sides["query"][held.questions], sides["candidate"][held.candidates])
    (entry,) = results.entries
    assert whole == pytest.approx(entry.value)
    assert own == pytest.approx(entry.views.monolingual_pool_average)


def test_resumed_it_is_the_same_model(folder, tmp_path, trained):
    options = DualOptions(**SMALL)
    train_dual_encoder(folder, tmp_path / "m", options, fit=FIT.changed(epochs=1))
    (tmp_path / "m" / "config.json").unlink()
    again = train_dual_encoder(folder, tmp_path / "m", options, fit=FIT, resume=True)
    assert again.folder.digest == trained.folder.digest
    with pytest.raises(InputError, match="regime"):
        train_dual_encoder(folder, tmp_path / "m", DualOptions(**SMALL, regime="x-x"), fit=FIT, resume=True)
    with pytest.raises(InputError, match="already has a model"):
        train_dual_encoder(folder, tmp_path / "m", options, fit=FIT)


def test_without_validation_the_last_epoch_counts(folder, tmp_path):
    found = train_dual_encoder(folder, tmp_path / "m", DualOptions(**SMALL), fit=FIT, validation=None)
    assert (found.best_epoch, found.scores, found.questions, found.held_out) == (3, {}, 30, 0)
    with pytest.raises(InputError, match="share between 0 and 1"):
        train_dual_encoder(folder, tmp_path / "n", DualOptions(**SMALL), fit=FIT, validation=1.0)


def texts(**more):
    return Texts(["cat 0 en", "?"], ["en", "en"], ["a", "b"], **more)


def test_roles_and_contexts_count_only_where_the_model_has_them(folder, tmp_path):
    options = DualOptions(**SMALL, separate=True, context=True)
    path = train_dual_encoder(folder, tmp_path / "m", options, fit=FIT).folder.path
    (encoder,) = text_encoders(f"model:{path}", languages=["en"]).values()
    assert encoder.content == ("text", "language", "role", "context")
    plain, query = encoder.encode(texts()), encoder.encode(texts(role="query", context=["dog", ""]))
    candidate = encoder.encode(texts(role="candidate"))
    around = encoder.encode(texts(role="candidate", context=["dog …", ""]))
    assert np.array_equal(plain, query) and not np.array_equal(plain, candidate)
    assert not np.array_equal(candidate[0], around[0])
    assert not plain[1].any() and np.linalg.norm(plain[0]) == pytest.approx(1)


def test_a_frozen_base(folder, tmp_path):
    out = tmp_path / "m"
    base = f"chargram:?dim=32&fit={folder}"
    trained = train_dual_encoder(folder, out, DualOptions(batch=16), base=base, fit=FIT, store=None)
    config = trained.folder.config
    assert (
        config["base"]["dim"] == 32 and config["base"]["name"] == "chargram" and not (out / "work").exists()
    )
    batch = texts(role="candidate")

    def encoder(below):
        from xlingual.embed.sides import load_fit_texts

        return next(
            iter(text_encoders(f"model:{out}{below}", languages=["en"], fit_texts=load_fit_texts).values())
        )

    found = encoder(f"::{base}").encode(batch)
    assert found.shape == (2, 32) and np.linalg.norm(found, axis=1)[0] == pytest.approx(1)
    with pytest.raises(InputError, match="is below it"):
        encoder("")
    with pytest.raises(InputError, match="is below it"):
        encoder("::random:?dim=32")
    with pytest.raises(InputError, match="takes vectors of 32 dimensions, and the encoder below it gives 8"):
        encoder("?base=trusted::random:?dim=8").encode(batch)


def test_what_a_base_sets_of_the_fit_loop():
    assert fit_options("words").rate == 1e-3 and fit_options("words", rate=1.0).rate == 1.0
    further = fit_options("hf:x")
    assert (further.rate, further.optimizer, further.schedule) == (1e-5, "adamw", "linear")
    assert (further.warmup, fit_options("hf:x", epochs=1).warmup) == (1.0, 0.5)
    assert fit_options("hf:x", frozen=True).rate == fit_options("random").rate == 1e-3
