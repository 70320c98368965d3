"""Pages of weights, scores and ablations: tables of numbers under a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlingual.report import numbers, side_by_side
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from xlingual.nbest.ablation import Ablation, BleuDifference
    from xlingual.nbest.score import Scores, SystemScore
    from xlingual.nbest.weights import Spread, Weights
    from xlingual.results.runs import Compared

CHANCE = 0.05  # p-values below it are called significant
_TUNINGS = 5  # whose weights are shown
_CI = "95 % interval"


def weights_page(found: Weights) -> Page:
    """Return the page of a tuning: BLEU between its bounds, and the weights of each run."""
    bounds, tunings = found.bounds, found.tunings[:_TUNINGS]
    n, validated = found.bleu.n, found.cross_validated
    how = f"{found.algorithm}, " + (f"mean of {n} tunings ± sd" if n > 1 else "one tuning")
    rows = [
        ("decoder's choice", Cell.of(bounds.decoder, digits=2)),
        (how, _spread(found.bleu)),
        *([("the same, cross-validated", _spread(validated))] if validated else []),
        ("oracle (best sentence BLEU)", Cell.of(bounds.oracle, digits=2)),
        ("anti-oracle (worst sentence BLEU)", Cell.of(bounds.anti_oracle, digits=2)),
        (f"random choice, {bounds.random.n} times ± sd", _spread(bounds.random)),
    ]
    weights = [
        [name, *(Cell.of(one.weights[i], digits=4) for one in tunings)]
        for i, name in enumerate(found.features)
    ]
    choice = ("choice", Column("BLEU", interval="± sd"))
    heads = ["feature", *(f"seed {one.seed}" for one in tunings)]
    scaled = any(size != 1 for size in found.scale)
    divided = ("Weights are of features divided by their spread.",) if scaled else ()
    blocks = [
        Table.of_texts(f"BLEU on {found.n_lists:,} lists", choice, rows, where="both"),
        Table.of_texts("Weights", heads, weights, data=True, notes=(*divided, *found.notes), where="both"),
    ]
    return Page.of("weights", "weights", blocks, _of_tuning(found))


def scores_page(found: Scores) -> Page:
    """Return the systems with their measures, intervals and p-values, and the signatures."""
    blocks: list[Block] = []
    if found.side_by_side:
        blocks.append(side_by_side.table("Systems side by side", found.side_by_side))
    blocks += [_measure(found, one) for one in found.signatures]
    blocks += [Prose(f"{name}: {one}", whole=True, where="both") for name, one in found.signatures.items()]
    blocks += [Prose(note, where="both") for note in found.notes]
    return Page.of("scores", "scores", blocks, _gain(found))


def _measure(found: Scores, measure: str) -> Table:
    """Return the table of the systems by one measure."""
    better = " (smaller is better)" if measure == "TER" else ""
    mean = found.mean.get(measure)
    heads = [Column("system", "name", data=True), Column("value", interval=f"{_CI}, ± sd" if mean else _CI)]
    heads += [] if found.test is None else [Column(f"p ({found.test})")]
    rows = []
    for system in found.systems:
        score = system.scores[measure]
        p = Cell("baseline") if system.kind == "baseline" else Cell.by(numbers.p_value, score.p)
        name = Cell(system.name, tone="quiet" if system.kind == "bound" else "")
        rows.append((name, _scored(score), p)[: len(heads)])
    if mean:
        name = Cell(f"mean of {mean.n} systems ± sd", tone="best")
        rows.append((name, _spread(mean), Cell())[: len(heads)])
    return Table.of_texts(f"{measure}{better}", heads, rows, where="both")


def ablation_page(found: Ablation) -> Page:
    """Return BLEU without each set of features, and what having them gains."""
    rows = [Row((Cell("all"), _spread(found.bleu), Cell(), Cell()), tone="leader")]
    for row in found.rows:
        name, p = Cell(f"without {grouped(row.without)}"), Cell.by(numbers.p_value, row.gain.p)
        rows.append(Row((name, _spread(row.bleu), _scored(row.gain), p)))
    columns = (
        Column("features", "name", data=True),
        Column("BLEU", interval="± sd"),
        Column("gain of having them", interval=_CI),
        Column("p"),
    )
    title = f"BLEU on {found.n_lists:,} lists, {found.judged}"
    bounds = found.bounds
    sentence = (
        f"Bounds: decoder's choice {bounds.decoder:.2f}, oracle {bounds.oracle:.2f}, anti-oracle "
        f"{bounds.anti_oracle:.2f}, random choice {_spread(bounds.random).plain}."
    )
    table = Table(title, columns, tuple(rows), where="both")
    return Page.of("ablation", "ablation", [table, Prose(sentence, where="both")], _of_features(found))


def _points(value: float) -> str:
    """Return points of a measure, or a difference of them, with two decimals."""
    return numbers.number(value, digits=2)


def _spread(spread: Spread) -> Cell:
    """Return a mean, with the standard deviation where there is one."""
    after = "" if spread.sd is None else f"± {_points(spread.sd)}"
    return Cell(_points(spread.mean), after, value=spread.mean, spread=spread.sd)


def _scored(score: SystemScore | BleuDifference) -> Cell:
    return Cell.of(score.value, score.ci, digits=2)


def _of_tuning(found: Weights) -> list[str]:
    """Return what tuning gains over the decoder's choice, and how much the oracle gains, in sentences."""
    bounds = found.bounds
    room = bounds.oracle - bounds.decoder
    gain = found.bleu.mean - bounds.decoder
    of = f", of {room:.2f} that the oracle does" if room > 0 else ""
    gained = f"Tuning gains {_points(gain)} BLEU over the decoder's choice{of}, on the lists it was tuned on"
    if found.cross_validated is None:
        return [f"{gained}: --folds shows what it gains on others."]
    return [f"{gained}, and {_points(found.cross_validated.mean - bounds.decoder)} on sentences held out."]


def _gain(found: Scores) -> list[str]:
    """Return what systems gain in BLEU over their baseline, and whether that is significant."""
    own = [system for system in found.systems if system.kind == "system"]
    base = next((system for system in found.systems if system.kind == "baseline"), None)
    if found.side_by_side and (base is None or (found.mean == {} and len(own) > 1)):
        return [_beside(found.side_by_side)]
    if base is None or not own:
        return []
    bleu = {system.name: system.scores["BLEU"] for system in found.systems}
    over = bleu[base.name].value
    gain = sum(bleu[system.name].value for system in own) / len(own) - over
    room = f", of {bleu['oracle'].value - over:.2f} that the oracle does" if "oracle" in bleu else ""
    changed = f"{'gain' if gain >= 0 else 'lose'}{'s' if len(own) == 1 else ''} {abs(gain):.2f} BLEU"
    ps = [bleu[system.name].p for system in own]
    significant = sum(p is not None and p < CHANCE for p in ps)
    if len(own) == 1:
        chance = f"{'' if significant else 'not '}significant (p {numbers.p_value(ps[0])})"
        return [f"{own[0].name} {changed} over {base.name}{room if gain > 0 else ''}: {chance}."]
    return [
        f"{len(own)} systems {changed} over {base.name} on average{room if gain > 0 else ''}: "
        f"{significant} of them significantly (p below {CHANCE:g})."
    ]


def _beside(systems: Sequence[Compared]) -> str:
    """Return what the system with the best BLEU gains over the first one, and whether that is real."""
    first, *others = systems
    best = max(others, key=lambda one: one.scores["BLEU"].value)
    gain = best.scores["BLEU"].gain
    if gain is None or gain.ci is None:
        return f"{best.name} and {first.name} do not differ in BLEU."
    much = numbers.signed(gain.value, gain.ci, digits=2)
    among = f"Of {len(others)} systems, {best.name} has the best BLEU" if len(others) > 1 else best.name
    verb = ": " if len(others) > 1 else " differs by "
    real = "" if side_by_side.is_real(gain) else "not "
    p = numbers.p_value(gain.p_adjusted)
    return f"{among}{verb}{much} against {first.name}, {real}significant (p {p}, corrected)."


def _of_features(found: Ablation) -> list[str]:
    """Return which features help, in sentences; an interval that excludes zero shows it."""
    kinds = (
        ("Having them helps", [row for row in found.rows if row.gain.ci.low > 0]),
        ("Having them harms", [row for row in found.rows if row.gain.ci.high < 0]),
        ("Not significant", [row for row in found.rows if row.gain.ci.low <= 0 <= row.gain.ci.high]),
    )
    return [f"{what}: {'; '.join(grouped(row.without) for row in rows)}." for what, rows in kinds if rows]


def grouped(names: Sequence[str]) -> str:
    """Return the names of features with the values of one feature written once.

    >>> grouped(["lm", "tm[0]", "tm[1]", "w"])
    'lm, tm[0–1], w'
    """
    parts: dict[str, list[str]] = {}
    for name in names:
        label, bracket, place = name.partition("[")
        parts.setdefault(label, []).extend([place.removesuffix("]")] if bracket else [])
    written = []
    for label, places in parts.items():
        ends = [places[0], places[-1]] if len(places) > 1 else places
        written.append(f"{label}[{'–'.join(ends)}]" if places else label)
    return ", ".join(written)
