"""Textual similarity as a whole: against correlations computed apart, and what must not change it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from xlingual import sts
from xlingual.data.sentence_pairs import SentencePairs
from xlingual.errors import InputError
from xlingual.records import Texts
from xlingual.results import Results, by_key
from xlingual.stats.corrections import holm
from xlingual.stats.dependent import williams, zou_overlapping

DIM = 8


class Given:
    """A vector for each text: the first `quality` parts say what the text means, the rest is noise."""

    content = ("text",)

    def __init__(self, quality: float = 1.0, scale: float = 1.0) -> None:
        self.identity, self.quality, self.scale = f"given:{quality}", quality, scale
        self.asked: Counter[str] = Counter()

    def encode(self, batch: Texts) -> np.ndarray:
        self.asked.update(batch.text)
        return np.stack([self.vector(text) for text in batch.text]).astype(np.float32) * self.scale

    def vector(self, text: str) -> np.ndarray:
        meaning = np.random.default_rng(int(text.split()[-1])).standard_normal(DIM)
        noise = np.random.default_rng(10_000 + int(text.split()[-1])).standard_normal(DIM)
        return self.quality * meaning + (1 - self.quality) * noise


def pairs_of(name: str, n: int, seed: int, *, sentences: int = 5000, first: int = 0) -> SentencePairs:
    rng = np.random.default_rng(seed)
    one, two = (first + rng.choice(sentences, n, replace=False) for _ in range(2))
    true = Given()
    cosine = [
        float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        for a, b in ((true.vector(f"t {i}"), true.vector(f"t {j}")) for i, j in zip(one, two, strict=True))
    ]
    score = np.round(2.5 + 2 * np.array(cosine) + 0.5 * rng.standard_normal(n), 1)
    texts = [[f"t {i}" for i in side] for side in (one, two)]
    return SentencePairs(name, name, [f"p{i}" for i in range(n)], score, texts[0], texts[1])


@pytest.fixture(scope="module")
def sets() -> list[SentencePairs]:
    return [pairs_of("one", 120, 0), pairs_of("two", 80, 1, first=10_000)]


@pytest.fixture(scope="module")
def run(sets: list[SentencePairs]) -> Results:
    encoders = {"good": Given(0.9), "fair": Given(0.5), "bad": Given(0.1)}
    return sts(sets, language="en", text_encoders=encoders, baseline="fair", store=None)


def cosines(encoder: Given, pairs: SentencePairs) -> np.ndarray:
    a, b = (
        np.stack([encoder.vector(t) for t in side]).astype(np.float32) for side in (pairs.first, pairs.second)
    )
    a, b = a.astype(float), b.astype(float)
    return np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def test_values_and_tests_equal_those_computed_apart(sets: list[SentencePairs], run: Results) -> None:
    qualities = {"good": 0.9, "fair": 0.5, "bad": 0.1}
    p = []
    for encoder, quality in qualities.items():
        for pairs in sets:
            x = cosines(Given(quality), pairs)
            base = cosines(Given(0.5), pairs)
            for measure, function in (("Pearson", pearsonr), ("Spearman", spearmanr)):
                (entry,) = by_key(run.entries, encoder=encoder, target=pairs.name, measure=measure)
                assert entry.value == pytest.approx(function(x, pairs.score).statistic, abs=1e-7)
                assert entry.ci.low < entry.value < entry.ci.high
                assert (entry.source, entry.chance, entry.n_source) == ("en", 0.0, len(pairs))
            (entry,) = by_key(run.entries, encoder=encoder, target=pairs.name, measure="Pearson")
            if encoder == "fair":
                assert entry.views is None
                continue
            r = [pearsonr(*two).statistic for two in ((x, pairs.score), (base, pairs.score), (x, base))]
            against = entry.views.against
            n = int(against.test.split("n = ")[1].split()[0])
            assert against.baseline == "fair" and 0.9 * len(pairs) < n <= len(pairs)
            assert against.p == pytest.approx(williams(*r, n)[1], rel=1e-5)
            assert against.ci.low == pytest.approx(zou_overlapping(*r, n).low, abs=1e-7)
            p.append((against.p, against.p_holm))
    assert [one for _, one in p] == pytest.approx(holm(np.array([one for one, _ in p])).tolist())


def same(one: Results, other: Results, **which: str) -> None:
    pairs = list(zip(by_key(one.entries, **which), by_key(other.entries, **which), strict=True))
    assert pairs
    for a, b in pairs:
        assert (a.value, a.ci, a.signature) == (b.value, b.ci, b.signature)


def test_a_file_has_its_numbers_whatever_else_is_evaluated(sets: list[SentencePairs], run: Results) -> None:
    alone = sts(sets[1], language="en", text_encoders={"good": Given(0.9)}, store=None)
    same(alone, run, target="two", encoder="good")
    again = sts(
        sets, language="en", text_encoders={"good": Given(0.9), "bad": Given(0.1)}, store=None, threads=2
    )
    same(again, run, encoder="good")


def test_equal_cosines_have_no_value_but_a_note(sets: list[SentencePairs]) -> None:
    class Constant(Given):
        def vector(self, text: str) -> np.ndarray:
            return np.ones(DIM)

    found = sts(sets, language="en", text_encoders={"none": Constant(), "good": Given(0.9)}, store=None)
    for entry in by_key(found.entries, encoder="none"):
        assert (entry.value, entry.ci, entry.note) == (None, None, "no correlation: all cosines are equal")
        assert entry.views.against is None
    (mean,) = by_key(found.summary, encoder="none", source=None, measure="Pearson")
    assert (mean.value, mean.behind, mean.note) == (None, None, "no correlation: all cosines are equal")
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text_encoders": {"good": Given()}, "baseline": "god"}, "baseline='god'.*Did you mean 'good'"),
        ({"text_encoders": "vectors:some.npy"}, "vectors: files have one row for each text of a manifest"),
        (
            {"text_encoders": {"g": Given()}, "language": "english words"},
            "language=…: 'english words' is not a language",
        ),
        ({"text_encoders": {"g": Given()}, "seed": -1}, "seed=… must be 0"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(
    sets: list[SentencePairs],
    options: dict[str, Any],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("some.npy", np.ones((200, 3), np.float32))
    with pytest.raises(InputError, match=words):
        sts(sets, **({"language": "en", "store": None} | options))
