"""The JSON Schema of a request: one flat table, as in a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from xlingual.requests.record import Record, Request, leaves

_OWN: dict[type, dict[str, Any]] = {Path: {"type": "string"}}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: type[Record]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a request, as a TOML or JSON file holds it.

    A value that may be written as a text as well ("8GiB", "en,de") has both types.
    """
    fields: list[Any] = []
    if issubclass(kind, Request):
        name = Annotated[Literal[kind.command], Meta(description="The command.")]  # type: ignore[name-defined]
        fields.append(("command", name))
    for leaf in leaves(kind).values():
        wanted, given = leaf.type, leaf.given
        if leaf.marks.reads is not None:
            wanted |= str
        if callable(given):  # found when the command runs
            wanted, given = wanted | msgspec.UnsetType, msgspec.UNSET
        if isinstance(given, Path):
            given = str(given)
        described = Annotated[wanted, Meta(description=leaf.sentence)]  # type: ignore[valid-type]
        fields.append((leaf.key, described) if leaf.required else (leaf.key, described, given))
    flat = msgspec.defstruct(kind.__name__, fields, kw_only=True, forbid_unknown_fields=True)
    definition = msgspec.json.schema(flat, schema_hook=_OWN.__getitem__)["$defs"][kind.__name__]
    return {"$schema": _DRAFT, **definition, "description": " ".join((kind.__doc__ or "").split())}
