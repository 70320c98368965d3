"""Vectors of one dimension, of few directions or all equal: a finite map, or an error with a reason."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import Manifest, crosslingual_retrieval
from xlingual.align.search import fitted, steps
from xlingual.errors import InputError
from xlingual.transforms.moments import FitData
from xlingual.transforms.paired import ridge
from xlingual.workflows.repairing import repair_encoder

N, DIM = 60, 6


def vectors_of(kind, n=N):
    rng = np.random.default_rng(0)
    common, line = rng.normal(size=(1, DIM)), rng.normal(size=(2 * n, 1))
    by_language = np.repeat(rng.normal(size=(2, DIM)), n, axis=0)
    plain = rng.normal(size=(2 * n, DIM))
    first = np.arange(2 * n)[:, None] < n
    made = {
        "one dimension": line,
        "two dimensions": rng.normal(size=(2 * n, 2)),
        "all equal": np.repeat(common, 2 * n, axis=0),
        "equal but for rounding": common + 1e-8 * plain,
        "equal by language": by_language,
        "on a line": line * common,
        "on a line beside zero": np.ones((1, DIM)) + line * common,
        "fewer texts than dimensions": rng.normal(size=(2 * n, 5 * n)),
        "one language equal": np.where(first, plain[:1], plain),
        "one language zero": np.where(first, 0, plain),
    }
    return made[kind].astype(np.float32)


KINDS = (
    *("one dimension", "two dimensions", "all equal", "equal but for rounding", "equal by language"),
    *("on a line", "on a line beside zero", "fewer texts than dimensions", "one language equal"),
    "one language zero",
)


@pytest.mark.parametrize("n", [1, 2, N])
@pytest.mark.parametrize("kind", KINDS)
def test_every_candidate_is_finite_or_says_why_not(kind, n):
    vectors = vectors_of(kind, n)
    languages, items = ["de"] * n + ["en"] * n, [*map(str, range(n))] * 2
    data = FitData(vectors, languages, items)
    made = 0
    for each in steps(vectors.shape[1], len(data.moments), translations=True):
        try:
            moved = fitted(data, each).apply(vectors, languages)
        except InputError:
            continue
        assert np.isfinite(moved).all()
        made += 1
    assert made or n == 1 or "zero" in kind


def test_a_language_that_does_not_vary_cannot_be_mapped_by_ridge():
    data = FitData(vectors_of("one language equal"), ["de"] * N + ["en"] * N, [*map(str, range(N))] * 2)
    with pytest.raises(InputError, match="all vectors in 'de' that it is fitted on are equal"):
        ridge(data, to="en")


@pytest.mark.parametrize("kind", ["one dimension", "all equal", "equal by language", "on a line"])
def test_repairs_of_such_encoders_end_with_a_verdict(kind, tmp_path):
    n, path = 100, tmp_path / "v.{lang}.npy"
    halves = vectors_of(kind, n)
    for tag, half in (("de", halves[:n]), ("en", halves[n:])):
        np.save(tmp_path / f"v.{tag}.npy", half)
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
        for i in range(n)
        for tag in ("de", "en")
    ]
    found = repair_encoder(Manifest.of(rows), f"vectors:{path}", hubs=False, store=None).found
    assert found.outcome != "better" or kind == "equal by language"
    assert all(len(one.why) > 20 for one in found.left_out)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("whiten:", "all vectors that it is fitted on are equal"),
        ("pca:2", "2 directions are asked for, and the texts that it is fitted on vary in 0"),
        ("lsar:1", "the means of the 2 languages differ in 0 directions"),
        ("ridge:", "all vectors in 'en' that it is fitted on are equal"),
        ("cca:2", "all vectors that it is fitted on are equal"),
    ],
)
def test_specs_say_what_is_wrong_with_the_vectors(method, message, tmp_path):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i), "split": "ab"[i % 2]}
        for i in range(40)
        for tag in ("de", "en")
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "data.parquet")
    for tag in ("de", "en"):
        np.save(tmp_path / f"v.{tag}.npy", np.ones((40, 4), dtype=np.float32))
    test = Manifest.read(tmp_path / "data.parquet", split="b")
    join = "&" if "?" in method else "?"
    spec = f"{method}{join}fit={tmp_path}/data.parquet#a::vectors:{tmp_path}/v.{{lang}}.npy"
    with pytest.raises(InputError, match=f"{method.partition(':')[0]}.*{message}"):
        crosslingual_retrieval(test, spec, store=None)
