"""Signatures: everything a number depends on, as one line that can be compared.

A signature has two parts. Numbers with equal *conditions* (task, languages, data, sample, measure …) may be
compared; the *system* part says which encoder made them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

CONVENTIONS = "1"  # raised when a definition changes so that numbers or their names change
_UNSAFE = re.compile(r"[|%\s]")
SYSTEM = "system"  # the key that begins the system part


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
        pairs = [
            (key, self.conditions.get(key, "–"), other.conditions.get(key, "–"))
            for key in dict.fromkeys([*self.conditions, *other.conditions])
        ]
        return [f"{key}: {one} against {another}" for key, one, another in pairs if one != another]


def _escaped(value: str) -> str:
    """Return the value with bars, blanks and percent signs as %XX, so that it parses back."""
    return _UNSAFE.sub(lambda found: quote(found.group(), safe=""), str(value))
