"""The tables of a validation: agreement with true retrieval (XLR), encoders, and weakened images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlingual.report import numbers, words
from xlingual.report.figures.validation import by_truth
from xlingual.report.findings.image_quality import level_name
from xlingual.report.findings.validation import direction_name
from xlingual.report.table import Cell, Column, Table, TableRoom, narrower
from xlingual.report.words import gathered
from xlingual.results import validation as record
from xlingual.results.validation import COEFFICIENTS, MEASURES, TRUTH, TRUTH_AT_1, PairValidation, Validation

Differences = Mapping[tuple[str, str], record.CoefficientDifference]  # by the names in its row


def agreement(validation: Validation, pair: PairValidation) -> list[Table]:
    """Return Table 1 of the paper for a pair, and the same for XLR at K = 1 where the validation has it."""
    tables = []
    for truth, own in ((TRUTH, pair.agreement), (f"XLR {validation.measure_at_1}", pair.agreement_at_1)):
        if own:
            found = {(name, kind.capitalize()): own[name][kind] for name in MEASURES for kind in COEFFICIENTS}
            rows = [
                [
                    *place,
                    Cell.mean(one.mean, one.se),
                    Cell.by(numbers.not_zero, one.sd),
                    Cell.of(one.value, one.ci),
                ]
                for place, one in found.items()
            ]
            notes = gathered((place, one.note) for place, one in found.items())
            notes += ["One seed: there is no spread over seeds."] if pair.n_seeds == 1 else []
            heads = ["measure", f"with {truth}", "mean ± se", "sd", _with_interval("of means", pair)]
            title = f"Agreement with {truth} over encoders"
            tables.append(Table.of_texts(title, heads, rows, names=2, notes=notes, where="both"))
    return tables


def differences(pair: PairValidation) -> Table:
    """Return the differences of BkR's coefficients from those of SIM and CORR."""
    found = {
        (f"BkR − {name}", kind.capitalize()): pair.differences[f"BkR-{name}"][kind]
        for name in MEASURES
        if f"BkR-{name}" in pair.differences
        for kind in COEFFICIENTS
    }
    return _differences("Differences between measures", ("difference", "coefficient"), found, pair)


def directions(validation: Validation) -> Table:
    """Return the differences of agreement between the two directions of a pair."""
    found = {
        (
            f"{direction_name(one.first)} less {direction_name(one.second)}",
            f"{one.measure} {one.coefficient.capitalize()}",
        ): one.difference
        for one in validation.directions
    }
    heads = ("directions", "agreement")
    return _differences("Differences between directions", heads, found, *validation.pairs)


def accuracy(pair: PairValidation) -> Table:
    """Return how often each measure orders two encoders as XLR does."""
    rows = []
    for name in MEASURES:
        one = pair.accuracy[name]
        counts = (one.concordant, one.discordant, one.tied_both, one.tied_one)
        rows.append([name, Cell.of(one.value, one.ci), *map(Cell.count, counts)])
    counted = ("as XLR", "reversed", "tied in both", "in one")
    heads = ["measure", _with_interval("accuracy", pair), *counted]
    notes = gathered((name, pair.accuracy[name].note) for name in MEASURES)
    return Table.of_texts("Order of two encoders as XLR has it", heads, rows, notes=notes, where="both")


def subsets(pair: PairValidation, threshold: float) -> Table:
    """Return agreement among weak and strong encoders beside that of all."""
    ranges = {"all": "all", "below": f"below {threshold:g}", "above": f"from {threshold:g}"}
    rows: list[list[str | Cell]] = []
    noted: list[tuple[str | words.Place, str | None]] = []
    for subset, own in pair.subsets.items():
        who = f"{ranges[subset]} ({own.n_encoders})"
        notes_of_subset: list[tuple[words.Place, str | None]] = []
        for measure in MEASURES:
            found: dict[str, record.Agreement | record.RankingAccuracy] = {
                **{kind.capitalize(): own.agreement[measure][kind] for kind in COEFFICIENTS},
                "order": own.accuracy[measure],
            }
            first = Cell(who if measure == MEASURES[0] else "", value=who)
            rows.append([first, measure, *(Cell.of(one.value, one.ci) for one in found.values())])
            notes_of_subset += [((f"{who} {measure}", kind), one.note) for kind, one in found.items()]
        same = len({note for _, note in notes_of_subset}) == 1
        noted += [(who, notes_of_subset[0][1])] if same else notes_of_subset
    heads = ["encoders with XLR", "measure", *(kind.capitalize() for kind in COEFFICIENTS), "order as XLR"]
    title, notes = "Weak and strong encoders", gathered(noted)
    return Table.of_texts(title, heads, rows, names=2, notes=notes, where="both")


def encoders(pair: PairValidation, family: str | None, measure_at_1: str | None = None) -> Table:
    """Return every encoder's scores, the best XLR first; families where a pattern gives them."""
    ordered = by_truth(pair.encoders)
    at_1 = [TRUTH_AT_1] if all(TRUTH_AT_1 in row.scores for row in ordered) else []
    measures = (TRUTH, *at_1, *MEASURES)
    families = ["family"] if family is not None else []
    normalised = ["BkR normalised"] if any(row.normalized is not None for row in ordered) else []
    rows = [
        [
            row.encoder,
            *(row.family for _ in families),
            *(Cell.mean(row.scores[name].mean, row.scores[name].sd) for name in measures),
            *(Cell.by(numbers.percent, row.normalized) for _ in normalised),
        ]
        for row in ordered
    ]
    heads = ["encoder", *families, TRUTH, *(f"XLR {measure_at_1}" for _ in at_1), *MEASURES, *normalised]
    notes = gathered(((row.encoder, name), row.scores[name].note) for row in ordered for name in measures)
    title = "Encoders" if pair.n_seeds == 1 else "Encoders: mean ± standard deviation over seeds"
    looks = (TableRoom(), TableRoom(heads=10), *narrower(*families, *normalised)[1:])
    names = 1 + len(families)
    return Table.of_texts(title, heads, rows, names=names, data=True, notes=notes, looks=looks, where="both")


def degradations(levels: Sequence[record.Degradation]) -> Table:
    """Return agreement (Pearson) with weakened image vectors of one pair."""
    rows, noted = [], []
    for level in levels:
        name, found = level_name(level), {one: level.agreement[one]["pearson"] for one in MEASURES}
        cells = [Cell.of(one.value, one.ci) for one in found.values()]
        rows.append([name, Cell.by(numbers.percent, level.kept), *cells])
        noted += [((name, measure), one.note) for measure, one in found.items()]
    heads = ["image vectors", "kept", *(f"{name} Pearson" for name in MEASURES)]
    return Table.of_texts("Weakened image vectors", heads, rows, notes=gathered(noted), where="both")


def _differences(title: str, names: tuple[str, str], found: Differences, *pairs: PairValidation) -> Table:
    rows = [
        [*name, Cell.difference(one.value, one.ci), Cell.by(numbers.p_value, one.p)]
        for name, one in found.items()
    ]
    tests = gathered((" ".join(name), one.test) for name, one in found.items())
    notes = [
        *(f"Test: {line[5:]}" if line.startswith("All: ") else f"Test for {line}" for line in tests),
        *gathered((" ".join(name), one.note) for name, one in found.items()),
    ]
    heads = [*names, _with_interval("value", *pairs), "p"]
    return Table.of_texts(title, heads, rows, names=2, notes=notes, where="both")


def _with_interval(head: str, *pairs: PairValidation) -> Column:
    """Return a column of values with intervals, which are named by their level if all have the same."""
    found = [one for pair in pairs for own in pair.agreement.values() for one in own.values()]
    levels = {one.ci.level for one in found if one.ci}
    name = f"{numbers.percent(levels.pop())} interval" if len(levels) == 1 else "interval"
    return Column(f"{head}, {name}", short=head, interval=name)
