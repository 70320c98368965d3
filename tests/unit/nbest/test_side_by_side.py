"""Systems side by side: sacrebleu's numbers, a bootstrap written out, p corrected, runs as one system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from xlingual.nbest.score import metrics_of
from xlingual.nbest.side_by_side import side_by_side
from xlingual.stats.corrections import holm
from xlingual.streams import stream

sacrebleu = pytest.importorskip("sacrebleu")
pytest.importorskip("nltk")

SAMPLES = 60
WORDS = np.array(["ein", "das", "haus", "und", "baum", "ist", "da", "groß", "."])


def texts(quality: float, seed: int, references: list[str]) -> list[str]:
    random = np.random.default_rng(seed)
    found = []
    for reference in references:
        own = np.array(reference.split())
        kept = random.random(len(own)) < quality
        found.append(" ".join(np.where(kept, own, random.choice(WORDS, len(own)))))
    return found


@pytest.fixture(scope="module")
def data() -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    random = np.random.default_rng(0)
    references = [" ".join(random.choice(WORDS, 9)) for _ in range(30)]
    systems = {
        "mt": {"mt": texts(0.6, 1, references)},
        "vse": {f"vse.{i}": texts(0.6, 10 + i, references) for i in range(3)},
        "mlmme": {f"mlmme.{i}": texts(0.9, 20 + i, references) for i in range(2)},
    }
    return references, systems


def naive(measure: str, hypotheses: list[str], references: list[str]) -> float:
    if measure == "BLEU":
        return sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", force=True).score
    if measure == "TER":
        return sacrebleu.metrics.TER(case_sensitive=True).corpus_score(hypotheses, [references]).score
    from nltk.stem.snowball import SnowballStemmer
    from nltk.translate.meteor_score import meteor_score

    class Nothing:
        def synsets(self, word: str) -> list[Any]:
            return []

    stemmer = SnowballStemmer("german")
    each = [
        meteor_score([r.split()], h.split(), stemmer=stemmer, wordnet=Nothing())
        for h, r in zip(hypotheses, references, strict=True)
    ]
    return 100 * sum(each) / len(each)


def test_differences_are_those_of_a_bootstrap_written_out(data: Any) -> None:
    references, systems = data
    found = side_by_side(systems, metrics_of("none", False, "de", [references]), samples=SAMPLES)
    assert [one.name for one in found] == ["mt", "vse", "mlmme"]
    assert found[1].runs == ["vse.0", "vse.1", "vse.2"]
    n = len(references)
    drawn = stream(0, "nbest side by side").multinomial(n, np.full(n, 1 / n), size=SAMPLES)
    for measure, key in (("BLEU", "BLEU"), ("TER", "TER"), ("METEOR", "METEOR (exact + stem)")):
        resampled = {}
        for name, runs in systems.items():
            of_runs = []
            for own in runs.values():
                values = []
                for times in drawn[:SAMPLES]:
                    rows = np.repeat(np.arange(n), times)
                    values.append(naive(measure, [own[i] for i in rows], [references[i] for i in rows]))
                of_runs.append(values)
            resampled[name] = np.mean(of_runs, axis=0)
        base = naive(measure, systems["mt"]["mt"], references)
        for one in found[1:]:
            each = [naive(measure, own, references) - base for own in systems[one.name].values()]
            gain = one.scores[key].gain
            assert gain is not None and gain.ci is not None
            assert one.scores[key].value == pytest.approx(base + np.mean(each))
            assert gain.value == pytest.approx(np.mean(each))
            sentences = np.var(resampled[one.name] - resampled["mt"], ddof=1)
            runs = np.var(each, ddof=1) / len(each)
            freedom = (sentences + runs) ** 2 / (sentences**2 / (n - 1) + runs**2 / (len(each) - 1))
            t = stats.t(freedom)
            half = t.ppf(0.975) * np.sqrt(sentences + runs)
            assert gain.ci.high - gain.value == pytest.approx(half)
            assert gain.p == pytest.approx(2 * t.sf(abs(gain.value) / np.sqrt(sentences + runs)))
    gains = [one.gain for system in found[1:] for one in system.scores.values()]
    assert len(gains) == 8  # two systems, four measures
    assert [gain.p_adjusted for gain in gains] == pytest.approx(holm(np.array([gain.p for gain in gains])))


def test_order_of_sentences_changes_nothing_but_the_draws(data: Any) -> None:
    references, systems = data
    metrics = {"BLEU": sacrebleu.metrics.BLEU(tokenize="none", force=True, references=[references])}
    one = side_by_side(systems, metrics, samples=20)
    order = np.random.default_rng(3).permutation(len(references))
    mixed = {n: {r: [own[i] for i in order] for r, own in runs.items()} for n, runs in systems.items()}
    again = [references[i] for i in order]
    metrics = {"BLEU": sacrebleu.metrics.BLEU(tokenize="none", force=True, references=[again])}
    two = side_by_side(mixed, metrics, samples=20)
    values = [[system.scores["BLEU"].value for system in found] for found in (one, two)]
    assert values[0] == pytest.approx(values[1])


def test_equal_systems_have_no_difference_and_no_test(data: Any) -> None:
    references, systems = data
    own = systems["mt"]["mt"]
    found = side_by_side(
        {"a": {"a": own}, "b": {"b": own}}, metrics_of("none", False, "de", [references]), samples=20
    )
    gain = found[1].scores["BLEU"].gain
    assert gain is not None and gain.value == 0 and gain.ci is None and gain.p is None
