"""Runs of engines in image–sentence ranking: equal to the encoders whose rankings they hold."""

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import DataWarning, InputError, image_sentence
from xlingual.data.runs import SearchRun
from xlingual.evaluation.failures import failures_table
from xlingual.report import verdict

data = SimpleNamespace(**run_path(str(Path(__file__).parent / "data.py")))
N = 30
MEASURES = ("Success@1", "Success@5", "Success@10", "RR", "MedR/floor")


@pytest.fixture(scope="module")
def manifest():
    return data.manifest(N, {"en": 2, "de": 1})


@pytest.fixture(scope="module")
def encoders():
    vectors = data.images(N)
    return data.Captions("vse", vectors, 1.0), data.Images(vectors)


@pytest.fixture(scope="module")
def encoded(manifest, encoders):
    text, image = encoders
    return image_sentence(manifest, {"vse": text}, image_encoders=image, measures=MEASURES, store=None)


def lists(manifest, encoders, depth=None, ways=("en-image", "de-image", "image-en", "image-de"), name=None):
    """Return {query: {candidate: score}} of both directions, images by the first row that shows them."""
    text, image = encoders
    texts = manifest.texts(np.arange(len(manifest)))
    name = name or (lambda tag, own: f"{tag}:{own}")
    units = []
    for vectors in (text.encode(texts), image.images):
        vectors = vectors.astype(np.float64)
        units.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    scores = np.round(units[0] @ units[1].T, 9)
    sentences = [name(tag, own) for tag, own in zip(texts.language, texts.ids, strict=True)]
    images = [name("image", f"en:en{i}.0") for i in range(N)]
    found = {}
    for way in ways:
        tag = way.replace("image", "").strip("-")
        rows = [row for row, language in enumerate(texts.language) if language == tag]
        queries, candidates, table = [sentences[row] for row in rows], images, scores[rows]
        if way.startswith("image"):
            queries, candidates, table = images, queries, table.T
        for query, row in zip(queries, table, strict=True):
            best = np.argsort(-row)[:depth]
            found.setdefault(query, {}).update({candidates[c]: float(row[c]) for c in best})
    return found


def values(results, system):
    return [
        (e.measure, e.source, e.target, e.value, e.ci, e.n_tied, e.chance)
        for e in results.entries
        if e.encoder == system
    ]


def sums(results, system):
    rows = [one for one in results.summary if one.encoder == system]
    return [(one.measure, one.source, one.target, one.value, one.ci) for one in rows]


def test_the_run_of_encoders_has_their_numbers(tmp_path, manifest, encoders, encoded):
    """One file for each direction, as TREC files are written: image queries have other lists by language."""
    text, image = encoders
    image_sentence(manifest, {"vse": text}, image_encoders=image, store=None, trec=tmp_path, trec_depth=None)
    found = image_sentence(
        manifest,
        {"vse": text, "engine": f"run:{tmp_path}/{{source}}-{{target}}/vse.run"},
        image_encoders=image,
        measures=MEASURES,
        store=None,
        baselines="vse",
    )
    assert values(found, "engine") == values(found, "vse") == values(encoded, "vse")
    assert sums(found, "engine") == sums(found, "vse")
    against = [e.views.against.value for e in found.entries if e.encoder == "engine"]
    assert against == [0.0] * len(against)
    runs = {"vse": f"run:{tmp_path}/{{source}}-{{target}}/vse.run"}
    alone = image_sentence(manifest, runs, measures=MEASURES, store=None)
    assert values(alone, "vse") == values(encoded, "vse")
    assert sums(alone, "vse") == sums(encoded, "vse")
    assert alone.entries[0].image_encoder is None
    assert "image_encoder" not in alone.entries[0].signature
    failed = [failures_table(one, measure="Success@1").drop(["encoder"]) for one in (alone, encoded)]
    assert failed[0].equals(failed[1])


def test_one_file_with_both_directions(manifest, encoders, encoded):
    run = SearchRun.of(lists(manifest, encoders))
    found = image_sentence(manifest, {"engine": run}, measures=MEASURES, store=None)
    assert values(found, "engine") == values(encoded, "vse")
    folded, expected = (
        image_sentence(manifest, systems, fold=10, measures="Success@5", store=None, **more)
        for systems, more in (({"e": run}, {}), ({"e": encoders[0]}, {"image_encoders": encoders[1]}))
    )
    assert values(folded, "e") == values(expected, "e")


def test_an_engine_that_only_finds_images(manifest, encoders, encoded):
    text, image = encoders
    run = SearchRun.of(lists(manifest, encoders, depth=12, ways=("en-image",)))
    options = {"measures": ["Success@5", "Success@1", "Success@10"], "store": None}
    alone = image_sentence(manifest, {"engine": run}, **options)
    assert {(e.source, e.target) for e in alone.entries} == {("en", "image")}
    assert {one.measure for one in alone.summary} == {"Success@1", "Success@5", "Success@10"}  # no rsum
    found = image_sentence(
        manifest, {"engine": run, "vse": text}, image_encoders=image, baselines="vse", **options
    )
    one, other = (
        {e.measure: e for e in found.entries if (e.encoder, e.source) == (name, "en")}
        for name in ("engine", "vse")
    )
    for measure in options["measures"]:
        assert one[measure].value == other[measure].value
        assert one[measure].views.against.value == 0.0
    over_all = [s for s in found.summary if s.source is None and s.encoder == "engine"]
    assert {s.note for s in over_all} == {"over en → image only: the run answers no other queries"}
    assert {e.signature.rpartition("depth=")[2] for e in alone.entries} == {"12"}


def test_names_of_images(manifest, encoders, encoded):
    """An id alone is a sentence's as a query and an image's as a result; any row that shows it names it."""
    named = lists(manifest, encoders, ways=("en-image",))
    expected = [one for one in values(encoded, "vse") if one[1] == "en"]
    plain = {
        query.partition(":")[2]: {c.rpartition(":")[2]: score for c, score in own.items()}
        for query, own in named.items()
    }
    other = {
        query: {c.replace("image:en:en", "image:de:de"): score for c, score in own.items()}
        for query, own in named.items()
    }
    for run in (plain, other):
        found = image_sentence(manifest, {"engine": SearchRun.of(run)}, measures=MEASURES, store=None)
        assert values(found, "engine") == expected


def test_what_lists_lack_ties_with_nothing(manifest, encoders):
    run = SearchRun.of(lists(manifest, encoders, depth=1, ways=("en-image",)))
    (entry,) = image_sentence(manifest, {"engine": run}, measures="Success@1", store=None).entries
    assert entry.value < 1.0
    assert entry.n_tied == 0


def test_queries_without_results_are_misses(manifest, encoders):
    named = lists(manifest, encoders, ways=("en-image",))
    del named["en:en0.0"]
    with pytest.warns(DataWarning, match="1 of 60 queries of en-image have no results"):
        found = image_sentence(manifest, {"engine": SearchRun.of(named)}, measures="Success@1", store=None)
    first = {row["query"]: row["value"] for row in found.per_query.to_pylist()}
    assert first["en0.0"] == 0.0
    assert found.entries[0].n_unanswered == 1
    assert "engine has no results for 1 of 60 queries, which count as misses." in verdict(found)


def test_queries_without_results_are_counted_over_slices_and_by_direction(manifest, encoders):
    named = lists(manifest, encoders)
    for query in ("en:en0.0", "en:en29.1", "image:en:en3.0"):
        del named[query]
    with pytest.warns(DataWarning, match="have no results"):
        found = image_sentence(
            manifest, {"engine": SearchRun.of(named)}, fold=15, measures="Success@1", store=None
        )
    entries = json.loads(json.dumps(found.to_dict()))["results"]
    written = {(one["source"], one["target"]): one.get("n_unanswered") for one in entries}
    assert written == {
        ("en", "image"): 2,
        ("image", "en"): 1,
        ("de", "image"): None,
        ("image", "de"): 1,
    }


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"depth": 5}, {}, "60 of 60 lists end before rank 10, so Success@10 .* up to rank 5"),
        ({"depth": 25}, {"measures": "MedR"}, "end before the last candidate, so MedR is not known"),
        ({"name": lambda tag, own: f"x:{own}"}, {}, "none of its queries is a sentence or an image of"),
        (
            {"name": lambda tag, own: f"{tag}:{own}" if tag != "image" else own},
            {"measures": "Success@1"},
            "none of its results for en-image is one of the candidates: name images image:language:id",
        ),
        ({}, {"languages": ["en", "de"]}, r"no system has results in 'de': .* \(languages=\['en'\]\)"),
    ],
)
def test_runs_that_cannot_be_measured(manifest, encoders, change, options, message):
    run = SearchRun.of(lists(manifest, encoders, ways=("en-image",), **change))
    with pytest.raises(InputError, match=message):
        image_sentence(manifest, {"engine": run}, **{"measures": "Success@10", "store": None} | options)


def test_encoders_need_an_image_encoder(manifest, encoders):
    with pytest.raises(InputError, match=r"'vse' needs the image encoder of its space: give one \(image_enc"):
        image_sentence(manifest, {"vse": encoders[0]}, store=None)
