"""The study of MLMME on tiny data: three tables, models that are used again, other data, and bad input."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sacrebleu")

from scipy.stats import pearsonr

from xlingual.cli.main import run
from xlingual.demo_data.scenes import write_scenes
from xlingual.papers import mlmme_tables
from xlingual.papers.findings import StudyFindings
from xlingual.results import Results

SIZES = {"validation": 12, "test": 20, "pairs": 24, "tune lists": 10, "test lists": 12}
TINY = ("--word-dim", "4", "--state-dim", "4", "--joint-dim", "4", "--contrastive", "4", "--epochs", "1")
BUILT_IN = (*TINY, "--items", "100", "--beta", "1,0.5", "--trainings", "2", "--threads", "1")


@pytest.fixture
def study(tmp_path, monkeypatch, capsys):
    """Return the command, run in an empty folder with built-in data of a few items: code, output, errors."""
    monkeypatch.setattr(mlmme_tables, "SIZES", SIZES)
    monkeypatch.chdir(tmp_path)

    def call(*words):
        capsys.readouterr()
        code = run(["papers", "mlmme", *words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_three_tables_of_built_in_data_and_models_that_are_used_again(study, monkeypatch):
    code, out, err = study(*BUILT_IN, "--out", "out", "--report")
    assert code == 0, err
    found = StudyFindings.read("out")
    assert found.models[:4] == ["VSE en", "VSE de", "MLMME β=1", "MLMME β=0.5"]
    tables = ["Table 1 en → image", "Table 1 image → en", "Table 1 de → image", "Table 1 image → de"]
    assert [table.name for table in found.tables] == [*tables, "Table 2", "Table 3"]
    assert {row.measure for row in found.of_table(tables[0])} == {"R@1", "R@5", "R@10", "mean recall", "MedR"}
    ranked = Results.read("out/ranking").entries
    for row in found.of_table(tables[1])[:3]:  # as the evaluation has them, in per cent
        (entry,) = [
            one
            for one in ranked
            if (one.encoder, one.source, one.target) == ("mlmme-1-0", "image", "en")
            and one.measure == row.measure.replace("R@", "Success@")
        ]
        assert row.scores["MLMME β=1"].per_run[0] == pytest.approx(100 * entry.value)
    pairs = Results.read("out/sts").tables["pairs"].to_pandas()
    (row,) = found.of_table("Table 2")
    assert list(row.scores) == ["VSE en", "MLMME β=1", "MLMME β=0.5", "word-overlap", "tfidf", "chargram"]
    for name, labels in {"MLMME β=1": ["mlmme-1-0", "mlmme-1-1"], "tfidf": ["tfidf"]}.items():
        parts = [pairs[pairs.encoder == label] for label in labels]
        expected = [pearsonr(part.cosine, part.score).statistic for part in parts]
        assert row.scores[name].per_run == pytest.approx(expected)
    bleu, meteor, ter = found.of_table("Table 3")
    assert (bleu.measure, meteor.measure, ter.measure) == ("BLEU", "METEOR (exact + stem)", "TER")
    assert set(bleu.scores) == {"first translation", "VSE de", "MLMME β=1", "MLMME β=0.5"}
    chosen = [f"out/reranking/{name}.txt" for name in ("mlmme-1-0", "mlmme-1-1")]
    references = ("--references", "out/data/nbest-en-de/test.de", "--samples", "20", "--out", "s.json")
    assert run(["rerank", "score", *chosen, *references, "--quiet"]) == 0
    scores = [
        system["scores"]["BLEU"]["value"] for system in json.loads(Path("s.json").read_text())["systems"]
    ]
    assert bleu.scores["MLMME β=1"].per_run == pytest.approx(scores)
    families = {one.family for one in found.differences}
    assert len(families) == 5 and len(found.differences) == 8 + 12 + 4 + 5 + 9

    import xlingual.workflows.train_mlmme as training

    def none_is_trained(*_, **__):
        raise AssertionError("a model is trained twice")

    monkeypatch.setattr(training, "train_mlmme", none_is_trained)
    code, out, err = study(*BUILT_IN, "--out", "out", "--json")
    assert code == 0, err
    again = json.loads(out)
    assert again["rows"] == found.to_dict()["rows"] and again["differences"] == found.to_dict()["differences"]
    code, _, err = study(*BUILT_IN, "--out", "out", "--margin", "0.3")
    assert code == 2 and "margin was 0.2" in err


def test_data_of_a_user(study):
    write_scenes("m", n=150, languages=("en", "de"), size=16)
    pairs = [f"{i % 6},a red star {i},a blue star {i % 7}" for i in range(12)]
    Path("p.csv").write_text("score,sentence1,sentence2\n" + "\n".join(pairs), encoding="utf-8")
    folder = Path("lists")
    folder.mkdir()
    for name in ("tune", "test"):
        lines = [f"{i} ||| ein {w} {i} ||| lm= {-k} ||| {-k}" for i in range(8) for k, w in enumerate("ab")]
        (folder / f"{name}.nbest").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / f"{name}.de").write_text("".join(f"ein b {i}\n" for i in range(8)), encoding="utf-8")
        (folder / f"{name}.en").write_text("".join(f"a b {i}\n" for i in range(8)), encoding="utf-8")
    options = (
        *TINY,
        "--trainings",
        "1",
        "--beta",
        "0",
        "--recipe",
        "mlmme",
        "--sts",
        "p.csv",
        "--out",
        "out",
    )
    given = ("m", "--image-encoder", "pixels", "--lists", "lists", *options, "--json")
    code, out, err = study(*given)
    assert code == 0, err
    content = json.loads(out)
    assert content["facts"]["items to train on"] == 67  # a tenth is held out
    scores = {(row["table"], row["measure"]): row["scores"] for row in content["rows"]}
    assert set(scores["Table 1 en → image", "R@1"]) == {"VSE en"}  # no images with β = 0
    assert set(scores["Table 3", "BLEU"]) == {"first translation", "MLMME β=0"}  # no images of the lists
    overlap = scores["Table 2", "p"]["word-overlap"]
    assert overlap["ci"]["low"] < overlap["value"] < 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--beta", "1,2"), "from 0 to 1"),
        (("--beta", "1,1"), "give each weight once"),
        (("--beta", "x"), "give numbers from 0 to 1"),
        (("--languages", "en"), "give two or more"),
        (("--languages", "en,xx"), "xx"),
        (("--image-encoder", "pixels"), "--image-encoder needs MANIFEST"),
        (("--validation", "0.5"), "--validation needs MANIFEST"),
        (("--lists", "x"), "--lists needs MANIFEST"),
        (("nowhere",), "--image-encoder is missing"),
        (("nowhere", "--image-encoder", "pixels"), "nowhere"),
        (("nowhere", "--items", "200"), "--items is the size of built-in data"),
        (("m", "--image-encoder", "pixels", "--test", "train"), "are in the data to train on and in --test"),
        (("m", "--image-encoder", "pixels", "--lists", "empty"), "tune.nbest"),
        (("m", "--image-encoder", "pixels", "--sts", "none.csv"), "none.csv"),
        (("m", "--image-encoder", "pixels", "--validation", "2"), "a share is between 0 and 1"),
    ],
)
def test_bad_input_is_one_line_before_any_training(study, words, message):
    write_scenes("m", n=20, languages=("en", "de"), size=16)
    code, out, err = study(*words, *TINY, "--out", "out")
    assert (code, out) == (2, "") and message in err, err
    assert err.count("error: ") == 1 and "Traceback" not in err and not Path("out/models").exists()


def test_jackknife_values_have_the_errors_of_a_corpus_score():
    from sacrebleu.metrics import BLEU

    from xlingual.nbest.score import jackknife

    random = np.random.default_rng(0)
    words = np.array(list("abcdefgh"))
    references = [" ".join(random.choice(words, 9)) for _ in range(40)]
    texts = [" ".join(w if random.random() < 0.8 else "x" for w in line.split()) for line in references]
    metric = BLEU(tokenize="none", force=True, references=[references])
    values = jackknife(metric, texts)
    assert values.mean() == pytest.approx(BLEU(tokenize="none").corpus_score(texts, [references]).score)
    drawn = [random.integers(0, 40, 40) for _ in range(400)]
    again = [
        BLEU(tokenize="none").corpus_score([texts[i] for i in rows], [[references[i] for i in rows]]).score
        for rows in drawn
    ]
    assert values.std(ddof=1) / np.sqrt(40) == pytest.approx(np.std(again), rel=0.2)
