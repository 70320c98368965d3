"""What a suite found: headline numbers of evaluations, comparisons, and the outcomes of gates."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import Answer
from xlingual.results.gate import FAIL, PASS, UNDECIDED
from xlingual.results.values import Interval, Number, about, among

LEADER, LEVEL, BEHIND, UNKNOWN = "leader", "level", "behind", "unknown"  # how encoders stand


class Headline(Struct, frozen=True):
    """The headline number of one encoder."""

    encoder: Annotated[str, about("Name of the encoder.")]
    value: Annotated[Number | None, about("Its mean; null where there is none.")]
    ci: Annotated[Interval | None, about("Interval of the mean.")]
    standing: Annotated[
        str,
        among(LEADER, LEVEL, BEHIND, UNKNOWN),
        about("leader; level where the paired difference to it may be zero; else behind, or unknown."),
    ]


class Part(Struct, frozen=True):
    """One step of a suite."""

    data: Annotated[str, about("The data set, by its name in the suite.")]
    task: Annotated[str, about("The task, by its name in the suite.")]
    folder: Annotated[str, about("Its folder, relative to that of the suite's results.")]
    sentences: Annotated[list[str], about("Its verdict in words, the most important first.")]


class Evaluated(Part, frozen=True, kw_only=True):
    """An evaluation: each encoder's headline number."""

    kind: Annotated[str, about("The task itself, such as backretrieval.")]
    measure: Annotated[str, about("The headline measure.")]
    numbers: Annotated[list[Headline], about("The number of each encoder, the best first.")]


class Compared(Part, frozen=True, kw_only=True):
    """A comparison of the encoders of an evaluation."""

    name: Annotated[str, about("Its name in the suite.")]


class Gated(Compared, frozen=True, kw_only=True):
    """A gate, and its outcome."""

    outcome: Annotated[str, among(PASS, FAIL, UNDECIDED), about("The answer: pass, fail or cannot tell.")]


class Suite(Answer, frozen=True, kw_only=True, tag="xlingual/suite/1"):
    """Everything that a suite found, for its entry page."""

    made_by = "xlingual run SUITE"
    file = "suite.json"
    derived = ("index.html",)

    title: Annotated[str, about("Title of the suite.")]
    evaluations: Annotated[list[Evaluated], about("The evaluations, in the order of the suite.")]
    comparisons: Annotated[list[Compared], about("The comparisons.")] = field(default_factory=list)
    gates: Annotated[list[Gated], about("The gates.")] = field(default_factory=list)
    absent: Annotated[
        list[str], about("Steps of the suite that are not computed yet, or not up to date.")
    ] = field(default_factory=list)
