"""`centre:?fit=…::SPEC` and its like: fitted on other texts, in one run with the encoder below."""

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.embed.sides import embed_texts, refuse_fitted_rows
from xlingual.encoders import Encoder, text_encoders
from xlingual.errors import InputError
from xlingual.store import Store
from xlingual.transforms import methods
from xlingual.transforms.moments import FitData

TAGS = ("de", "en")


def manifest(start=0, stop=40):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} text {i}", "item": str(i)}
        for i in range(start, stop)
        for tag in TAGS
    ]
    return Manifest.of(rows)


def texts(rows=None):
    rows = rows or manifest(100, 160)
    return rows.texts(np.arange(len(rows)))


def made(spec, fit=None, **encoders):
    found = text_encoders({"e": spec}, languages=TAGS, fit_texts=lambda _: fit or texts())
    return found["e"]


def vectors(spec, rows):
    return next(iter(text_encoders(spec, languages=TAGS).values())).encode(rows)


def unit(x):
    x = x.astype(np.float64)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("spec", "fit"),
    [
        ("centre:?fit=F", methods.centre),
        ("centre:?by=all&fit=F", lambda data: methods.centre(data, by="all")),
        ("whiten:?fit=F&shrink=0.2", lambda data: methods.whiten(data, shrink=0.2)),
        ("lir:2?fit=F", lambda data: methods.lir(data, 2)),
        ("all-but-the-top:auto?fit=F", methods.all_but_the_top),
        ("pca:3?fit=F", lambda data: methods.pca(data, 3)),
    ],
)
def test_vectors_are_those_of_the_base_through_what_was_fitted(spec, fit):
    base, rows = "random:?dim=6", texts(manifest())
    found = made(f"{spec}::{base}").encode(rows)
    data = FitData(vectors(base, texts()), texts().language)
    expected = fit(data).apply(unit(vectors(base, rows)).astype(np.float32), rows.language)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_two_in_a_row_are_not_brought_to_unit_length_between():
    rows = texts(manifest())
    found = made("pca:3?fit=F::centre:?fit=F::random:?dim=6").encode(rows)
    data = FitData(vectors("random:?dim=6", texts()), texts().language)
    first = methods.centre(data)
    both = first.then(methods.pca(data.through(first), 3))
    expected = both.apply(unit(vectors("random:?dim=6", rows)).astype(np.float32), rows.language)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=2e-6)


class Counting(Encoder):
    """Counts the texts it encodes."""

    identity = "counting:v1"
    content = ("text",)

    def __init__(self):
        self.count = 0

    def encode(self, batch, /):
        self.count += len(batch)
        return np.array([[len(text), ord(text[-1]), 1] for text in batch.text], dtype=np.float32)


def test_the_texts_it_is_fitted_on_are_encoded_once_and_kept(tmp_path, monkeypatch):
    base = Counting()
    monkeypatch.setattr("xlingual.encoders.random.build", lambda *_: base)
    store, rows = Store(tmp_path / "store"), manifest()
    for _ in range(2):
        encoders = text_encoders(
            {"a": "centre:?fit=F::random", "b": "lir:1?fit=F::random"},
            languages=TAGS,
            fit_texts=lambda _: texts(),
        )
        refuse_fitted_rows(encoders, rows.texts(np.arange(len(rows))), store=store)
        for name, encoder in encoders.items():
            embed_texts(rows, name, encoder, np.arange(len(rows)), store=store)
    assert base.count == len(rows) + len(texts())


def test_rows_it_is_fitted_on_are_not_evaluated():
    encoder = made("centre:?fit=F::random", fit=texts(manifest()))
    with pytest.raises(InputError, match="fitted on 80 of the 80 texts that are evaluated"):
        refuse_fitted_rows({"e": encoder}, texts(manifest()))


def test_rows_that_the_encoder_below_is_fitted_on_are_not_evaluated_either():
    other = {"F": texts(), "G": texts(manifest())}
    specs = "centre:?fit=F::chargram:?fit=G"
    encoder = text_encoders({"e": specs}, languages=TAGS, fit_texts=other.__getitem__)["e"]
    with pytest.raises(InputError, match="fitted on 80 of the 80"):
        refuse_fitted_rows({"e": encoder}, texts(manifest()))


def test_a_language_without_texts_is_refused_before_any_work():
    only = [row for row, tag in enumerate(texts().language) if tag == "de"]
    fit = texts().take(np.array(only))
    with pytest.raises(InputError, match=r"its texts have none in en.*name texts in all languages"):
        made("centre:?fit=F::random", fit=fit).check_languages(TAGS)
    made("centre:?by=all&fit=F::random", fit=fit).check_languages(TAGS)
    with pytest.raises(InputError, match=r"are in de,? ?.*and those to be encoded in fr"):
        _ = text_encoders({"e": "centre:?fit=F::random"}, languages=["fr"], fit_texts=lambda _: fit)[
            "e"
        ].identity


def test_identities_differ_where_vectors_do():
    specs = (
        "centre:?fit=F::random",
        "centre:?by=all&fit=F::random",
        "standardize:?fit=F::random",
        "lir:1?fit=F::random",
        "lir:2?fit=F::random",
        "whiten:?fit=F::random",
        "whiten:?shrink=0.5&fit=F::random",
        "centre:?fit=F::lir:1?fit=F::random",
    )
    found = {made(spec).identity for spec in specs}
    assert len(found) == len(specs)
    assert made(specs[0], fit=texts(manifest(100, 150))).identity not in found
    assert made(specs[0]).identity in found


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("centre:?by=all::random", "fit= is missing"),
        ("lir:auto?fit=F::random", "lir: expected a whole number of at least 1, found 'auto'"),
        ("lsar:x?fit=F::random", "whole number of at least 1 or auto"),
        ("lir:0?fit=F::random", "found '0'"),
        ("delta:?from=de&fit=F::random", "write to=LANGUAGE"),
        ("delta:?from=de&to=de&fit=F::random", "write to=LANGUAGE"),
        ("whiten:?shrink=2&fit=F::random", "from 0 to 1"),
        ("centre:?fit=F", "needs an encoder below it"),
        ("pca:?fit=F::random", "needs an argument"),
    ],
)
def test_mistakes_in_specs(spec, message):
    with pytest.raises(InputError, match=message):
        made(spec)


def test_delta_without_from_moves_all_languages_to_one():
    rows = texts(manifest())
    found = made("delta:?to=en&fit=F::random:?dim=6")
    one = made("delta:?from=de&to=en&fit=F::random:?dim=6")
    np.testing.assert_allclose(found.encode(rows), one.encode(rows), atol=1e-6)
    with pytest.raises(InputError, match="fitted for each language by itself"):
        found.check_languages(["fr"])
    one.check_languages(["fr"])


def test_delta_moves_one_language_only():
    rows = texts(manifest())
    found = made("delta:?from=de&to=en&fit=F::random:?dim=6").encode(rows)
    plain = unit(vectors("random:?dim=6", rows))
    english = [tag == "en" for tag in rows.language]
    np.testing.assert_allclose(found[english], plain[english], atol=1e-6)
    assert not np.allclose(
        found[[not one for one in english]], plain[[not one for one in english]], atol=1e-3
    )
