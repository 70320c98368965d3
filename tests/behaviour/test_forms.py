"""Sparse and token vectors, objects from Python, and the recomputation of results."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests import program
from tests.behaviour.planted import evaluate, manifest, noisy, numbers
from tests.program import command

import xlingual

N = 30
WAYS = (("de", "en"), ("en", "de"))


class Table:
    """An encoder of vectors by text; `form` makes dense, sparse or token vectors of the rows."""

    def __init__(self, rows, form=np.asarray):
        self.rows, self.form = rows, form

    def encode(self, texts):
        """Return the vectors of texts, whose last word is the item's number."""
        return self.form([self.rows[int(text.split()[-1])] for text in texts])


def of_form(form):
    eye = np.eye(N, dtype=np.float32)
    if form == "sparse":
        return Table(eye, lambda rows: csr_array(np.stack(rows)))
    if form == "tokens":  # a shared token, and one of the item
        rows = [np.stack([eye[i], np.ones(N, np.float32) / N]) for i in range(N)]
        return Table(rows, xlingual.TokenVectors.of)
    return Table(eye, lambda rows: np.stack(rows))


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return manifest(tmp_path_factory.mktemp("forms"), N)


@pytest.mark.parametrize("form", ["dense", "sparse", "tokens"])
def test_every_form_finds_its_matches(shop, form):
    found = program.evaluate("crosslingual-retrieval", shop, {form: of_form(form)}, measures=["R@1", "RR"])
    for source, target in WAYS:
        for measure in ("R@1", "RR"):
            key = {"encoder": form, "source": source, "target": target, "measure": measure, "seed": "0"}
            assert found.value(**key) == 1


def test_lexical_encoders_find_shared_words_and_nothing_else(tmp_path):
    """Names are the same in both languages, all other words differ."""
    data = manifest(tmp_path, N, text=lambda i: f"name{i * 37}x other")
    for spec in ("bm25", "wordgram", "chargram"):
        assert set(numbers(evaluate("xlr", data, [spec], measure="R@1"), "R@1").values()) == {1.0}
    apart = manifest(tmp_path / "apart", N)
    rows = [json.loads(line) for line in apart.read_text().splitlines()]
    mine = [row | {"text": f"{row['lang']}w{row['item'][5:]}"} for row in rows]
    apart.write_text("".join(json.dumps(row) + "\n" for row in mine))
    found = evaluate("xlr", apart, ["bm25"], measure="R@5")  # no shared word: chance
    assert list(numbers(found, "R@5").values()) == pytest.approx([5 / N] * 2)


def test_vectors_of_a_function_and_of_files_are_one(tmp_path):
    data = manifest(tmp_path, N)
    spec = noisy(tmp_path, "files", N, 1.5)
    sides = {tag: np.load(tmp_path / f"files.{tag}.npy") for tag in ("de", "en")}

    def encode(texts):
        return np.stack([sides[text[:2]][int(text.split()[-1])] for text in texts])

    measures = ["R@1", "RR", "MedR"]
    by_function = program.evaluate("crosslingual-retrieval", data, {"x": encode}, measures=measures)
    by_files = evaluate("xlr", data, [spec], measure=measures)
    for measure in measures:
        for (_, source, target), value in numbers(by_files, measure).items():
            key = {"encoder": "x", "source": source, "target": target, "measure": measure, "seed": "0"}
            assert by_function.value(**key) == value


def test_results_are_computed_again_to_the_last_digit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = manifest(tmp_path, N)
    noisy(tmp_path, "x", N, 1.5)
    assert command("evaluate", "xlr", data.name, "--text-encoder", "x.{lang}.npy", "--out", "out").code == 0
    assert command("verify", "out").code == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    results["results"][0]["value"] += 0.01
    (tmp_path / "out" / "results.json").write_text(json.dumps(results))
    assert command("verify", "out").code == 1
    noisy(tmp_path, "x", N, 1.0, seed=5)
    assert command("verify", "out").code in (1, 3)


def test_three_languages_have_six_directions(tmp_path):
    tags = ("de", "en", "fi")
    data = manifest(tmp_path, N, tags)
    found = evaluate("xlr", data, [noisy(tmp_path, "x", N, 1.0, tags=tags)], measure="R@1")
    assert len(numbers(found, "R@1")) == 6
    (mean,) = [row for row in found["summary"] if row["source"] is None]
    assert mean["value"] == pytest.approx(np.mean(list(numbers(found, "R@1").values())))
    one = evaluate("xlr", data, [f"x=vectors:{tmp_path}/x.{{lang}}.npy"], measure="R@1", pairs="de-fi")
    assert numbers(one, "R@1")["x", "de", "fi"] == numbers(found, "R@1")["x", "de", "fi"]


def test_queries_are_a_sample_of_all(tmp_path):
    """`--queries` keeps all candidates: the values of the queries drawn are those of the whole."""
    data, spec = manifest(tmp_path, N), noisy(tmp_path, "x", N, 1.5)
    whole, few = tmp_path / "whole", tmp_path / "few"
    evaluate("xlr", data, [spec], measure="RR", out=whole)
    evaluate("xlr", data, [spec], measure="RR", out=few, queries=7)
    tables = [program.read_results(folder).tables["per_query"].to_pylist() for folder in (whole, few)]
    values = [{(row["source"], row["query"]): row["value"] for row in table} for table in tables]
    assert len(values[1]) == 14 and values[1].items() <= values[0].items()
