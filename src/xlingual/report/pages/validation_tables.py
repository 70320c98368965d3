"""The tables of a validation: agreement with true retrieval (XLR), encoders, and weakened images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xlingual.report import numbers, words
from xlingual.report.figures.validation import by_truth
from xlingual.report.findings.image_quality import level_name
from xlingual.report.findings.validation import direction_name
from xlingual.report.table import Cell, Column, Look, Table, narrower
from xlingual.report.words import gathered
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    SUBSETS,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    CoefficientDifference,
    Degradation,
    PairValidation,
    RankingAccuracy,
    Validation,
)

Heads: TypeAlias = list[str | Column]
Lines: TypeAlias = list[list[str | Cell]]


def agreement(pair: PairValidation) -> Table:
    """Return Table 1 of the paper for a pair: a row for each measure and coefficient."""
    return _agreement(pair, pair.subsets["all"].agreement, "XLR")


def agreement_at_1(validation: Validation, pair: PairValidation) -> list[Table]:
    """Return the same for XLR at K = 1, nothing where the validation does not have it."""
    found = pair.subsets["all"].agreement_at_1
    return [_agreement(pair, found, f"XLR {validation.measure_at_1}")] if found else []


def differences(pair: PairValidation) -> Table:
    """Return the differences of BkR's coefficients from those of SIM and CORR."""
    found = pair.subsets["all"].differences
    rivals = [f"BkR-{name}" for name in MEASURES if f"BkR-{name}" in found]
    listed = [
        ((name.replace("-", " − "), kind.capitalize()), found[name][kind])
        for name in rivals
        for kind in COEFFICIENTS
    ]
    return _differences("Differences between measures", ("difference", "coefficient"), listed, pair)


def directions(validation: Validation) -> Table:
    """Return the differences of agreement between the two directions of a pair."""
    listed = [
        (
            (
                f"{direction_name(one.first)} less {direction_name(one.second)}",
                f"{one.measure} {one.coefficient.capitalize()}",
            ),
            one.difference,
        )
        for one in validation.directions
    ]
    heads = ("directions", "agreement")
    return _differences("Differences between directions", heads, listed, *validation.pairs)


def accuracy(pair: PairValidation) -> Table:
    """Return how often each measure orders two encoders as XLR does."""
    found = pair.subsets["all"].accuracy
    rows: Lines = []
    for name in MEASURES:
        one = found[name]
        counts = (one.concordant, one.discordant, one.tied_both, one.tied_one)
        rows.append([name, Cell.of(one.value, one.ci), *(Cell(numbers.count(n), value=n) for n in counts)])
    heads: Heads = [
        "measure",
        _with_interval("accuracy", pair),
        "as XLR",
        "reversed",
        "tied in both",
        "in one",
    ]
    notes = gathered((name, found[name].note) for name in MEASURES)
    return Table.of_texts("Order of two encoders as XLR has it", heads, rows, notes=notes, where="both")


def subsets(pair: PairValidation, threshold: float) -> Table:
    """Return agreement among weak and strong encoders beside that of all."""
    ranges = {"all": "all", "below": f"below {threshold:g}", "above": f"from {threshold:g}"}
    rows: Lines = []
    noted: list[tuple[str | words.Place, str | None]] = []
    for subset in SUBSETS:
        own = pair.subsets[subset]
        who = f"{ranges[subset]} ({own.n_encoders})"
        own_notes = []
        for measure in MEASURES:
            named = {kind.capitalize(): own.agreement[measure][kind] for kind in COEFFICIENTS}
            found: list[Agreement | RankingAccuracy] = [*named.values(), own.accuracy[measure]]
            cells = [Cell.of(one.value, one.ci) for one in found]
            rows.append([Cell(who if measure == MEASURES[0] else "", value=who), measure, *cells])
            own_notes += [
                ((f"{who} {measure}", kind), one.note)
                for kind, one in zip([*named, "order"], found, strict=True)
            ]
        alike = len({note for _, note in own_notes}) == 1
        noted += [(who, own_notes[0][1])] if alike else own_notes
    heads = ["encoders with XLR", "measure", *(kind.capitalize() for kind in COEFFICIENTS), "order as XLR"]
    title, notes = "Weak and strong encoders", gathered(noted)
    return Table.of_texts(title, heads, rows, names=2, notes=notes, where="both")


def encoders(pair: PairValidation, family: str | None, measure_at_1: str | None = None) -> Table:
    """Return every encoder's scores, the best XLR first; families where a pattern tells them."""
    ordered = by_truth(pair.encoders)
    at_1 = (TRUTH_AT_1,) if all(TRUTH_AT_1 in row.scores for row in ordered) else ()
    measures = (TRUTH, *at_1, *MEASURES)
    families = ["family"] if family is not None else []
    normalised = ["BkR normalised"] if any(row.normalized is not None for row in ordered) else []
    rows: Lines = [
        [
            row.encoder,
            *(row.family for _ in families),
            *(Cell.mean(row.scores[name].mean, row.scores[name].sd) for name in measures),
            *(Cell(numbers.percent(row.normalized), value=row.normalized) for _ in normalised),
        ]
        for row in ordered
    ]
    truths = [TRUTH, *(f"XLR {measure_at_1}" for _ in at_1)]
    heads = ["encoder", *families, *truths, *MEASURES, *normalised]
    notes = gathered(((row.encoder, name), row.scores[name].note) for row in ordered for name in measures)
    title = "Encoders" if pair.n_seeds == 1 else "Encoders: mean ± standard deviation over seeds"
    looks = (Look(), Look(heads=10), *narrower(*families, *normalised)[1:])
    names = 1 + len(families)
    return Table.of_texts(title, heads, rows, names=names, data=True, notes=notes, looks=looks, where="both")


def degradations(rows: Sequence[Degradation]) -> Table:
    """Return agreement (Pearson) with weakened image vectors of one pair."""
    found = [(level_name(one), {name: one.agreement[name]["pearson"] for name in MEASURES}) for one in rows]
    cells: Lines = [
        [
            name,
            Cell(numbers.percent(one.kept), value=one.kept),
            *(Cell.of(each.value, each.ci) for each in pearson.values()),
        ]
        for one, (name, pearson) in zip(rows, found, strict=True)
    ]
    notes = gathered(((name, measure), one.note) for name, own in found for measure, one in own.items())
    heads = ["image vectors", "kept", *(f"{name} Pearson" for name in MEASURES)]
    return Table.of_texts("Weakened image vectors", heads, cells, notes=notes, where="both")


def _agreement(pair: PairValidation, found: Mapping[str, Mapping[str, Agreement]], truth: str) -> Table:
    listed = [(measure, kind, found[measure][kind]) for measure in MEASURES for kind in COEFFICIENTS]
    rows: Lines = [
        [
            measure,
            kind.capitalize(),
            Cell.mean(one.mean, one.se),
            Cell(numbers.not_zero(one.sd), value=one.sd),
            Cell.of(one.value, one.ci),
        ]
        for measure, kind, one in listed
    ]
    notes = gathered(((measure, kind.capitalize()), one.note) for measure, kind, one in listed)
    if pair.n_seeds == 1:
        notes.append("One seed: there is no spread over seeds.")
    heads: Heads = ["measure", f"with {truth}", "mean ± se", "sd", _with_interval("of means", pair)]
    title = f"Agreement with {truth} over encoders"
    return Table.of_texts(title, heads, rows, names=2, notes=notes, where="both")


def _differences(
    title: str,
    names: tuple[str, str],
    listed: Sequence[tuple[tuple[str, str], CoefficientDifference]],
    *pairs: PairValidation,
) -> Table:
    rows: Lines = [
        [*name, Cell.difference(one.value, one.ci), Cell(numbers.p_value(one.p), value=one.p)]
        for name, one in listed
    ]
    tests = gathered((" ".join(name), one.test) for name, one in listed)
    notes = [
        *(f"Test: {line[5:]}" if line.startswith("All: ") else f"Test for {line}" for line in tests),
        *gathered((" ".join(name), one.note) for name, one in listed),
    ]
    heads: Heads = [*names, _with_interval("value", *pairs), "p"]
    return Table.of_texts(title, heads, rows, names=2, notes=notes, where="both")


def _with_interval(head: str, *pairs: PairValidation) -> Column:
    """Return a column of values with intervals, which are named by their level if all have the same."""
    levels = {
        one.ci.level
        for pair in pairs
        for own in pair.subsets["all"].agreement.values()
        for one in own.values()
        if one.ci
    }
    name = f"{numbers.percent(levels.pop())} interval" if len(levels) == 1 else "interval"
    return Column(f"{head}, {name}", short=head, interval=name)
