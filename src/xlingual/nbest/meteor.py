"""METEOR with exact and stem matches, through nltk, as a metric of sacrebleu, so that its tests apply.

It is not METEOR 1.5: no paraphrase tables, no weights for function words, and synonyms (WordNet) for English
only, where nltk has that corpus. Per sentence it is the score of Lavie and Agarwal (2007), F_mean · (1 −
γ·frag^β) with α = .9, β = 3, γ = .5, against the best of several references; over a corpus the mean of the
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nltk.translate.meteor_score import meteor_score
from sacrebleu.metrics.base import Metric, Score, Signature

from xlingual.errors import InputError, listed
from xlingual.nbest.meteor_languages import STEMMERS, code_of


class MeteorSignature(Signature):  # type: ignore[misc]
    """What the score depends on, as sacrebleu prints it."""

    def __init__(self, args: dict[str, Any]) -> None:
        import nltk

        super().__init__(args)
        self.info.update(
            {
                "case": "lc",  # nltk lower-cases
                "match": args["matches"],
                "stem": args["stemmer_name"],
                "corpus": "mean",
                "nltk": nltk.__version__,
            }
        )


class Meteor(Metric):  # type: ignore[misc]
    """METEOR (exact + stem) for one language, 0 to 100."""

    _SIGNATURE_TYPE = MeteorSignature

    def __init__(self, language: str, references: Sequence[Sequence[str]] | None = None) -> None:
        """Raise InputError where there is no stemmer for the language."""
        from nltk.stem.snowball import SnowballStemmer

        super().__init__()
        code = code_of(language)
        if code not in STEMMERS:
            raise InputError(
                f"METEOR has no stemmer for {language!r}, only for {listed(STEMMERS, 20)}: leave it out"
            )
        self.stemmer_name = STEMMERS[code]
        self._stemmer = SnowballStemmer(self.stemmer_name)
        self._synonyms = _wordnet() if code == "en" else None
        self.matches = "exact+stem" + ("+wordnet" if self._synonyms else "")
        if references is not None:
            self._ref_cache = self._cache_references(references)

    @property
    def name(self) -> str:
        """The name of the measure, which says what counts as a match."""
        return f"METEOR ({' + '.join(self.matches.replace('wordnet', 'WordNet').split('+'))})"

    def _preprocess_segment(self, sent: str) -> str:
        return sent.strip()

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [reference.split() for reference in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        score = meteor_score(
            ref_kwargs["references"],
            hypothesis.split(),
            stemmer=self._stemmer,
            wordnet=self._synonyms or _NoSynonyms(),
        )
        return [100 * score, 1.0]

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        return Score(self.name, float(stats[0]) / float(stats[1]))

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])


class _NoSynonyms:
    """A WordNet in which no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        """Return no meanings."""
        return []


def _wordnet() -> Any:  # noqa: ANN401  (nltk has no types)
    """Return nltk's WordNet where its data is there, else None; nothing is downloaded."""
    from nltk.corpus import wordnet

    try:
        wordnet.synsets("word")
    except LookupError:
        return None
    return wordnet
