"""Pages of what files of results hold, made of their JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from website.markdown import block, cell, code, page, table
from xlingual.results.schemas import KINDS, schema_of

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the text of each page by its path below docs/."""
    files = {f"reference/schemas/{name}.md": _page(f"Schema of {name}", schema_of(name)) for name in KINDS}
    rows = [(f"[`{name}`](schemas/{name}.md)", _first_sentence(schema_of(name))) for name in KINDS]
    said = (
        "Every field of every JSON file that the program writes. `python -m xlingual.results.schemas NAME` "
        "prints the JSON Schema. What the files are for: [Files of results](results-files.md)."
    )
    return {
        "reference/schemas.md": page("Schemas of results", said, table(["Kind", "What it is"], rows)),
        **files,
    }


def _first_sentence(schema: Schema) -> str:
    root = _named(schema).get(_root(schema), schema)
    return cell(str(root.get("description", "")).partition("\n\n")[0])


def _root(schema: Schema) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _named(schema: Schema) -> dict[str, Schema]:
    return dict(schema.get("$defs", {}))


def _page(title: str, schema: Schema) -> str:
    records = _named(schema)
    root = _root(schema)
    first = records.pop(root) if root else schema
    parts = list(_record("", first))
    for name, record in records.items():
        if "properties" in record:
            parts += [f"## {name}", *_record(name, record)]
    return page(title, *parts)


def _record(name: str, record: Schema) -> Iterator[str]:
    yield cell(str(record.get("description", "")))
    needed = set(record.get("required", ()))
    rows = [
        (code(key), _type(one), "" if key in needed else _default(one), cell(str(one.get("description", ""))))
        for key, one in record.get("properties", {}).items()
    ]
    if rows:
        yield block("options", table(["Key", "Type", "Default", "What it is"], rows))


def _default(one: Schema) -> str:
    if "default" not in one or one["default"] in (None, [], {}):
        return "–"
    return code(str(one["default"]))


def _type(one: Schema) -> str:
    """Return the type of a value in words; records link to their table."""
    if "$ref" in one:
        name = str(one["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in one:
            return " or ".join(dict.fromkeys(_type(kind) for kind in one[several]))
    if "const" in one:
        return code(str(one["const"]))
    if "enum" in one:
        return ", ".join(code(str(word)) for word in one["enum"])
    if one.get("type") == "array":
        return f"list of {_type(one['items'])}" if one.get("items") else "list"
    if one.get("type") == "object":
        inner = one.get("additionalProperties")
        return f"table of {_type(inner)}" if isinstance(inner, dict) and inner else "table"
    found = one.get("type", "anything")
    return " or ".join(found) if isinstance(found, list) else str(found)
