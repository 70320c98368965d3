"""`xlingual casestudy mlmme` end to end on tiny built-in data: three tables, models used again, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.nbest.score import Scores
from xlingual.results import Results
from xlingual.results.mlmme_study import MlmmeStudy
from xlingual.workflows import mlmme_study_data

pytest.importorskip("torch")
SIZES = {"VALIDATED": 12, "RANKED": 20, "PAIRS": 24, "TUNED": 10, "MEASURED": 12}
TINY = ("--word-dim", "4", "--state-dim", "4", "--joint-dim", "4", "--contrastive", "4", "--epochs", "1")
SMALL = (*TINY, "--items", "100", "--beta", "1,0.5", "--trainings", "2")


@pytest.fixture
def study(xlingual: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the command, run in an empty folder, with built-in data of a few items."""
    for name, size in SIZES.items():
        monkeypatch.setattr(mlmme_study_data, name, size)
    monkeypatch.chdir(tmp_path)
    return lambda *more: xlingual("casestudy", "mlmme", *more)


def test_three_tables_and_models_that_are_used_again(
    study: Any, xlingual: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sacrebleu")
    outcome = study(*SMALL, "--out", "out", "--report")
    assert outcome.code == 0, outcome.err
    assert "8 of 8: epoch 1 of 1" in outcome.err and "epoch 1/1" not in outcome.err
    for words in ("English (en)", "Against VSE, by mean recall", "Textual similarity: Pearson", "Re-ranking"):
        assert words in outcome.out
    found = MlmmeStudy.read("out")
    assert [one.name for one in found.models] == ["VSE en", "VSE de", "MLMME β=1", "MLMME β=0.5"]
    assert found.n_trainings == 2 and found.n_trained_on == 100 and found.recipe == "paper"
    assert found.ranking is not None and found.ranking.n_images == SIZES["RANKED"]
    assert len(found.ranking.questions) == 8 and len(found.ranking.of_beta) == 4
    assert found.sts is not None and found.sts.rows[0].n_pairs == SIZES["PAIRS"]
    assert list(found.sts.rows[0].scores)[-3:] == ["word-overlap", "tfidf", "chargram"]
    assert found.reranking is not None and found.reranking.n_sentences == SIZES["MEASURED"]
    names = ["first translation", "VSE de", "MLMME β=1", "MLMME β=0.5"]
    assert [one.name for one in found.reranking.systems] == names
    assert found.reranking.features == {
        "VSE de": ["image"], "MLMME β=1": ["sentence", "image"], "MLMME β=0.5": ["sentence", "image"],
    }  # fmt: skip
    assert len(found.reranking.systems[0].scores) == 3  # BLEU, METEOR, TER
    assert len(Results.read("out/ranking").entries) and len(Results.read("out/sts").entries)

    import xlingual.workflows.mlmme_study_models as trained

    def none_is_trained(*_: Any, **__: Any) -> None:
        raise AssertionError("a model is trained twice")

    monkeypatch.setattr(trained, "train_mlmme", none_is_trained)
    again = study(*SMALL, "--out", "out", "--json")
    assert again.code == 0, again.err
    content = json.loads(again.out)
    assert content["ranking"] == json.loads(Path("out/mlmme_study.json").read_text())["ranking"]
    assert content["models"] == found.to_dict()["models"] and content["sts"] == found.to_dict()["sts"]
    assert content["reranking"] == found.to_dict()["reranking"]

    study(*SMALL, "--out", "out", "--margin", "0.3")

    chosen = [f"out/reranking/{name}.txt" for name in ("first-translation", "mlmme-1-0", "mlmme-1-1")]
    files = ("--references", "out/data/nbest-en-de/test.de", "--samples", "20", "--out", "s.json")
    assert xlingual("rerank", "score", *chosen[1:], "--baseline", chosen[0], *files).code == 0
    scored = Scores.read("s.json").mean["BLEU"].mean
    assert scored == pytest.approx(found.reranking.systems[2].scores["BLEU"].value)

    report = xlingual("report", "out", "--out", "again.html")
    assert report.code == 0, report.err


def test_data_of_a_user_and_an_interrupted_training(study: Any) -> None:
    from xlingual.demo_data.scenes import write_scenes

    write_scenes("m", n=150, languages=("en", "de"), size=16)
    pairs = [f"{i % 6},a red star {i},a blue star {i % 7}" for i in range(12)]
    Path("p.csv").write_text("score,sentence1,sentence2\n" + "\n".join(pairs), encoding="utf-8")
    one = (*TINY, "--standardize-images", "--trainings", "1", "--beta", "0.5", "--recipe", "mlmme")
    given = ("m", "--image-encoder", "pixels", *one, "--sts", "p.csv", "--out", "out", "--json")
    outcome = study(*given)
    assert outcome.code == 0, outcome.err
    content = json.loads(outcome.out)
    assert content["ranking"]["n_images"] == 75 and content["reranking"] is None
    assert content["n_trained_on"] == 67 and content["recipe"] == "mlmme"  # a tenth is held out
    assert content["request"]["command"] == "casestudy mlmme" and content["request"]["beta"] == [0.5]
    for path in ("config.json", "model.safetensors"):  # as if interrupted after the epoch
        Path("out/models/mlmme-0.5-0", path).unlink()
    study(*given, "--margin", "0.3")
    resumed = study(*given)
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["ranking"] == content["ranking"]


@pytest.fixture
def layout(study: Any) -> list[str]:
    """Return options of the layout of docs/papers/mlmme-multi30k.md: another file's rows are ranked."""
    rng = np.random.default_rng(0)
    for name, n in (("train", 80), ("val", 40)):
        rows = [
            {
                "id": f"{name}{i}",
                "text_en_1": f"a man {i}",
                "text_en_2": f"one {i}",
                "text_de_1": f"ein Mann {i}",
            }
            for i in range(n)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        np.save(f"vgg_{name}.npy", rng.standard_normal((n, 6)).astype(np.float32))
    np.save("small.npy", rng.standard_normal((40, 5)).astype(np.float32))
    options = []
    for name, rows in (("tune", "0:12"), ("test", "20:32")):
        start, end = map(int, rows.split(":"))
        lists = [
            f"{i} ||| ein {w} {i} ||| lm= {-k} ||| {-k}"
            for i in range(12)
            for k, w in enumerate(("Mann", "man"))
        ]
        Path(f"{name}.nbest").write_text("\n".join(lists) + "\n", encoding="utf-8")
        Path(f"{name}.de").write_text("".join(f"ein Mann {i}\n" for i in range(12)), encoding="utf-8")
        Path(f"{name}.en").write_text("".join(f"a man {i}\n" for i in range(12)), encoding="utf-8")
        options += [f"--{name}-nbest", f"{name}.nbest", f"--{name}-references", f"{name}.de"]
        options += [f"--{name}-source", f"{name}.en", f"--{name}-images", f"val.jsonl#{start}:{end}"]
    Path("short.en").write_text("a man\n" * 5, encoding="utf-8")
    Path("other.nbest").write_text(Path("test.nbest").read_text().replace("lm=", "tm="), encoding="utf-8")
    options += ["--tune-image-encoder", "vectors:vgg_val.npy"]
    options += ["--rerank-image-encoder", "vectors:vgg_val.npy"]
    return [
        "train.jsonl", "--image-encoder", "vectors:vgg_train.npy", "--validation", "val.jsonl#0:15",
        "--validation-image-encoder", "vectors:vgg_val.npy", "--test", "val.jsonl#15:40",
        "--test-image-encoder", "vectors:vgg_val.npy", *TINY, "--beta", "1", "--trainings", "1", *options,
        "--out", "out",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tune-source", "short.en"), "--tune-source short.en has 5 lines, tune.nbest 12 lists: give one"),
        (("--test-source", "short.en"), "--test-source short.en has 5 lines, test.nbest 12 lists: give one"),
        (("--test-references", "short.en"), "--test-references short.en has 5 lines, test.nbest 12 lists"),
        (("--tune-images", "val.jsonl#0:30"), "--tune-images: val.jsonl has 40 rows and 30 items"),
        (("--test-images", "none.jsonl"), "none.jsonl'"),
        (("--rerank-image-encoder", "vectors:vgg_train.npy"), "--test-images: vgg_train.npy has 80"),
        (("--rerank-image-encoder", "vectors:small.npy"), "--rerank-image-encoder gives images of 5 dimens"),
        (("--tune-image-encoder", "pixels"), "--tune-images: row 'val0' has no image"),
        (("--test-image-encoder", "vectors:vgg_train.npy"), "--test: vgg_train.npy has 80"),
        (("--target-language", "fr"), "--target-language is fr, and the models know en, de"),
        (("--source-language", "fr"), "--source-language is fr, and the models know en, de"),
        (("--own-features", "all", "--test-nbest", "other.nbest"), "other.nbest lacks lm"),
    ],
)
def test_inputs_of_later_tables_are_checked_before_any_training(
    study: Any, layout: list[str], options: tuple[str, ...], words: str
) -> None:
    pytest.importorskip("sacrebleu")
    given = list(layout)
    for name in options[::2]:
        if name in given:  # in the place of what is right
            del given[given.index(name) : given.index(name) + 2]
    outcome = study(*given, *options)
    assert outcome.code == 2 and words in outcome.err, outcome.err
    assert not Path("out/models").exists()


@pytest.mark.parametrize(
    ("tables", "names"),
    [
        ("sts", ["VSE en", "MLMME β=1", "MLMME β=0"]),
        ("reranking", ["VSE de", "MLMME β=1", "MLMME β=0"]),
        ("ranking", ["VSE en", "VSE de", "MLMME β=1"]),
    ],
)
def test_only_models_that_a_table_reads_are_trained(study: Any, tables: str, names: list[str]) -> None:
    pytest.importorskip("sacrebleu")
    given = (*TINY, "--items", "100", "--beta", "1,0", "--trainings", "1", "--out", "out", "--json")
    outcome = study(*given, "--tables", tables)
    assert outcome.code == 0, outcome.err
    assert [one["name"] for one in json.loads(outcome.out)["models"]] == names
    assert len(list(Path("out/models").iterdir())) == len(names)


def test_sentences_alone_of_built_in_data(study: Any) -> None:
    pytest.importorskip("sacrebleu")
    given = (*TINY, "--items", "100", "--beta", "0", "--trainings", "1", "--out", "out", "--json")
    outcome = study(*given)
    assert outcome.code == 0, outcome.err
    content = json.loads(outcome.out)
    assert content["ranking"] is None and content["image_encoder"] is None
    assert [one["name"] for one in content["reranking"]["systems"]] == ["first translation", "MLMME β=0"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--out is missing"),
        (("--out", "out", "--beta", "1,2"), "2 is not between 0 and 1"),
        (("--out", "out", "--beta", "1,1"), "give each weight once"),
        (("--out", "out", "--beta", "x"), "give numbers from 0 to 1"),
        (("--out", "out", "--tables", "rankings"), "Did you mean 'ranking'?"),
        (("--out", "out", "--languages", "en"), "give two or more"),
        (("--out", "out", "--languages", "en,xx"), "unknown language 'xx'"),
        (("--out", "out", "--sts-language", "fr"), "--sts-language is fr"),
        (("--out", "out", "--image-encoder", "pixels"), "--image-encoder is about MANIFEST"),
        (("--out", "out", "--validation", "0.5"), "--validation is about MANIFEST"),
        (("--out", "out", "--test", "val"), "--test is about MANIFEST"),
        (("--out", "out", "--text-column", "t_{lang}"), "--text-column is about MANIFEST"),
        (("--out", "out", "--target-language", "de"), "--target-language is about n-best lists"),
        (("--out", "out", "--tune-nbest", "x"), "--test-nbest belong together"),
        (("nowhere", "--out", "out"), "nowhere"),
        (("nowhere", "--out", "out", "--tunings", "3"), "--tunings is about n-best lists"),
        (("nowhere", "--out", "out", "--items", "200"), "--items is about built-in scenes"),
    ],
)
def test_bad_input_is_one_line(study: Any, options: tuple[str, ...], words: str) -> None:
    outcome = study(*options, *(("--items", "100") if "nowhere" not in options else ()))
    assert outcome.code == 2 and outcome.out == ""
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and words in errors[0], outcome.err
    assert "Traceback" not in outcome.err
    assert not Path("out/models").exists()
