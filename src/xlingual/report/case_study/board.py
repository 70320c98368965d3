"""Table 2 as the page draws it: models with their intervals on a common axis."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.report.axis import Axis, axis_for
from xlingual.report.case_study.wording import SCALE, interval, label, times
from xlingual.report.numbers import MISSING
from xlingual.results.case_study import BASE, CaseStudy, Model


@dataclass(frozen=True)
class Line:
    """A row: chance has no model, no interval and no bar."""

    label: str
    tag: str
    kind: str  # class of the row
    value: str
    interval: str
    pairs: str
    sd_pairs: str
    sd_trainings: str
    at: float | None = None
    low: float | None = None
    width: float | None = None


@dataclass(frozen=True)
class Board:
    """The table, its axis, and where chance lies on it."""

    axis: Axis
    chance: float | None
    lines: list[Line]
    spread: bool  # whether there are several trainings


def board(study: CaseStudy) -> Board:
    """Return the rows of the table, the best last, and chance first."""
    held = [model.value for model in study.models]
    held += [end for model in study.models if model.ci for end in (model.ci.low, model.ci.high)]
    held += [] if study.chance is None else [study.chance]
    axis = axis_for([SCALE * value for value in held], floor=0.0)
    best = max(model.value for model in study.models)
    chance = None if study.chance is None else axis.at(SCALE * study.chance)
    first = Line("chance", "", "unled", times(study.chance), "", MISSING, MISSING, MISSING, chance)
    lines = [_line(model, axis, best) for model in study.models]
    several = any(model.sd_training is not None for model in study.models)
    return Board(axis, chance, [first, *lines] if chance is not None else lines, several)


def _line(model: Model, axis: Axis, best: float) -> Line:
    low = None if model.ci is None else axis.at(SCALE * model.ci.low)
    width = None if model.ci is None or low is None else round(axis.at(SCALE * model.ci.high) - low, 2)
    values = [pair.value for pair in model.pairs]
    return Line(
        label=label(model),
        tag="base" if model.role == BASE else "",
        kind="leader" if model.value == best else "behind",
        value=times(model.value),
        interval=interval(model.ci),
        pairs=f"{times(min(values))} to {times(max(values))}" if len(values) > 1 else MISSING,
        sd_pairs=times(model.sd_pairs),
        sd_trainings=times(model.sd_training),
        at=axis.at(SCALE * model.value),
        low=low,
        width=width,
    )
