"""One line of an n-best list: `id ||| hypothesis ||| Name1= v v … ||| score ||| more`."""

from __future__ import annotations

import math
from typing import NamedTuple

from xlingual.errors import InputError

BARS = "|||"
_BLANKS = " \t"


class HypothesisLine(NamedTuple):
    """A hypothesis as it stands in a file."""

    number: int  # of the line, counted from 1
    sentence: int
    hypothesis: str
    groups: tuple[tuple[str, int], ...]  # labels, and how many values each has
    values: list[float]
    score: float
    extra: tuple[str, ...]  # the fields after the score


def parse_line(text: str, number: int, where: str) -> HypothesisLine:
    """Return what a line without its end says; raise InputError that names `where` and the line.

    Blanks around the bars may be missing, and a label may end in ":" for "=". Values before any label have
    the label "F".

    >>> parse_line("0||| this . ||| d: 0 -7.7 lm: -41.3 ||| -14.6", 1, "a.nbest").groups
    (('d', 2), ('lm', 1))
    """
    fields = [field.strip(_BLANKS) for field in text.split(BARS)]
    if len(fields) < 4:
        raise InputError(
            f"{where}, line {number}: expected id ||| hypothesis ||| features ||| score, found {len(fields)} "
            f"{'field' if len(fields) == 1 else 'fields'}: {text[:60]!r}"
        )
    if not fields[0].isascii() or not fields[0].isdigit():
        raise InputError(
            f"{where}, line {number}: the id must be a number counted from 0, found {fields[0][:40]!r}"
        )
    try:
        groups, values = _features(fields[2])
        score = _number(fields[3], "the score")
    except ValueError as error:
        raise InputError(f"{where}, line {number}: {error}") from None
    return HypothesisLine(number, int(fields[0]), fields[1], groups, values, score, tuple(fields[4:]))


def _features(field: str) -> tuple[tuple[tuple[str, int], ...], list[float]]:
    """Return the labels with their number of values, and the values."""
    counts: dict[str, int] = {}
    values: list[float] = []
    label = ""

    def begin(found: str) -> str:
        if found in counts:
            raise ValueError(f"the label {found!r} occurs twice: give each feature a different label")
        counts[found] = 0
        return found

    for token in field.split():
        if token[-1] in "=:" and len(token) > 1:
            label = begin(token[:-1])
            continue
        try:
            value = float(token)
        except ValueError:  # a label without a blank before its value
            cut = max(token.rfind("="), token.rfind(":"))
            if cut > 0:
                label, token = begin(token[:cut]), token[cut + 1 :]
            value = _number(token, f"a value of feature {label or 'F'!r}")
        label = label or begin("F")
        if not math.isfinite(value) or "_" in token:
            value = _number(token, f"a value of feature {label!r}")
        counts[label] += 1
        values.append(value)
    if empty := next((name for name, count in counts.items() if not count), None):
        raise ValueError(f"feature {empty!r} has no value: give one, or leave the label out")
    return tuple(counts.items()), values


def _number(text: str, what: str) -> float:
    """Return a finite number; raise ValueError in words otherwise."""
    try:
        value = float(text.replace("_", "no digit"))  # which float takes for one
    except ValueError:
        raise ValueError(f"{what} must be a number, found {text[:40]!r}") from None
    if not math.isfinite(value):
        raise ValueError(
            f"{what} is {text}: only finite numbers can be weighted; mend it, or leave the hypothesis out"
        )
    return value


def line_of(
    sentence: int,
    hypothesis: str,
    groups: tuple[tuple[str, int], ...],
    values: list[float],
    score: float,
    extra: tuple[str, ...],
) -> str:
    """Return a hypothesis in canonical form, without the end of the line.

    >>> line_of(0, "ja .", (("lm", 1), ("tm", 2)), [-1.5, 0.25, -2.0], -3.25, ())
    '0 ||| ja . ||| lm= -1.5 tm= 0.25 -2 ||| -3.25'
    """
    parts: list[str] = []
    at = 0
    for label, count in groups:
        parts.append(f"{label}=")
        parts += [number_text(value) for value in values[at : at + count]]
        at += count
    fields = [str(sentence), hypothesis, " ".join(parts), number_text(score), *extra]
    return f" {BARS} ".join(fields)


def number_text(value: float) -> str:
    """Return the shortest text that reads as the same float64, without a ".0" at its end.

    >>> [number_text(value) for value in (-2.0, 0.1, 1e-7, -0.0)]
    ['-2', '0.1', '1e-07', '-0']
    """
    return repr(float(value)).removesuffix(".0")
