"""Measuring translations: sacrebleu's BLEU, chrF and TER, nltk's METEOR, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Struct, field

from xlingual.arrays import Floats
from xlingual.errors import InputError, MissingExtraError, listed
from xlingual.nbest.bleu import check_references, list_counts
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.tune import Spread, choices_without_weights, random_choices
from xlingual.results.document import Answer
from xlingual.results.values import Interval, Number, Share, Size, about, among

SCHEMA = "xlingual/rerank-scores/1"
METEOR = "METEOR (exact + stem)"
TOKENIZERS = ("none", "13a", "intl", "char", "zh")
RESAMPLES = 1000
RANDOM_DRAWS = 3
# nltk's stemmers, by the first part of a tag
_STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "porter", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nb": "norwegian", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
}  # fmt: skip


class SystemScore(Struct, frozen=True):
    """A measure of one system, 0 to 100 (TER: from 0, smaller is better)."""

    value: Annotated[Number, about("0 to 100; TER from 0, and the smaller the better.")]
    ci: Annotated[Interval | None, about("Null for a mean of random draws.")]
    p: Annotated[
        Share | None,
        about(
            "p of no difference to the baseline by sacrebleu's paired bootstrap, about one tail; null "
            "without one, and for bounds."
        ),
    ] = None


class System(Struct, frozen=True):
    """One system's translations, measured."""

    name: Annotated[str, about("Name of the file, or of the bound.")]
    kind: Annotated[
        str,
        among("baseline", "system", "bound"),
        about("What it is; a bound is a choice from the lists that needs no weights."),
    ]
    scores: Annotated[dict[str, SystemScore], about("Scores by the name of the measure.")]


class Scores(Answer, frozen=True, tag=SCHEMA):
    """Systems measured on the same sentences."""

    made_by = "xlingual rerank score … --out FILE"

    systems: Annotated[list[System], about("The baseline first, then systems, then bounds.")]
    signatures: Annotated[dict[str, str], about("What each measure is, in sacrebleu's form, by its name.")]
    n_sentences: Annotated[Size, about("Number of sentences.")]
    mean: Annotated[dict[str, Spread], about("Means over the systems, by measure; empty for one system.")] = (
        field(default_factory=dict)
    )


def score(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    baseline: tuple[str, Sequence[str]] | None = None,
    lists: NBestLists | None = None,
    tokenize: str = "none",
    lowercase: bool = False,
    language: str | None = None,
    samples: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Scores:
    """Return the measures of systems (name → one text for each line of the references), in the order given.

    Args:
        systems: the translations of each.
        references: files of one line for each sentence.
        baseline: name and translations of a system that every other is tested against.
        lists: choices from them that need no weights stand beside the systems.
        tokenize: sacrebleu's tokeniser of BLEU.
        lowercase: ignore letter case.
        language: of the translations, for METEOR; without it there is none.
        samples: resamples of intervals and tests.
        seed: of random choices from the lists.
        progress: is called with (what, done, total).

    """
    if baseline is not None and baseline[0] in systems:
        raise InputError(f"{baseline[0]} is given twice: give it as --baseline only")
    measured: dict[str, tuple[str, Sequence[str]]] = {}
    if baseline is not None:
        measured[baseline[0]] = "baseline", baseline[1]
    measured |= {name: ("system", texts) for name, texts in systems.items()}
    for name, (_, texts) in measured.items():
        if not references or len(texts) != len(references[0]):
            lines = len(references[0]) if references else 0
            raise InputError(
                f"{name} has {len(texts):,} lines, the references {lines:,}: give a line for each"
            )
        check_references(len(texts), references)
    draws = []
    if lists is not None:
        counts = list_counts(lists, references, lowercase=lowercase)
        for name, rows in choices_without_weights(lists, counts).items():
            label = name if name not in measured else f"{name} of the lists"  # a file may be called so
            measured[label] = "bound", [lists.hypotheses[row] for row in rows]
        drawn = random_choices(lists.offsets, RANDOM_DRAWS, seed)
        draws = [[lists.hypotheses[row] for row in rows] for rows in drawn]
    metrics = metrics_of(tokenize, lowercase, language, references)
    scores: dict[str, dict[str, SystemScore]] = {name: {} for name in measured}
    random: dict[str, SystemScore] = {}
    signatures = {}
    for number, (measure, metric) in enumerate(metrics.items()):
        if progress is not None:
            progress("measuring", number, len(metrics))
        texts_of = {name: list(texts) for name, (_, texts) in measured.items()}
        signatures[measure], results = _measured(texts_of, measure, metric, samples, baseline is not None)
        for (name, (kind, _)), (value, ci, p) in zip(measured.items(), results, strict=True):
            scores[name][measure] = SystemScore(value, ci, p if kind == "system" else None)
        if draws:
            values = [metric.corpus_score(texts, None).score for texts in draws]
            random[measure] = SystemScore(sum(values) / len(values), None)
    table = [System(name, kind, scores[name]) for name, (kind, _) in measured.items()]
    if draws:
        table.append(System(f"random choice (mean of {len(draws)})", "bound", random))
    several = {name: [scores[system][name].value for system in systems] for name in metrics}
    mean = {name: Spread.of(values) for name, values in several.items()} if len(systems) > 1 else {}
    return Scores(table, signatures, len(references[0]), mean)


def _measured(
    texts_of: Mapping[str, list[str]], measure: str, metric: Any, samples: int, paired: bool  # noqa: ANN401
) -> tuple[str, list[tuple[float, Interval, float | None]]]:  # fmt: skip
    """Return the signature of a measure, and value, interval and p of each system; the first is the baseline.

    sacrebleu counts the resamples that differ by more than was observed; of two equal systems none does,
    which would give them the smallest p there is: theirs is 1.
    """
    from sacrebleu.significance import PairedTest

    if paired:
        test = PairedTest(list(texts_of.items()), {measure: metric}, None, "bs", samples)
        signed, results = test()
        signature = str(signed[measure])
        rows = [(result.score, result.mean, result.ci, result.p_value) for result in results[measure]]
    else:
        bare = [metric.corpus_score(texts, None, n_bootstrap=samples) for texts in texts_of.values()]
        signature = str(metric.get_signature())
        rows = [(result.score, result._mean, result._ci, None) for result in bare]
    measured = []
    for value, mean, half, p in rows:
        ci = Interval(float(mean - half), float(mean + half), 0.95, "sacrebleu's bootstrap of sentences")
        same = value == rows[0][0]
        measured.append((float(value), ci, None if p is None else 1.0 if same else float(p)))
    return signature, measured


def metrics_of(
    tokenize: str, lowercase: bool, language: str | None, references: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return sacrebleu's metrics by name, with the references in them, and METEOR of a language."""
    if tokenize not in TOKENIZERS:
        raise InputError(f"tokenize must be one of {', '.join(TOKENIZERS)}: found {tokenize!r}")
    try:
        from sacrebleu.metrics import BLEU, CHRF, TER

        metrics = {
            "BLEU": BLEU(lowercase=lowercase, tokenize=tokenize, force=True, references=references),
            "chrF2": CHRF(lowercase=lowercase, references=references),
            "TER": TER(case_sensitive=not lowercase, references=references),
        }
        if language is not None:
            from xlingual.nbest.meteor import Meteor

            metrics[METEOR] = Meteor(METEOR, _stemmer(language), references)
    except ImportError as error:
        raise MissingExtraError("measuring translations", "mt") from error
    return metrics


def jackknife(metric: Any, texts: Sequence[str]) -> Floats:  # noqa: ANN401
    """Return jackknife values of sentences, [s]: n·(score of all) − (n − 1)·(score without the sentence).

    Their errors are those of the score (Tukey 1958); they are shifted so that their mean is the score.
    """
    counts = np.array(metric._extract_corpus_statistics(list(texts), None), dtype=np.float64)
    total = counts.sum(axis=0)
    score = float(metric._compute_score_from_stats(total.tolist()).score)
    without = [float(metric._compute_score_from_stats(row).score) for row in (total - counts).tolist()]
    values = -(len(texts) - 1) * np.array(without)
    shifted: Floats = values - values.mean() + score
    return shifted


def has_meteor(language: str) -> bool:
    """Return whether METEOR can be computed for translations into the language."""
    return language.lower().replace("_", "-").partition("-")[0] in _STEMMERS


def _stemmer(language: str) -> str:
    """Return the name of nltk's stemmer for a language; raise InputError where there is none."""
    if not has_meteor(language):
        raise InputError(
            f"METEOR has no stemmer for {language!r}, only for {listed(_STEMMERS, 20)}: leave it out"
        )
    return _STEMMERS[language.lower().replace("_", "-").partition("-")[0]]
