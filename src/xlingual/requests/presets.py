"""Presets: options under one name, such as those of a paper. What is given besides wins over them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from xlingual.errors import InputError, did_you_mean, listed


@dataclass(frozen=True)
class Preset:
    """Values of options by the names of their fields; a request takes those that it has.

    `instead`: an option that, where it is given, leaves some of the values without a meaning.
    """

    values: Mapping[str, Any]
    instead: Mapping[str, Collection[str]] = field(default_factory=dict)

    def among(self, given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
        """Return the values of known options that are not given, and that those given leave a meaning."""
        replaced = {
            name for option, names in self.instead.items() if given.get(option) is not None for name in names
        }
        return {
            name: value
            for name, value in self.values.items()
            if name in known and name not in given and name not in replaced
        }


def preset_values(
    presets: Mapping[str, Preset], given: Mapping[str, Any], known: Collection[str]
) -> dict[str, Any]:
    """Return the values of the preset that `given` names, for options that it does not have itself.

    Raises InputError where the preset is not known.
    """
    name = given.get("preset")
    if name is None:
        return {}
    if name not in presets:
        raise InputError(
            f"--preset {name}: no such preset.{did_you_mean(str(name), presets)} Known: {listed(presets)}"
        )
    return presets[name].among(given, known)
