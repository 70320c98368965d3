"""Kinds of encoders: measures by images compare encoders of one kind only, and name no leader across kinds.

An encoder is "general" (pretrained elsewhere), "fitted" (on texts of the domain) or "surface" (a baseline
that compares letters, words or nothing). On IKEA's products Backretrieval puts a map that was fitted there
(XLR R@1 .319) above multilingual-e5-small (.719): docs/explanation/what-backretrieval-cannot-see.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xlingual.errors import listed

KINDS = ("general", "fitted", "surface")
_MEANING = {
    "general": "pretrained elsewhere",
    "fitted": "fitted on texts of this domain",
    None: "of an unknown kind (say ?kind=general or ?kind=fitted)",
}  # of those that are not compared with each other
Kind = Mapping[str, Any]  # what is known of an encoder: a value of `Results.encoders`


def differences(kinds: Mapping[str, Kind]) -> list[str]:
    """Return in words how encoders differ in kind; nothing where measures by images compare them."""
    origins: dict[str | None, list[str]] = {}
    for name, kind in kinds.items():
        origins.setdefault(kind.get("kind"), []).append(name)
    on_images = [name for name, kind in kinds.items() if kind.get("trained_on_images")]
    compared = [kind for kind in _MEANING if kind in origins]
    found = []
    if 0 < len(on_images) < len(kinds):
        found.append(f"{_were(on_images)} trained on images, the others not")
    if len(compared) > 1:
        found += [f"{_were(origins[kind])} {_MEANING[kind]}" for kind in compared]
    return found


def no_leader(differing: Sequence[str]) -> str:
    """Return why no leader is named, and what decides instead: what follows a colon."""
    return (
        f"images compare encoders of one kind only, and {', while '.join(differing)}; let "
        "matches decide (xlingual evaluate xlr), or people (xlingual study)"
    )


def taken_as_one(kinds: Mapping[str, Kind]) -> list[str]:
    """Return a caution where several encoders are taken to be of one kind, since none is known."""
    names = [name for name, kind in kinds.items() if "kind" not in kind]
    if len(names) < 2:
        return []
    return [
        f"Encoders of one kind are assumed ({listed(names, 3)}); if some were fitted on texts of this domain "
        "and others not, say ?kind=fitted and ?kind=general."
    ]


def _were(names: Sequence[str]) -> str:
    some = listed(names, 3).rsplit(", ", len(names) in (2, 3))
    return f"{' and '.join(some)} {'was' if len(names) == 1 else 'were'}"
