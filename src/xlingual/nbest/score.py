"""Measuring translations: sacrebleu's BLEU, chrF and TER, nltk's METEOR, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct, field

from xlingual.errors import InputError, MissingExtraError
from xlingual.nbest import choice
from xlingual.nbest.bleu import check_references, list_counts
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.side_by_side import remember_statistics
from xlingual.nbest.weights import Spread
from xlingual.results.document import Answer
from xlingual.results.values import Interval, Number, Share, Size, about, among

SCHEMA = "xlingual/rerank-scores/1"
TESTS = {"bootstrap": "bs", "randomization": "ar"}  # sacrebleu's names
TOKENIZERS = ("none", "13a", "intl", "char", "zh")
BOOTSTRAP = 1000  # resamples of an interval
RANDOM_DRAWS = 3


class SystemScore(Struct, frozen=True):
    """A measure of one system, 0 to 100 (TER: from 0, smaller is better)."""

    value: Annotated[Number, about("0 to 100; TER from 0, and the smaller the better.")]
    ci: Annotated[Interval | None, about("Null for a mean of random draws.")]
    p: Annotated[
        Share | None,
        about(
            "p of no difference to the baseline, as sacrebleu has it: two-sided for randomization, about "
            "one tail for bootstrap; null without one, and for bounds."
        ),
    ] = None


class System(Struct, frozen=True):
    """One system's translations, measured; `kind` is baseline, system or bound."""

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
    test: Annotated[
        Annotated[str, among("bootstrap", "randomization")] | None,
        about("Test of the p-values; null without a baseline."),
    ]
    mean: Annotated[dict[str, Spread], about("Means over the systems, by measure; empty for one system.")] = (
        field(default_factory=dict)
    )
    notes: Annotated[list[str], about("What is missing, and why.")] = field(default_factory=list)


def score(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    baseline: tuple[str, Sequence[str]] | None = None,
    lists: NBestLists | None = None,
    tokenize: str = "none",
    lowercase: bool = False,
    language: str | None = None,
    test: str = "bootstrap",
    samples: int = 0,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Scores:
    """Return the measures of systems (name → one text for each line of the references), in the order given.

    With a baseline every system is tested against it; with `lists` the choices that need no weights stand
    beside them. `language` is that of the translations, for METEOR; without it there is none. `samples` of
    the test, 0: sacrebleu's own number. Raises InputError where numbers of lines differ.
    """
    if test not in TESTS:
        raise InputError(f"test must be {' or '.join(TESTS)}: found {test!r}")
    measured: dict[str, tuple[str, Sequence[str]]] = {}
    if baseline is not None:
        measured[baseline[0]] = ("baseline", baseline[1])
    for name, texts in systems.items():
        if name in measured:
            raise InputError(f"{name} is given twice: give each file once, and the baseline as baseline only")
        measured[name] = ("system", texts)
    for name, (_, texts) in measured.items():
        check_references(len(texts), references, f"translations in {name}")
    draws = _bounds(lists, references, lowercase, seed, measured) if lists is not None else []
    metrics = metrics_of(tokenize, lowercase, language, references)
    found, signatures = _measure(measured, metrics, baseline is not None, test, samples, progress)
    if draws:
        found.append(_drawn(draws, metrics))
    own = [one.scores for one in found if one.kind == "system"]
    values = {name: [scores[name].value for scores in own] for name in metrics} if len(own) > 1 else {}
    return Scores(
        found,
        signatures,
        len(references[0]),
        test if baseline is not None else None,
        {name: Spread.of(several) for name, several in values.items()},
        [] if language else ["no METEOR: it needs the language of the translations (--language)"],
    )


def _bounds(
    lists: NBestLists,
    references: Sequence[Sequence[str]],
    lowercase: bool,
    seed: int,
    measured: dict[str, tuple[str, Sequence[str]]],
) -> list[list[str]]:
    """Add the decoder's choice, oracle and anti-oracle to `measured`; return random choices."""
    bleu_counts = list_counts(lists, references, lowercase=lowercase)
    for name, rows in (
        ("decoder's choice", choice.decoder_best(lists)),
        ("oracle", choice.oracle(bleu_counts, lists.offsets)),
        ("anti-oracle", choice.anti_oracle(bleu_counts, lists.offsets)),
    ):
        label = name if name not in measured else f"{name} of the lists"  # a file may be called so
        measured[label] = ("bound", [lists.hypotheses[row] for row in rows])
    drawn = choice.random_choices(lists.offsets, RANDOM_DRAWS, seed)
    return [[lists.hypotheses[row] for row in rows] for rows in drawn]


def metrics_of(
    tokenize: str, lowercase: bool, language: str | None, references: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return sacrebleu's metrics by name, with the references in them, and METEOR of a language."""
    try:
        from sacrebleu.metrics import BLEU, CHRF, TER
    except ImportError as error:
        raise MissingExtraError("measuring translations", "mt") from error
    if tokenize not in TOKENIZERS:
        raise InputError(f"tokenize must be one of {', '.join(TOKENIZERS)}: found {tokenize!r}")
    found = {
        "BLEU": BLEU(lowercase=lowercase, tokenize=tokenize, force=True, references=references),
        "chrF2": CHRF(lowercase=lowercase, references=references),
        "TER": TER(case_sensitive=not lowercase, references=references),
    }
    if language is not None:
        try:
            from xlingual.nbest.meteor import Meteor
        except ImportError as error:
            raise MissingExtraError("METEOR", "mt") from error
        meteor = Meteor(language, references)
        found[meteor.name] = meteor
    return {name: remember_statistics(metric) for name, metric in found.items()}


def _measure(
    measured: Mapping[str, tuple[str, Sequence[str]]],
    metrics: dict[str, Any],
    paired: bool,
    test: str,
    samples: int,
    progress: Callable[[str, int, int], None] | None,
) -> tuple[list[System], dict[str, str]]:
    """Return the systems with their scores, and the signature of each measure; the first is the baseline."""
    from sacrebleu.significance import PairedTest

    named = [(name, list(texts)) for name, (_, texts) in measured.items()]
    scores: dict[str, dict[str, SystemScore]] = {name: {} for name, _ in named}
    signatures: dict[str, str] = {}
    for number, (measure, metric) in enumerate(metrics.items()):
        if progress is not None:
            progress("measuring", number, len(metrics))
        if paired:
            intervals = BOOTSTRAP if test == "randomization" else -1  # the bootstrap test has them anyway
            kind = TESTS[test]
            tested = PairedTest(named, {measure: metric}, None, kind, samples, n_ar_confidence=intervals)
            signed, results = tested()
            signatures[measure] = str(signed[measure])
            found = [(one.score, one.mean, one.ci, one.p_value) for one in results[measure]]
        else:
            bare = [metric.corpus_score(texts, None, n_bootstrap=samples or BOOTSTRAP) for _, texts in named]
            signatures[measure] = str(metric.get_signature())
            found = [(one.score, one._mean, one._ci, None) for one in bare]
        for (name, _), (value, mean, half, p) in zip(named, found, strict=True):
            if p is not None and value == found[0][0]:
                # sacrebleu counts the resamples that differ by more than was observed; of two equal systems
                # none does, which would give them the smallest p there is
                p = 1.0
            is_tested = p is not None and measured[name][0] == "system"
            ci = Interval(float(mean - half), float(mean + half), 0.95, "sacrebleu's bootstrap of sentences")
            scores[name][measure] = SystemScore(float(value), ci, float(p) if is_tested else None)
    return [System(name, kind, scores[name]) for name, (kind, _) in measured.items()], signatures


def _drawn(draws: Sequence[Sequence[str]], metrics: Mapping[str, Any]) -> System:
    """Return the mean scores of random choices."""
    scores = {}
    for name, metric in metrics.items():
        values = [metric.corpus_score(texts, None).score for texts in draws]
        scores[name] = SystemScore(sum(values) / len(values), None)
    return System(f"random choice (mean of {len(draws)})", "bound", scores)
