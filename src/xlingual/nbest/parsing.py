"""One line of an n-best list: `id ||| hypothesis ||| Name1= v v … ||| score ||| more`."""

from __future__ import annotations

import math
from typing import NamedTuple

from xlingual.errors import InputError

BARS = "|||"
_BLANKS = " \t"


class Line(NamedTuple):
    """A hypothesis as it stands in a file."""

    number: int  # of the line, counted from 1
    sentence: int
    hypothesis: str
    groups: tuple[tuple[str, int], ...]  # labels, and how many values each has
    values: list[float]
    score: float
    extra: tuple[str, ...]  # the fields after the score


def parse_line(text: str, number: int, where: str) -> Line:
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
    return Line(number, int(fields[0]), fields[1], groups, values, score, tuple(fields[4:]))


def _features(field: str) -> tuple[tuple[tuple[str, int], ...], list[float]]:
    """Return the labels with their number of values, and the values."""
    labels: list[str] = []
    counts: list[int] = []
    values: list[float] = []
    for token in field.split():
        if token[-1] in "=:" and len(token) > 1:
            _begin(token[:-1], labels, counts)
            continue
        try:
            value = float(token)
        except ValueError:  # a label without a blank before its value
            cut = max(token.rfind("="), token.rfind(":"))
            if cut > 0:
                _begin(token[:cut], labels, counts)
            token = token[cut + 1 :] if cut > 0 else token
            value = _number(token, f"a value of feature {labels[-1] if labels else 'F'!r}")
        if not labels:
            _begin("F", labels, counts)
        if not math.isfinite(value) or "_" in token:
            value = _number(token, f"a value of feature {labels[-1]!r}")
        counts[-1] += 1
        values.append(value)
    empty = [label for label, count in zip(labels, counts, strict=True) if not count]
    if empty:
        raise ValueError(f"feature {empty[0]!r} has no value: give one, or leave the label out")
    return tuple(zip(labels, counts, strict=True)), values


def _begin(label: str, labels: list[str], counts: list[int]) -> None:
    if label in labels:
        raise ValueError(f"the label {label!r} stands twice: give each feature a label of its own")
    labels.append(label)
    counts.append(0)


def _number(text: str, what: str) -> float:
    """Return a finite number; raise ValueError in words otherwise."""
    try:
        value = float(text) if "_" not in text else math.inf
    except ValueError:
        raise ValueError(f"{what} must be a number, found {text[:40]!r}") from None
    if "_" in text:
        raise ValueError(f"{what} must be a number, found {text[:40]!r}")
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
