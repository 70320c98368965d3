"""The tables of a validation as text, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xlingual.report.grid import Table
from xlingual.report.numbers import MISSING, count, interval, number, percent, with_interval
from xlingual.report.validation import wording
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    SUBSETS,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    CoefficientDifference,
    Degradation,
    EncoderScores,
    PairValidation,
    Validation,
)

RIVALS = tuple(f"BkR-{name}" for name in MEASURES if name != "BkR")


def all_of(validation: Validation, pair: PairValidation) -> list[Table]:
    """Return all tables of a language pair, the most important first."""
    weakened = of_pair(validation.degradations, pair)
    found = [
        agreement(pair),
        *agreement_at_1(validation, pair),
        accuracy(pair),
        differences(pair),
        encoders(pair, validation.family, validation.measure_at_1),
        subsets(pair, validation.threshold),
    ]
    return [*found, degradations(weakened)] if weakened else found


def tests(table: Table) -> list[str]:
    """Return which test each row of a table of differences rests on, in words."""
    place = table.head.index("test")
    named = ((" ".join(row[: table.n_names]), row[place]) for row in table.rows)
    return [f"Test for {line}" for line in wording.gathered((name, test) for name, test in named
            if test != MISSING)]  # fmt: skip


def agreement(pair: PairValidation) -> Table:
    """Return Table 1 for a pair: a row for each measure and coefficient."""
    return _agreement(pair, pair.subsets["all"].agreement, "XLR")


def agreement_at_1(validation: Validation, pair: PairValidation) -> list[Table]:
    """Return the same for XLR at K = 1, nothing where the validation does not have it."""
    found = pair.subsets["all"].agreement_at_1
    return [_agreement(pair, found, f"XLR {validation.measure_at_1}")] if found else []


def _agreement(pair: PairValidation, found: Mapping[str, Mapping[str, Agreement]], truth: str) -> Table:
    rows = []
    for measure in MEASURES:
        for kind in COEFFICIENTS:
            one = found[measure][kind]
            rows.append(
                [
                    measure,
                    wording.name_of(kind),
                    wording.plus_minus(one.mean, one.se),
                    wording.small(one.sd),
                    number(one.value),
                    interval(one.ci) or MISSING,
                ]
            )
    notes = wording.gathered(
        ((measure, wording.name_of(kind)), found[measure][kind].note)
        for measure in MEASURES
        for kind in COEFFICIENTS
    )
    if pair.n_seeds == 1:
        notes.append("One seed: there is no spread over seeds.")
    head = ["measure", f"with {truth}", "mean ± se", "sd", "of means", _interval_head([pair])]
    return Table(f"Agreement with {truth} over encoders", head, rows, notes, n_names=2)


def accuracy(pair: PairValidation) -> Table:
    """Return how often each measure orders two encoders as XLR does."""
    found = pair.subsets["all"].accuracy
    rows = [
        [
            name,
            number(one.value),
            interval(one.ci) or MISSING,
            *(count(n) for n in (one.concordant, one.discordant, one.tied_both, one.tied_one)),
        ]
        for name, one in ((name, found[name]) for name in MEASURES)
    ]
    head = ["measure", "accuracy", _interval_head([pair]), "as XLR", "reversed", "tied in both", "in one"]
    notes = wording.gathered((name, found[name].note) for name in MEASURES)
    return Table("Order of two encoders as XLR has it", head, rows, notes)


def differences(pair: PairValidation) -> Table:
    """Return the differences of BkR's coefficients from those of SIM and CORR."""
    found = pair.subsets["all"].differences
    listed = [
        ([name.replace("-", " − "), wording.name_of(kind)], found[name][kind])
        for name in RIVALS
        for kind in COEFFICIENTS
        if name in found
    ]
    return _of_differences("Differences between measures", ["difference", "coefficient"], listed, pair)


def directions(validation: Validation) -> Table:
    """Return the differences of agreement between the two directions of a pair."""
    listed = [
        (
            [
                f"{wording.direction_name(one.first)} less {wording.direction_name(one.second)}",
                f"{one.measure} {wording.name_of(one.coefficient)}",
            ],
            one.difference,
        )
        for one in validation.directions
    ]
    head = ["directions", "agreement"]
    return _of_differences("Differences between directions", head, listed, *validation.pairs)


def encoders(pair: PairValidation, family: str | None, measure_at_1: str | None = None) -> Table:
    """Return every encoder's scores, the best XLR first; families where a pattern tells them."""
    ordered = by_truth(pair.encoders)
    at_1 = (TRUTH_AT_1,) if all(TRUTH_AT_1 in row.scores for row in ordered) else ()
    names = (TRUTH, *at_1, *MEASURES)
    rows = [
        [
            row.encoder,
            row.family,
            *(wording.plus_minus(_score(row, name), row.scores[name].sd) for name in names),
            percent(row.normalized),
        ]
        for row in ordered
    ]
    notes = wording.gathered(
        ((row.encoder, name), row.scores[name].note) for row in ordered for name in names
    )
    head = ["encoder", "family", TRUTH, *(f"XLR {measure_at_1}" for _ in at_1), *MEASURES, "BkR normalised"]
    title = "Encoders" if pair.n_seeds == 1 else "Encoders: mean ± standard deviation over seeds"
    table = Table(title, head, rows, notes, n_names=2, names_are_data=True)
    dropped = [] if family is not None else ["family"]
    dropped += [] if any(row.normalized is not None for row in pair.encoders) else ["BkR normalised"]
    return table.without(*dropped)


def subsets(pair: PairValidation, threshold: float) -> Table:
    """Return agreement among weak and strong encoders beside that of all."""
    rows: list[list[str]] = []
    noted: list[tuple[str | wording.Cell, str | None]] = []
    for name in SUBSETS:
        own = pair.subsets[name]
        who = f"{wording.subset_range(name, threshold)} ({own.n_encoders})"
        own_notes: list[tuple[str | wording.Cell, str | None]] = []
        for measure in MEASURES:
            found = [own.agreement[measure][kind] for kind in COEFFICIENTS]
            order = own.accuracy[measure]
            cells = [with_interval(one.value, one.ci) for one in found]
            cells.append(with_interval(order.value, order.ci))
            rows.append([who if measure == MEASURES[0] else "", measure, *cells])
            kinds = [*(wording.name_of(kind) for kind in COEFFICIENTS), "order"]
            notes = [*(one.note for one in found), order.note]
            own_notes += [((f"{who} {measure}", kind), note) for kind, note in zip(kinds, notes, strict=True)]
        alike = len({note for _, note in own_notes}) == 1
        noted += [(who, own_notes[0][1])] if alike else own_notes
    head = ["XLR", "measure", *(wording.name_of(kind) for kind in COEFFICIENTS), "order as XLR"]
    return Table("Weak and strong encoders", head, rows, wording.gathered(noted), n_names=2)


def degradations(rows: Sequence[Degradation]) -> Table:
    """Return agreement (Pearson) with weakened image vectors of one pair, the best pictures first."""
    ordered = by_quality(rows)
    cells = [
        [
            wording.level_name(one),
            percent(one.kept),
            *(
                with_interval(found.value, found.ci)
                for found in (one.agreement[name]["pearson"] for name in MEASURES)
            ),
        ]
        for one in ordered
    ]
    notes = wording.gathered(
        ((wording.level_name(one), name), one.agreement[name]["pearson"].note)
        for one in ordered
        for name in MEASURES
    )
    head = ["image vectors", "kept", *(f"{name} Pearson" for name in MEASURES)]
    return Table("Weakened image vectors", head, cells, notes)


def by_truth(rows: Iterable[EncoderScores]) -> list[EncoderScores]:
    """Return the encoders by XLR, the best first, those without it last."""

    def order(row: EncoderScores) -> tuple[bool, float, str]:
        value = _score(row, TRUTH)
        return (value is None, -(value or 0.0), row.encoder)

    return sorted(rows, key=order)


def by_quality(rows: Iterable[Degradation]) -> list[Degradation]:
    """Return degradations by the neighbours that pictures keep, the best first, those without it last."""
    return sorted(rows, key=lambda one: (one.kept is None, -(one.kept or 0.0), one.kind, one.level or 0))


def of_pair(rows: Iterable[Degradation], pair: PairValidation) -> list[Degradation]:
    """Return the degradations of a language pair."""
    return [one for one in rows if (one.source, one.target) == (pair.source, pair.target)]


def _score(row: EncoderScores, name: str) -> float | None:
    return row.scores[name].mean


def _of_differences(
    title: str,
    names: list[str],
    listed: Sequence[tuple[list[str], CoefficientDifference]],
    *pairs: PairValidation,
) -> Table:
    rows = [
        [
            *name,
            number(one.value),
            interval(one.ci) or MISSING,
            wording.p_text(one.p),
            one.test or MISSING,
        ]
        for name, one in listed
    ]
    notes = wording.gathered((" ".join(name), one.note) for name, one in listed)
    head = [*names, "value", _interval_head(pairs), "p", "test"]
    return Table(title, head, rows, notes, n_names=len(names), remarks=frozenset(["test"]))


def _interval_head(pairs: Sequence[PairValidation]) -> str:
    """Return the heading of a column of intervals, with their level where all have the same."""
    levels = {
        one.ci.level
        for pair in pairs
        for own in pair.subsets["all"].agreement.values()
        for one in own.values()
        if one.ci
    }
    return f"{percent(levels.pop())} interval" if len(levels) == 1 else "interval"
