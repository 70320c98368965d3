"""Figure 3 of the paper: a box over language pairs for each model, and some pairs joined."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Box
from xlingual.report.figures.over_pairs import OverPairs
from xlingual.report.figures.pairs import FEWEST_FOR_BOX, box_of
from xlingual.report.findings.case_study import SCALE, label, times
from xlingual.results.case_study import BASE, TRIPLET, TRIPLET_XL, CaseStudy, Model


def over_pairs(study: CaseStudy, annotated: Sequence[tuple[str, str]] = ()) -> OverPairs:
    """Return the figure's content: the annotated pairs are followed, or Triplet's worst ones."""
    chance = [] if study.chance is None else [SCALE * study.chance]
    boxes = [_box(model) for model in study.models]
    about = f"{len(study.models)} models over {study.n_pairs} language pairs"
    return OverPairs(
        boxes,
        axis_for([*(value for box in boxes for value, _ in box.dots), *chance], floor=0.0),
        annotated or [(worst.source, worst.target) for worst in study.worst.shown],
        chance,
        begin=next((i for i, model in enumerate(study.models) if model.role == BASE), 0),
        first=[i for i, model in enumerate(study.models) if model.role in (TRIPLET, TRIPLET_XL)],
        spoken="; ".join([about, *(box.spoken for box in boxes)]),
    )


def _box(model: Model) -> Box:
    """Return the box of a model, and every language pair as a dot."""
    ordered = sorted(model.pairs, key=lambda pair: pair.value)
    keys = [(pair.source, pair.target) for pair in ordered]
    dots = [
        (SCALE * pair.value, f"{words.pair(*key)}: {times(pair.value)}")
        for key, pair in zip(keys, ordered, strict=True)
    ]
    values = [value for value, _ in dots]
    enough = len(values) >= FEWEST_FOR_BOX
    quartiles, low, high = box_of(values) if enough else (None, values[0], values[-1])
    spoken = f"{label(model)} from {times(ordered[0].value)} to {times(ordered[-1].value)}"
    return Box(label(model), spoken, quartiles, low, high, dots, keys)
