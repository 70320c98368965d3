"""Search engines' runs in a study: the first results are what is suggested."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import InputError, Manifest
from xlingual.data.runs import SearchRun
from xlingual.study.folder import read_key, read_study
from xlingual.workflows.study import Layout, new_study

base = SimpleNamespace(**run_path(str(Path(__file__).parent / "test_new_study.py")))
LAYOUT = Layout(queries=10, per_system=4, seed=3)


@pytest.fixture(scope="module")
def manifest():
    return Manifest.of(base.rows())


def lists(manifest, encoder, depth=None):
    """Return {query: {candidate: score}}, of ids alone, by the cosines of an encoder."""
    rows = [manifest.rows_of(language) for language in ("en", "ru")]
    vectors = [encoder.encode(manifest.texts(own)).astype(np.float64) for own in rows]
    units = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors]
    ids = [[manifest.ids[row] for row in own] for own in rows]
    scores = np.round(units[0] @ units[1].T, 9)
    return {
        query: {ids[1][c]: float(row[c]) for c in np.argsort(-row)[:depth]}
        for query, row in zip(ids[0], scores, strict=True)
    }


def suggestions(manifest, folder, systems, layout=LAYOUT, **more):
    new_study(manifest, folder, source="en", target="ru", systems=systems, layout=layout, store=None, **more)
    study = read_study(folder)
    key = read_key(folder, study)
    text_of = {one.id: one.text for query in study.queries for one in query.suggestions}
    made = {
        (credit.system, text_of[own], credit.rank): credit.cosine
        for own, credits_ in key.credits.items()
        for credit in credits_
    }
    return study, key, made


class Same:
    """Vectors of a text by its id, whatever texts it comes with."""

    def __init__(self, noise):
        self.name, self.identity, self.noise = "same", f"same:{noise}", noise

    def encode(self, batch):
        rng = [np.random.default_rng([int(row[2:]), len(row), ord(row[0])]) for row in batch.ids]
        ideal = np.eye(base.ITEMS)[[int(row[2:]) for row in batch.ids]]
        return ideal + self.noise * np.stack([one.standard_normal(base.ITEMS) for one in rng])


def test_the_run_of_an_encoder_suggests_the_same(tmp_path, manifest):
    good, bad = Same(0.1), Same(0.5)
    run = SearchRun.of(lists(manifest, bad))
    _, _, encoded = suggestions(manifest, tmp_path / "one", {"good": good, "bad": bad})
    study, key, listed = suggestions(manifest, tmp_path / "two", {"good": good, "bad": run})
    assert listed.keys() == encoded.keys()
    assert all((cosine is None) == (system == "bad") for (system, _, _), cosine in listed.items())
    assert study.per_system == 4
    assert f"run:{run.digest[:16]}?depth=40" in str(key)


def test_a_file_and_backretrieval_of_the_queries(tmp_path, manifest):
    encoder = Same(0.5)
    lines = [
        f"{q} Q0 {c} 0 {score!r} t" for q, own in lists(manifest, encoder).items() for c, score in own.items()
    ]
    (tmp_path / "engine.trec").write_text("\n".join(lines), encoding="utf-8")
    systems = {"good": Same(0.1), "engine": f"run:{tmp_path / 'engine.trec'}", "same": encoder}
    with pytest.raises(InputError, match="the same"):  # nobody could tell them apart
        suggestions(manifest, tmp_path / "refused", systems)
    del systems["same"]
    _, key, made = suggestions(manifest, tmp_path / "study", systems, image_encoder="pixels")
    assert {system for system, _, _ in made} == {"good", "engine"}
    assert set(key.bkr) == {"good", "engine"}


def test_a_text_that_looks_like_another_stands_for_it(tmp_path):
    rows = base.rows()
    again = [{**row, "id": f"{row['id']}.2"} for row in rows if row["lang"] == "ru"]
    manifest = Manifest.of([*rows, *again])
    bad = lists(Manifest.of(rows), Same(0.5))
    run = {query: {f"{c}.2": score for c, score in own.items()} for query, own in bad.items()}
    first = {
        query: own | {c.removesuffix(".2"): score - 0.5 for c, score in own.items()}
        for query, own in run.items()
    }
    good = lists(Manifest.of(rows), Same(0.1))
    found = []
    for number, given in enumerate((run, first, bad)):
        systems = {"good": SearchRun.of(good), "again": SearchRun.of(given)}
        found.append(suggestions(manifest, tmp_path / str(number), systems)[2])
    assert found[0] == found[1] == found[2]


def test_own_texts_can_be_left_out(tmp_path, manifest):
    layout = Layout(queries=10, per_system=4, seed=3, exclude_own=True)
    systems = {
        "good": SearchRun.of(lists(manifest, Same(0.1))),
        "bad": SearchRun.of(lists(manifest, Same(0.5))),
    }
    study, _, _ = suggestions(manifest, tmp_path / "study", systems, layout)
    for query in study.queries:
        own = query.shown.text.split()[-1]
        assert own not in {one.text.split()[-1] for one in query.suggestions}
