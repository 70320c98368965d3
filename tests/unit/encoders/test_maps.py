"""Encoders on top of another one: `centre:` and its like, `truncate:`, `quantize:`, `concat:`."""

from dataclasses import replace

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.embed.sides import embed_texts, refuse_fitted_rows
from xlingual.encoders import Encoder, text_encoders
from xlingual.errors import InputError
from xlingual.store import Store
from xlingual.transforms import methods, paired
from xlingual.transforms.affine import unit_rows
from xlingual.transforms.compression import Levels, halved, signs
from xlingual.transforms.moments import FitData

TAGS = ("de", "en")
BASE = "random:?dim=12"


def manifest(start=0, stop=40):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}. More {i}", "item": str(i)}
        | {"title": f"title {i}", "body": f"{tag} body {i}"}
        for i in range(start, stop)
        for tag in TAGS
    ]
    return Manifest.of(rows)


def texts(start=0, stop=40):
    rows = manifest(start, stop)
    return rows.texts(np.arange(len(rows)))


def made(spec, fit=None, languages=TAGS):
    return text_encoders({"e": spec}, languages=languages, fit_texts=lambda _: fit or texts(100, 160))["e"]


def vectors(spec, rows=None):
    return made(spec).encode(rows or texts())


@pytest.mark.parametrize(
    ("spec", "fit"),
    [
        ("centre:?fit=F", methods.centre),
        ("centre:?by=all&fit=F", lambda data: methods.centre(data, by="all")),
        ("standardize:?fit=F", methods.standardize),
        ("whiten:?fit=F&shrink=0.2", lambda data: methods.whiten(data, shrink=0.2)),
        ("lir:2?fit=F", lambda data: methods.lir(data, 2)),
        ("all-but-the-top:auto?fit=F", methods.all_but_the_top),
        ("lsar:1?fit=F", lambda data: methods.lsar(data, 1)),
        ("pca:3?fit=F", lambda data: methods.pca(data, 3)),
        ("procrustes:?to=en&fit=F", lambda data: paired.procrustes(data, "en")),
        ("ridge:?to=de&fit=F", lambda data: paired.ridge(data, "de")),
        ("cca:4?fit=F", lambda data: paired.cca(data, 4)),
        ("delta:?to=en&fit=F", lambda data: paired.deltas(data, "en")),
        ("quantize:int8?fit=F", Levels.of),
    ],
)
def test_vectors_are_those_of_the_base_through_what_was_fitted(spec, fit):
    fitted = texts(100, 160)
    data = FitData(vectors(BASE, fitted), fitted.language, fitted.items, True)
    expected = fit(data).apply(unit_rows(vectors(BASE)), texts().language)
    np.testing.assert_allclose(vectors(f"{spec}::{BASE}"), expected, atol=1e-6)


def test_two_in_a_row_are_one_map_and_levels_are_of_unit_vectors():
    data = FitData(vectors(BASE, texts(100, 160)), texts(100, 160).language)
    first = methods.centre(data)
    both = first.then(methods.pca(data.through(first), 3))
    expected = both.apply(unit_rows(vectors(BASE)), texts().language)
    below = f"pca:3?fit=F::centre:?fit=F::{BASE}"
    np.testing.assert_allclose(np.abs(vectors(below)), np.abs(expected), atol=2e-6)
    levels = Levels.of(FitData(vectors(below, texts(100, 160)), ["en"] * 120, unit=True))
    np.testing.assert_array_equal(
        vectors(f"quantize:int8?fit=F::{below}"), levels.apply(unit_rows(vectors(below)))
    )


def test_smaller_vectors():
    unit = unit_rows(vectors(BASE))
    for name, expected in (("truncate:5", unit[:, :5]), ("quantize:f16", halved(unit))):
        np.testing.assert_array_equal(vectors(f"{name}::{BASE}"), expected)
    np.testing.assert_array_equal(vectors(f"quantize:binary::{BASE}"), signs(unit))
    assert made(f"quantize:binary::{BASE}").fitted_on == frozenset()


@pytest.mark.parametrize("split", [None, "first-sentence"])
def test_title_and_body_side_by_side(split):
    rows = texts(0, 3)
    titles, bodies = (rows.fields[name] for name in ("title", "body"))
    if split:
        titles = [f"{text.split('. ')[0]}." for text in rows.text]
        bodies = [text.split(". ")[1] for text in rows.text]
    halves = [vectors(BASE, replace(rows, text=list(part))) for part in (titles, bodies)]
    expected = np.hstack([unit_rows(half) for half in halves])
    spec = f"concat:{f'?split={split}' if split else ''}::{BASE}"
    np.testing.assert_allclose(vectors(spec, rows), expected, atol=1e-6)


class Counting(Encoder):
    """Counts the texts it encodes."""

    identity = "counting:v1"
    content = ("text",)
    count = 0

    def encode(self, batch, /):
        self.count += len(batch)
        return np.array([[len(text), ord(text[-1]), 1] for text in batch.text], dtype=np.float32)


def test_the_texts_it_is_fitted_on_are_encoded_once_and_kept(tmp_path, monkeypatch):
    base, store, rows = Counting(), Store(tmp_path / "store"), manifest()
    monkeypatch.setattr("xlingual.encoders.random.build", lambda *_: base)
    for _ in range(2):
        specs = {"a": "centre:?fit=F::random", "b": "lir:1?fit=F::random"}
        encoders = text_encoders(specs, languages=TAGS, fit_texts=lambda _: texts(100, 160))
        refuse_fitted_rows(encoders, texts(), store=store)
        for name, encoder in encoders.items():
            embed_texts(rows, name, encoder, np.arange(len(rows)), store=store)
    assert base.count == len(rows) + len(texts(100, 160))


@pytest.mark.parametrize(
    "spec", ["centre:?fit=F", "quantize:int8?fit=F", "centre:?by=all&fit=F::lir:1?fit=F"]
)
def test_rows_it_is_fitted_on_are_not_evaluated(spec):
    with pytest.raises(InputError, match="fitted on 80 of the 80 texts that are evaluated"):
        refuse_fitted_rows({"e": made(f"{spec}::{BASE}", fit=texts())}, texts())


def test_a_language_without_texts_is_refused_before_any_work():
    fit = texts().take(np.arange(0, 80, 2))
    with pytest.raises(InputError, match="none in en"):
        made(f"centre:?fit=F::{BASE}", fit=fit).check_languages(TAGS)
    made(f"centre:?by=all&fit=F::{BASE}", fit=fit).check_languages(TAGS)
    with pytest.raises(InputError, match="in fr"):
        _ = made(f"centre:?fit=F::{BASE}", fit=fit, languages=["fr"]).identity


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("centre:?by=all", "fit="),
        ("lir:auto?fit=F", "auto"),
        ("lsar:x?fit=F", "'x'"),
        ("lir:0?fit=F", "'0'"),
        ("whiten:?shrink=2&fit=F", "shrink"),
        ("pca:?fit=F", "argument"),
        ("truncate:x", "'x'"),
        ("truncate:13", "13"),
        ("quantize:int4", "int4"),
        ("quantize:int8", "fit="),
        ("quantize:binary?fit=F", "fit="),
        ("concat:?title=a&body=a", "title"),
    ],
)
def test_mistakes_in_specs(spec, name):
    with pytest.raises(InputError, match=name):
        vectors(f"{spec}::{BASE}")
