"""How texts are compared: by cosine, or by cosine with hubs corrected by a bank of training queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xlingual.encoders.spec import parse
from xlingual.errors import InputError, did_you_mean, parameter
from xlingual.ranking import Correction, Csls, InvertedSoftmax
from xlingual.ranking.hubs import LARGEST_BETA, LEAST_BETA

COSINE = "cosine"
_WORD = re.compile(r"([\w-]+):?(?:\?(.*))?")
_CORRECTIONS: Mapping[str, tuple[Callable[..., Correction], str]] = {
    "csls": (Csls, "k"),
    "inverted-softmax": (InvertedSoftmax, "beta"),
}
_ALL = f"{COSINE}, {' or '.join(f'{name}?fit=FILE#train' for name in _CORRECTIONS)}"
_MEANING = {
    "k": "k, a whole number of nearest texts, 1 at least",
    "beta": f"beta, a number from {LEAST_BETA:g} to {LARGEST_BETA:g}",
    "fit": "fit, the training queries (fit=FILE#train)",
}


@dataclass(frozen=True)
class Fitted:
    """A correction of hubs and where its bank of training queries is, before these have vectors."""

    correction: Correction
    fit: str
    written: str


def repair_of(similarity: str) -> Fitted | None:
    """Return the correction of hubs that a similarity stands for, None for plain cosine.

    >>> repair_of("csls?k=5&fit=products.parquet#train").correction
    Csls(k=5)

    Raises InputError where a similarity is not known.
    """
    if not isinstance(similarity, str):
        raise InputError(f"a similarity is {_ALL}, found {type(similarity).__name__}")
    found = _WORD.fullmatch(similarity)
    word, options = (found[1], found[2]) if found else (similarity, None)
    if word == COSINE and not options:
        return None
    if word not in _CORRECTIONS:
        raise InputError(
            f"{parameter('similarity', similarity)} is not known: expected {_ALL}."
            f"{did_you_mean(word, (COSINE, *_CORRECTIONS))}"
        )
    make, name = _CORRECTIONS[word]
    given = _options(similarity, word, (name, "fit"))
    if "fit" not in given:
        mark = "&" if "?" in similarity else "?"
        raise InputError(
            f"{parameter('similarity', similarity)} does not say which queries show what is a hub: name "
            f"training queries, which are not evaluated: {similarity}{mark}fit=FILE#train"
        )
    fit = given.pop("fit")
    return Fitted(make(**given), fit, similarity)


def correction_of(written: str) -> Correction:
    """Return the correction of hubs that a similarity without fit= stands for, such as "csls?k=10"."""
    word, _, _ = written.partition("?")
    if word not in _CORRECTIONS:
        raise InputError(f"similarity {written!r} is not known; known: {', '.join(_CORRECTIONS)}")
    make, name = _CORRECTIONS[word]
    return make(**_options(written, word, (name,)))


def _options(similarity: str, word: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of a similarity; raise InputError where one is not known or makes no sense."""
    meaning = "; ".join(_MEANING[name] for name in names)
    example = {"k": "k=10", "beta": "beta=20", "fit": "fit=FILE#train"}
    how = f"{word} has {meaning}: write {word}?{'&'.join(example[name] for name in names)}"
    problem = f"{parameter('similarity', similarity)}: {how}"
    try:
        written = parse(similarity, {word}).options
    except InputError as error:
        raise InputError(problem) from error
    found: dict[str, Any] = {}
    for name, value in written:
        if name not in names or name in found:
            raise InputError(problem)
        found[name] = _value(name, value, problem)
    return found


def _value(name: str, value: str, problem: str) -> int | float | str:
    if name == "fit" and value:
        return value
    if name == "k" and value.isascii() and value.isdecimal() and 1 <= int(value) < 10**9:
        return int(value)
    if name == "beta":
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if LEAST_BETA <= number <= LARGEST_BETA:
            return number
    raise InputError(problem)
