"""Signatures: everything a number depends on, as one line that can be compared.

A signature has two parts. Numbers with equal *conditions* (task, languages, data, sample, measure …) may be
compared; the *system* part says which encoder made them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

ROLES_SINCE = 3  # sources are queries and targets candidates, and signatures say where that matters
CONVENTIONS = "4"  # raised when a definition changes so that numbers or their names change
_UNSAFE = re.compile(r"[|%\s]")
SYSTEM = "system"  # the key that begins the system part


@dataclass(frozen=True)
class ConventionChange:
    """A change of conventions: the tasks, the beginnings of measure names that it concerns, and why.

    `prompts`: of older numbers it concerns only those of encoders that read queries and candidates in
    different ways: their prompts say so, or newer numbers of the same encoder, or the encoder is not known.
    """

    tasks: tuple[str, ...]
    measures: tuple[str, ...]
    why: str
    prompts: bool = False

    def concerns(self, older: Signature, newer: Signature) -> bool:
        """Return whether one of two numbers, from before and after it, has another meaning or name since."""
        if self.prompts:
            return older.conditions.get("task") in self.tasks and _by_role(older.system, newer.system)
        return any(self._renames(each.conditions) for each in (older, newer))

    def _renames(self, conditions: Mapping[str, str]) -> bool:
        if conditions.get("answers") == "several":  # R@k of cross-lingual retrieval with several target texts
            return True
        named = conditions.get("measure", "")
        return conditions.get("task") in self.tasks and named.startswith(self.measures)


def _by_role(older: Mapping[str, str], newer: Mapping[str, str]) -> bool:
    """Return whether roles may have changed an older number: of its encoder nothing else is known."""
    encoder = older.get("encoder")
    if encoder is None or "query_prompt=" in encoder or "candidate_prompt=" in encoder:
        return True
    return "roles" in newer and newer.get("encoder") == encoder


CHANGES = {
    2: ConventionChange(
        ("multilingual-pool", "image-sentence"),
        ("R@", "SetR@", "Success@"),
        "R@k was the hit rate, which is called Success@k since conventions 2; R@k is set recall now, which "
        "was called SetR@k",
    ),
    ROLES_SINCE: ConventionChange(
        ("backretrieval", "crosslingual-retrieval"),
        ("",),
        "prompts for queries and candidates count for the sources and targets of a language pair since "
        "conventions 3, and so do all other ways in which an encoder reads the two apart",
        prompts=True,
    ),
}


@dataclass(frozen=True)
class Signature:
    """Conditions and system of one number, as key → value."""

    conditions: Mapping[str, str]
    system: Mapping[str, str]

    def __str__(self) -> str:
        parts = [f"{key}:{_escaped(value)}" for key, value in self.conditions.items()]
        parts.append(f"{SYSTEM}:")
        parts += [f"{key}:{_escaped(value)}" for key, value in self.system.items()]
        return "|".join(parts)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read a printed signature; raise ValueError where it is not one.

        >>> Signature.parse("task:x|system:|encoder:e").conditions
        {'task': 'x'}
        """
        conditions: dict[str, str] = {}
        system: dict[str, str] = {}
        part = conditions
        for piece in text.split("|"):
            key, colon, value = piece.partition(":")
            if not colon:
                raise ValueError(f"not a signature: {piece!r} has no colon in {text!r}")
            if key == SYSTEM and part is conditions:
                part = system
                continue
            part[key] = unquote(value)
        return cls(conditions, system)

    def differences(self, other: Signature) -> list[str]:
        """Return the conditions in which two signatures differ, in words; empty where they are comparable."""
        keys = dict.fromkeys([*self.conditions, *other.conditions])
        found = []
        for key in keys:
            own, others = self.conditions.get(key), other.conditions.get(key)
            if own == others or (
                key == "conventions"
                and not _changed(self, other)
                and _known(self.conditions, other.conditions)
            ):
                continue
            difference = f"{key}: {'–' if own is None else own} against {'–' if others is None else others}"
            if key == "conventions" and (changes := _changed(self, other)):
                difference += f" ({'; '.join(change.why for change in changes)})"
            found.append(difference)
        return found


def same_conventions(one: Mapping[str, str], other: Mapping[str, str], *, by_role: bool = True) -> bool:
    """Return whether no change between the conventions of two numbers concerns them.

    Conditions say nothing of encoders. `by_role`: whether there may be one that reads queries and candidates
    in different ways.
    """
    if version(one) == version(other):
        return True
    return _known(one, other) and not _changed(*(_of_encoder(each, by_role) for each in (one, other)))


def reasons(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return the changes between the conventions of two numbers that concern them, in words; or ""."""
    return "; ".join(change.why for change in _changed(*(_of_encoder(each, True) for each in (one, other))))


def _of_encoder(conditions: Mapping[str, str], by_role: bool) -> Signature:
    """Return a signature of an encoder that is not known, or of one to which roles are alike."""
    return Signature(conditions, {} if by_role else {"encoder": ""})


def _known(*conditions: Mapping[str, str]) -> bool:
    return all(0 < version(each) <= int(CONVENTIONS) for each in conditions)


def _changed(one: Signature, other: Signature) -> list[ConventionChange]:
    """Return the changes between the conventions of two numbers that concern them."""
    older, newer = sorted((one, other), key=lambda each: version(each.conditions))
    low, high = version(older.conditions), version(newer.conditions)
    if low == 0:  # not known
        return []
    return [
        change for number, change in CHANGES.items() if low < number <= high and change.concerns(older, newer)
    ]


def version(conditions: Mapping[str, str]) -> int:
    """Return the version of the conventions, 0 where none is named."""
    named = conditions.get("conventions", "")
    return int(named) if named.isascii() and named.isdigit() else 0


def _escaped(value: str) -> str:
    """Return the value with bars, blanks and percent signs as %XX, so that it parses back."""
    return _UNSAFE.sub(lambda found: quote(found.group(), safe=""), str(value))
