"""Columns as Hugging Face datasets writes them: numbers that stand for names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def with_names(table: pa.Table) -> pa.Table:
    """Return a table whose columns of the type ClassLabel hold the names of their classes, not numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for column, names in _class_names(table.schema).items():
        place = table.schema.get_field_index(column)
        if place >= 0 and pa.types.is_integer(table.schema.field(place).type):
            numbers = table.column(place)
            known = pc.and_(pc.greater_equal(numbers, 0), pc.less(numbers, len(names)))
            numbers = pc.if_else(known, numbers, pa.scalar(None, numbers.type))  # -1: none
            table = table.set_column(place, column, pc.take(pa.array(names, pa.large_string()), numbers))
    return table


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of each column that has some, from the schema's metadata."""
    try:
        features: Any = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: feature["names"]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}
