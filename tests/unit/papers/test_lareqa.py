"""The study of LAReQA's regimes, against the evaluation of multilingual pools."""

import json

import pytest

pytest.importorskip("torch")

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError
from xlingual.evaluation.multilingual_pool import multilingual_pool
from xlingual.papers.findings import StudyFindings
from xlingual.papers.lareqa import LareqaRequest as Request
from xlingual.papers.lareqa import built_in_pool, parts, presets, run_study
from xlingual.papers.study import Context
from xlingual.requests import made

WORDS = ("cat", "dog", "sun", "sea", "ship", "tree", "king", "bread", "snow", "fire")
SMALL = {"batch": 16, "dim": 8, "buckets": 128, "epochs": 2, "threads": 1, "device": "cpu", "trainings": 2}


def request(pool, out, **more):
    return made(
        Request, {"pool": pool, "out": out, "regimes": ["x-y", "x-x-mono"], "train": 0.4, **SMALL, **more}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a pool of 40 questions in two languages, two a paragraph."""
    root = tmp_path_factory.mktemp("pool")
    questions, candidates = [], []
    for tag in ("en", "de"):
        for i in range(40):
            place = {"id": str(i), "lang": tag, "cluster": i // 2}
            name = f"{WORDS[i % 10]} {i // 10}"
            questions.append({**place, "text": f"{tag} where is {name}", "key": str(i)})
            candidates.append({**place, "text": f"{tag} here {name}", "keys": [str(i)]})
    for name, rows in (("questions", questions), ("candidates", candidates)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (root / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def done(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    return out, run_study(request(folder, out), Context(store=None))


def test_the_pool_is_divided_by_whole_paragraphs_or_by_its_own_splits(folder, tmp_path):
    train, test = parts(request(folder, tmp_path), tmp_path)
    assert len(train) == 16 and len(test.questions) == 48
    assert not set(train.ids) & set(test.questions.ids)
    again, same = parts(request(tmp_path / "pool", tmp_path), tmp_path)
    assert again.digest() == train.digest() and same.digest == test.digest
    other, whole = parts(request(folder, tmp_path, train_data=tmp_path / "pool"), tmp_path)
    assert len(other) == 40 and len(whole.questions) == 80
    with pytest.raises(InputError, match="POOL is missing"):
        parts(request(None, tmp_path, train_data=folder), tmp_path)


def test_values_are_those_of_the_evaluation_of_the_pool(done):
    out, study = done
    assert StudyFindings.read(out) == study and study.models == ["x-y", "x-x-mono", "untrained"]
    specs = {one.encoder: f"model:{out / 'models' / one.encoder}" for one in study.trainings}
    test = MultilingualPool.read(out / "pool", split="test")
    results = multilingual_pool(test, text_encoders=specs, store=None)
    whole = {row.encoder: row for row in results.summary if row.source is None and row.measure == "AP"}
    for name in study.models:
        score = study.score("Table 2", "mAP", name)
        assert score.per_run == pytest.approx([whole[f"{name}-{seed}"].value for seed in (0, 1)])
        assert score.value == pytest.approx(sum(score.per_run) / 2)
    one = study.score("Table 4", "mAP", "x-y")
    by_language = [study.score("Table 4", tag, "x-y").value for tag in ("en", "de")]
    assert one.value == pytest.approx(sum(by_language) / 2)  # equally many questions
    assert all(one.value >= study.score("Table 2", "own language", name).value for name in ["x-y"])


def test_every_regime_has_equally_many_steps_and_untrained_models_none(done):
    out, study = done
    epochs = {one.model: one.epochs for one in study.trainings}
    assert epochs == {"x-y": 2, "x-x-mono": 2, "untrained": 0}
    recipes = [json.loads(path.read_text()) for path in sorted((out / "models").glob("*-0.json"))]
    assert {(one["steps"], one["patience"]) for one in recipes} == {(2, None)}  # one pass of x-y: 32 pairs
    assert not any((out / "models").glob("*/checkpoint"))


def test_a_regime_is_added_and_nothing_else_trained(done, folder):
    out, study = done
    before = {path: path.stat().st_mtime_ns for path in (out / "models").glob("*/config.json")}
    more = run_study(request(folder, out, regimes=["x-y", "x-x-mono", "x-x"]), Context(store=None))
    assert {path: path.stat().st_mtime_ns for path in before} == before and "x-x" in more.models
    assert more.score("Table 2", "mAP", "x-y").per_run == study.score("Table 2", "mAP", "x-y").per_run
    with pytest.raises(InputError, match="dim was 8 and is 4"):
        run_study(request(folder, out, dim=4), Context(store=None))
    with pytest.raises(InputError, match="once"):
        run_study(request(folder, out, regimes=["x-y", "x-y"]), Context(store=None))


def test_a_frozen_base_stays_below_the_model(folder, tmp_path):
    frozen = {"regimes": ["x-y"], "trainings": 1}
    study = run_study(request(folder, tmp_path, base="random:?dim=16", **frozen), Context(store=None))
    assert study.score("Table 2", "mAP", "x-y").value > 0
    with pytest.raises(InputError, match="base was"):
        run_study(request(folder, tmp_path, base="random:?dim=8", **frozen), Context(store=None))


def test_built_in_data(tmp_path):
    pool = built_in_pool(tmp_path / "pool", n=40, languages=("en", "de"))
    train, test = parts(request(pool, tmp_path), tmp_path)
    assert len(train) == 20 and len(test.questions) == 40
    assert presets({})["dim"] == 64 and presets({"pool": pool}) == {}
    assert presets({"pool": pool, "base": "hf:x", "epochs": 1})["warmup"] == 0.5
