"""Systems that are made of others: whose names there must be, and which must be known first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlingual.encoders import Encoder
from xlingual.encoders.schemes import SCHEMES
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.systems.base import ListSystem


def parts_of(one: Encoder | ListSystem) -> tuple[str, ...]:
    """Return the names of the systems that a system is made of."""
    return one.parts if isinstance(one, ListSystem) else ()


def needed(systems: Mapping[str, Encoder | ListSystem], names: Iterable[str]) -> list[str]:
    """Return these systems and all that they are made of, each once, those that others need first."""
    found: dict[str, None] = {}
    for name in names:
        for part in needed(systems, parts_of(systems[name])):
            found[part] = None
        found[name] = None
    return list(found)


def check_parts(systems: Mapping[str, Encoder | ListSystem]) -> None:
    """Raise InputError where a system is made of one that is not there, or of itself."""
    for name, one in systems.items():
        for part in parts_of(one):
            if part not in systems:
                others = sorted(systems.keys() - {name})
                known = f" Systems: {listed(others, 20)}" if others else " There is no other system here"
                near = did_you_mean(part, others)
                if part.partition(":")[0].partition("?")[0] in SCHEMES:
                    known += f"; add {parameter('text_encoders', part)}"
                raise InputError(
                    f"{name!r} is made of {part!r}, and no system here has that name.{near}{known}"
                )
    for name in systems:
        _refuse_circle(systems, name, ())


def _refuse_circle(systems: Mapping[str, Encoder | ListSystem], name: str, above: tuple[str, ...]) -> None:
    if name in above:
        way = " → ".join((*above[above.index(name) :], name))
        raise InputError(f"{name!r} is made of itself ({way}): name other systems")
    for part in parts_of(systems[name]):
        _refuse_circle(systems, part, (*above, name))
