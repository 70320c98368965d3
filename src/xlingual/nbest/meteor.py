"""METEOR with exact and stem matches, through nltk, as a metric of sacrebleu, so that its tests apply.

It is not METEOR 1.5: no paraphrase tables, no weights for function words, no synonyms. Per sentence it is the
score of Lavie and Agarwal (2007), F_mean · (1 − γ·frag^β) with α = .9, β = 3, γ = .5, against the best of
several references; over a corpus the mean of the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from nltk.stem.snowball import SnowballStemmer
from nltk.translate.meteor_score import meteor_score
from sacrebleu.metrics.base import Metric, Score, Signature

_NO_SYNONYMS = SimpleNamespace(synsets=lambda word: [])


class MeteorSignature(Signature):  # type: ignore[misc]
    """What the score depends on, as sacrebleu prints it."""

    def __init__(self, args: dict[str, Any]) -> None:
        import nltk

        super().__init__(args)
        # nltk lower-cases
        more = {"case": "lc", "match": "exact+stem", "stem": args["stemmer"], "corpus": "mean"}
        self.info.update({**more, "nltk": nltk.__version__})


class Meteor(Metric):  # type: ignore[misc]
    """METEOR (exact + stem) for one language, 0 to 100."""

    _SIGNATURE_TYPE = MeteorSignature

    def __init__(self, name: str, stemmer: str, references: Sequence[Sequence[str]]) -> None:
        super().__init__()
        self.name, self.stemmer = name, stemmer
        self._stemmer = SnowballStemmer(self.stemmer)
        self._ref_cache = self._cache_references(references)

    def _preprocess_segment(self, sent: str) -> str:
        return sent.strip()

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [reference.split() for reference in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        words, references = hypothesis.split(), ref_kwargs["references"]
        score = meteor_score(references, words, stemmer=self._stemmer, wordnet=_NO_SYNONYMS)
        return [100 * score, 1.0]

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        return Score(self.name, float(stats[0]) / float(stats[1]))

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])
