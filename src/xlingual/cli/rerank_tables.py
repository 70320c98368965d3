"""Tables of weights and of scores for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlingual.cli import screen

CHANCE = 0.05  # below it a difference is called told from chance

if TYPE_CHECKING:
    from xlingual.nbest.score import Scores, System
    from xlingual.nbest.weights import Spread, Weights


def show_weights(found: Weights) -> None:
    """Print what a tuning found: BLEU between its bounds, and the weights of each run."""
    from rich.padding import Padding
    from rich.text import Text

    from xlingual.report.terminal import plain_table

    console = screen.console()
    console.print()
    bounds = found.bounds
    table = plain_table(f"BLEU on {found.n_lists:,} lists")
    several = found.bleu.n > 1
    how = (
        f"{found.algorithm}, mean of {found.bleu.n} tunings ± sd"
        if several
        else f"{found.algorithm}, one tuning"
    )
    validated = found.cross_validated
    rows = (
        ("decoder's choice", f"{bounds.decoder:.2f}"),
        (how, spread_text(found.bleu)),
        *([("the same, cross-validated", spread_text(validated))] if validated else []),
        ("oracle (best sentence BLEU)", f"{bounds.oracle:.2f}"),
        ("anti-oracle (worst sentence BLEU)", f"{bounds.anti_oracle:.2f}"),
        (f"random choice, {bounds.random.n} times ± sd", spread_text(bounds.random)),
    )
    head, values = aligned("BLEU", [value for _, value in rows])
    table.add_column("choice")
    table.add_column(head, no_wrap=True)
    for (name, _), value in zip(rows, values, strict=True):
        table.add_row(Text(name), value)
    for sentence in _verdict(found):
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    console.print()
    console.print(table)
    if _scaled(found):
        console.print(Padding("Weights are of features divided by their spread.", (0, 0, 1, 1)), markup=False)
    weights = plain_table("Weights")
    weights.add_column("feature")
    shown = found.tunings[:5]
    for tuning in shown:
        weights.add_column(f"seed {tuning.seed}", justify="right", no_wrap=True)
    for row, name in enumerate(found.features):
        weights.add_row(Text(name), *(f"{tuning.weights[row]:.4f}".replace("-", "−") for tuning in shown))
    console.print(weights)
    for note in found.notes:
        console.print(Padding(note, (0, 0, 0, 1)), markup=False)


def show_scores(found: Scores) -> None:
    """Print the systems with their measures, intervals and p-values, and the signatures."""
    from rich.padding import Padding
    from rich.text import Text

    from xlingual.report.terminal import plain_table

    console = screen.console()
    console.print()
    if said := _gain(found):
        console.print(Padding(said, (0, 0, 1, 1)), markup=False)
    for measure in found.signatures:
        better = " (smaller is better)" if measure == "TER" else ""
        table = plain_table(f"{measure}{better}")
        table.add_column("system", overflow="fold")
        values = [f"{system.scores[measure].value:.2f}" for system in found.systems]
        values += [spread_text(found.mean[measure])] if measure in found.mean else []
        head, values = aligned("value", values)
        table.add_column(head, no_wrap=True)
        table.add_column("95 % interval", justify="right", no_wrap=True)
        if found.test is not None:
            table.add_column(f"p ({found.test})", justify="right", no_wrap=True)
        for system, value in zip(found.systems, values, strict=False):
            cells = _cells(system, measure, found.test is not None)
            table.add_row(Text(system.name, style="dim" if system.kind == "bound" else ""), value, *cells)
        if measure in found.mean:
            name = f"mean of {found.mean[measure].n} systems ± sd"
            table.add_row(Text(name, style="bold"), values[-1])
        console.print(table)
    for measure, signature in found.signatures.items():
        console.print(f" {measure}: {signature}", markup=False, soft_wrap=True)  # to be copied whole
    for note in found.notes:
        console.print(Padding(note, (0, 0, 0, 1)), markup=False)


def _cells(system: System, measure: str, paired: bool) -> list[str]:
    score = system.scores[measure]
    interval = f"[{score.ci.low:.2f}, {score.ci.high:.2f}]" if score.ci is not None else "–"
    baseline = "baseline" if system.kind == "baseline" else p_text(score.p)
    return [interval, *([baseline] if paired else [])]


def _verdict(found: Weights) -> list[str]:
    """Return what tuning gains over the decoder's choice, and of how much, in sentences."""
    bounds = found.bounds
    room = bounds.oracle - bounds.decoder
    gain = found.bleu.mean - bounds.decoder
    of = f", of {room:.2f} that the oracle does" if room > 0 else ""
    said = f"Tuning gains {signed(gain)} BLEU over the decoder's choice{of}, on the lists it was tuned on"
    if found.cross_validated is None:
        return [f"{said}: what it gains on others, --folds shows."]
    return [f"{said}, and {signed(found.cross_validated.mean - bounds.decoder)} on sentences held out."]


def _gain(found: Scores) -> str | None:
    """Return what systems gain in BLEU over their baseline, and whether that is told from chance."""
    own = [system for system in found.systems if system.kind == "system"]
    base = next((system for system in found.systems if system.kind == "baseline"), None)
    if base is None or not own:
        return None
    bleu = {system.name: system.scores["BLEU"] for system in found.systems}
    over = bleu[base.name].value
    gain = sum(bleu[system.name].value for system in own) / len(own) - over
    room = f", of {bleu['oracle'].value - over:.2f} that the oracle does" if "oracle" in bleu else ""
    changed = f"{'gain' if gain >= 0 else 'lose'}{'s' if len(own) == 1 else ''} {abs(gain):.2f} BLEU"
    ps = [bleu[system.name].p for system in own]
    told = sum(p is not None and p < CHANCE for p in ps)
    if len(own) == 1:
        chance = f"{'' if told else 'not '}told from chance (p {p_text(ps[0])})"
        return f"{own[0].name} {changed} over {base.name}{room if gain > 0 else ''}: {chance}."
    return (
        f"{len(own)} systems {changed} over {base.name} on average{room if gain > 0 else ''}: {told} of them "
        f"told from chance (p below {CHANCE:g})."
    )


def grouped(names: Sequence[str]) -> str:
    """Return the names of features with the values of one feature written once.

    >>> grouped(["lm", "tm[0]", "tm[1]", "w"])
    'lm, tm[0–1], w'
    """
    parts: dict[str, list[str]] = {}
    for name in names:
        label, bracket, place = name.partition("[")
        parts.setdefault(label, []).extend([place.removesuffix("]")] if bracket else [])
    told = (
        label
        if not places
        else f"{label}[{places[0]}]"
        if len(places) == 1
        else f"{label}[{places[0]}–{places[-1]}]"
        for label, places in parts.items()
    )
    return ", ".join(told)


def aligned(head: str, values: Sequence[str]) -> tuple[str, list[str]]:
    """Return the head of a column and its numbers with their points below each other, "± sd" behind or not.

    >>> aligned("BLEU", ["9.50", "35.48 ± 0.05"])
    (' BLEU', [' 9.50', '35.48 ± 0.05'])
    """
    width = max(len(text.partition(" ± ")[0]) for text in (head, *values))
    return head.rjust(width), [" " * (width - len(text.partition(" ± ")[0])) + text for text in values]


def p_text(p: float | None) -> str:
    """Return a p-value as it is shown."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def signed(value: float) -> str:
    """Return a difference of points with two decimals."""
    return f"{value:.2f}".replace("-", "−")


def spread_text(spread: Spread) -> str:
    """Return a mean, with the standard deviation where there is one."""
    return f"{spread.mean:.2f}" if spread.sd is None else f"{spread.mean:.2f} ± {spread.sd:.2f}"


def _scaled(found: Weights) -> bool:
    return any(size != 1 for size in found.scale)
