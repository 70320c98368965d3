"""XQuAD-R in seven languages: every number equals one of a plain evaluation of the whole score matrix."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from xlingual import MultilingualPool, multilingual_pool
from xlingual.embed.sides import embed_pool
from xlingual.encoders import text_encoders

pytestmark = [pytest.mark.data, pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")]
TESTS = Path(__file__).parents[1]
plain = SimpleNamespace(**run_path(str(TESTS / "unit/evaluation/multilingual_pool/plain.py")))
MEASURES = ("AP", "AP@20/min", "Success@1", "Success@10", "R@10", "RR", "MedR")
SUBSETS = ["ar,de,en", "zh"]


class Projection:
    """Sums of fixed random vectors of character trigrams: vectors in general position, no ties."""

    identity = "projection:seed=0"

    def __init__(self) -> None:
        self.table = np.random.default_rng(0).standard_normal((1 << 14, 96))

    def encode(self, batch: Any) -> np.ndarray:
        found = np.empty((len(batch), self.table.shape[1]))
        for i, text in enumerate(batch.text):
            grams = [text[j : j + 3] for j in range(len(text))]
            found[i] = self.table[[zlib.crc32(gram.encode()) % len(self.table) for gram in grams]].sum(axis=0)
        return found.astype(np.float32)


ENCODERS = {"projection": Projection, "chargram": lambda: "chargram:"}


def read_articles(folder: Path, articles: int | None, work: Path) -> MultilingualPool:
    """Return the pool of the first articles in the seven languages whose numbers pages quote."""
    for path in (folder / "xquad_r" / f"{tag}.json" for tag in ("ar", "de", "en", "es", "hi", "vi", "zh")):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["data"] = content["data"][:articles]
        (work / path.name).write_text(json.dumps(content), encoding="utf-8")
    return MultilingualPool.read(work)


@pytest.fixture(scope="module")
def some(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> MultilingualPool:
    return read_articles(real_data, 3, tmp_path_factory.mktemp("some"))


@pytest.fixture(scope="module")
def one(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> MultilingualPool:
    return read_articles(real_data, 1, tmp_path_factory.mktemp("one"))


def plainly(pool: MultilingualPool, encoder: Any) -> Any:
    (one,) = text_encoders({"e": encoder}, languages=list(pool.languages)).values()
    vectors = embed_pool(pool, "e", one)
    return plain.Plain(pool, vectors.questions, vectors.candidates)


def near(expected: Any) -> Any:
    if isinstance(expected, dict):
        return {key: near(value) for key, value in expected.items()}
    if isinstance(expected, list) and any(isinstance(value, dict) for value in expected):
        return [near(value) for value in expected]
    return pytest.approx(expected, abs=1e-9)


def assert_equal_to_plain(pool: MultilingualPool, encoder: Any, whole: Any) -> None:
    options = {"text_encoders": {"e": encoder}, "measures": MEASURES, "examples": False}
    found = multilingual_pool(pool, subsets=SUBSETS, **options)
    for entry in found.entries:
        values = whole.measure(entry.measure)
        rows = found.per_query.filter([m == entry.measure for m in found.per_query["measure"].to_pylist()])
        assert rows["value"].to_numpy() == pytest.approx(values, abs=1e-9), entry.measure
        overall = np.median(values) if entry.measure == "MedR" else values.mean()
        assert entry.value == pytest.approx(overall, abs=1e-9)
        assert entry.n_tied == whole.tied_questions()
        if entry.measure != "MedR":
            assert entry.views.by_question_language == near(whole.by_language(values))
            assert entry.views.macro == pytest.approx(np.mean(list(whole.by_language(values).values())))
    for name, value in whole.views([subset.split(",") for subset in SUBSETS]).items():
        assert msgspec.to_builtins(getattr(found.entries[0].views, name)) == near(value), name


@pytest.mark.slow  # on made data: tests/properties/test_multilingual_pool.py
@pytest.mark.parametrize("name", ["projection", "chargram"])
def test_every_number_equals_a_plain_evaluation(one: MultilingualPool, name: str) -> None:
    whole = plainly(one, ENCODERS[name]())
    if name == "projection":
        assert whole.tied_questions() == 0
    assert_equal_to_plain(one, ENCODERS[name](), whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODERS)
def test_every_number_at_full_size_equals_a_plain_evaluation(
    real_data: Path, tmp_path: Path, name: str
) -> None:
    pool = read_articles(real_data, None, tmp_path)
    assert (len(pool.questions), len(pool.languages)) == (8330, 7)
    assert_equal_to_plain(pool, ENCODERS[name](), plainly(pool, ENCODERS[name]()))


def test_a_code_of_the_language_keeps_the_monolingual_pool_and_costs_the_pool(some: MultilingualPool) -> None:
    runs = {f"bias {strength}": Biased(some.languages, strength) for strength in (0.0, 0.2, 1.0)}
    found = multilingual_pool(some, text_encoders=runs, examples=False)
    values = [entry.value for entry in found.entries]
    alone = [entry.views.monolingual_pool for entry in found.entries]
    assert alone[0] == alone[1] == alone[2]
    assert values == sorted(values, reverse=True) and values[0] > 1.05 * values[-1]
    deltas = [entry.views.remove_one["relative_delta"] for entry in found.entries]
    assert deltas == sorted(deltas)


class Biased(Projection):
    """The same at unit length, with √strength times a code of the language appended."""

    def __init__(self, languages: tuple[str, ...], strength: float) -> None:
        super().__init__()
        self.languages, self.strength = languages, strength
        self.identity = f"projection:seed=0&bias={strength}"

    def encode(self, batch: Any) -> np.ndarray:
        codes = np.eye(len(self.languages))[[self.languages.index(tag) for tag in batch.language]]
        return np.hstack([plain.unit(super().encode(batch)), np.sqrt(self.strength) * codes]).astype(
            np.float32
        )
