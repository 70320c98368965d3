"""Pages of weights and scores: tables of numbers under a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.report import numbers
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from xlingual.nbest.score import Scores, SystemScore
    from xlingual.nbest.weights import Spread, Weights

CHANCE = 0.05  # p-values below it are called significant
_TUNINGS = 5  # whose weights are shown
_CI = "95 % interval"


def weights_page(found: Weights) -> Page:
    """Return the page of a tuning: BLEU between its bounds, and the weights of each run."""
    bounds, tunings = found.bounds, found.tunings[:_TUNINGS]
    n, validated = found.bleu.n, found.cross_validated
    how = "mira, " + (f"mean of {n} tunings ± sd" if n > 1 else "one tuning")
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
    blocks: list[Block] = [_measure(found, one) for one in found.signatures]
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


def _points(value: float) -> str:
    """Return points of a measure, or a difference of them, with two decimals."""
    return numbers.number(value, digits=2)


def _spread(spread: Spread) -> Cell:
    """Return a mean, with the standard deviation where there is one."""
    after = "" if spread.sd is None else f"± {_points(spread.sd)}"
    return Cell(_points(spread.mean), after, value=spread.mean, spread=spread.sd)


def _scored(score: SystemScore) -> Cell:
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
