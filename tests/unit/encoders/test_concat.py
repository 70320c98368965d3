"""`concat:…::SPEC`: the vectors of title and body side by side, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import Manifest
from xlingual.embed.sides import embed_texts
from xlingual.encoders import Stacked, text_encoders
from xlingual.encoders.concat import ConcatTexts
from xlingual.store import Store

BASE = "random:?dim=8"


def encoder(spec):
    return next(iter(text_encoders(spec, languages=("en", "de")).values()))


def manifest(**columns):
    rows = [
        {"id": f"r{i}", "lang": tag, "text": f"text {i}. More {i}"}
        | {name: columns.get(name, f"{name} {{}}".format)(i) for name in ("title", "body")}
        for i, tag in enumerate(["en", "de", "en", "de"])
    ]
    return Manifest.of(rows)


def base_of(texts, rows):
    return encoder(BASE).encode(replace(rows.texts(np.arange(len(rows))), text=list(texts))).astype(float)


@pytest.mark.parametrize("scaling", ["unit", "raw"])
@pytest.mark.parametrize("split", [None, "first-sentence"])
def test_vectors_are_those_of_the_base_side_by_side(tmp_path, scaling, split):
    rows = manifest()
    titles, bodies = rows.fields["title"], rows.fields["body"]
    if split:
        titles, bodies = zip(
            *((f"{a}.", b) for a, b in (text.split(". ") for text in rows.text)), strict=True
        )
    expected = []
    for title, body in zip(base_of(titles, rows), base_of(bodies, rows), strict=True):
        halves = [half / (np.linalg.norm(half) if scaling == "unit" else 1) for half in (title, body)]
        expected.append([*halves[0], *halves[1]])
    options = f"scaling={scaling}" + (f"&split={split}" if split else "")
    made = encoder(f"concat:?{options}::{BASE}")
    assert isinstance(made, Stacked) and encoder(BASE).identity in made.identity
    np.testing.assert_allclose(made.encode(rows.texts(np.arange(4))), expected, atol=1e-6)
    found = embed_texts(rows, "c", made, np.arange(4), store=Store(tmp_path / "store"))
    np.testing.assert_allclose(found.vectors, expected, atol=1e-6)
    other = {"unit": "raw", "raw": "unit"}[scaling]
    assert made.identity != encoder(f"concat:?{options.replace(scaling, other)}::{BASE}").identity


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_the_cosine_is_the_mean_of_those_of_titles_and_of_bodies(seed):
    title, body = np.random.default_rng(seed).standard_normal((2, 7, 5)).astype(np.float32)
    title[0] = 0  # a zero half stays zero
    joined = ConcatTexts(encoder(BASE)).apply(title, body)
    assert not joined[0, :5].any()

    def cosine(vectors):
        length = np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
        unit = np.divide(vectors, length, out=np.zeros(vectors.shape), where=length > 0)
        return unit @ unit.T

    found = cosine(joined)[1:, 1:]
    np.testing.assert_allclose(found, ((cosine(title) + cosine(body)) / 2)[1:, 1:], atol=1e-6)
