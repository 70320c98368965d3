"""The values inside a graph of ONNX: their names, and the graph with one of them as a further output.

A model is a message of protocol buffers. Its fields are read here as far as names need it, so that `onnx:`
needs onnxruntime alone. Numbers of fields: onnx.proto of ONNX.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xlingual.errors import InputError, did_you_mean

_GRAPH = 7  # of ModelProto
_NODE, _OUTPUT = 1, 12  # of GraphProto
_NODE_OUTPUT, _OPERATOR = 2, 4  # of NodeProto
_NAME = 1  # of ValueInfoProto
_BYTES, _SIZES = 2, {1: 8, 5: 4}  # wire types
_SHOWN = 8  # values named in an error


def with_output(path: Path, name: str, who: str) -> bytes:
    """Return the model of a file with the value `name` as an output; InputError where it has none such."""
    content = path.read_bytes()
    try:
        operators, outputs = values(content)
    except (IndexError, UnicodeDecodeError):
        raise InputError(f"{who}: {path.name} cannot be read as ONNX: export the model again") from None
    if name in outputs:
        return content
    if name not in operators:
        near = did_you_mean(name, operators)
        last = ", ".join(f"{value} ({operator})" for value, operator in list(operators.items())[-_SHOWN:])
        raise InputError(
            f"{who}: output={name}: {path.name} has no such value.{near} The last of its {len(operators):,} "
            f"values are {last}"
        )
    # a message that stands twice is merged: this one adds to the outputs
    return content + _field(_GRAPH, _field(_OUTPUT, _field(_NAME, name.encode())))


def values(content: bytes) -> tuple[dict[str, str], list[str]]:
    """Return the operator that gives each value of a model, in the order of the graph, and the outputs."""
    operators: dict[str, str] = {}
    outputs: list[str] = []
    for number, graph in _fields(memoryview(content)):
        if number != _GRAPH:
            continue
        for kind, part in _fields(graph):
            if kind == _OUTPUT:
                outputs += [str(name, "utf-8") for number, name in _fields(part) if number == _NAME]
            elif kind == _NODE:
                node = list(_fields(part))
                operator = next((str(text, "utf-8") for number, text in node if number == _OPERATOR), "")
                operators |= {str(n, "utf-8"): operator for number, n in node if number == _NODE_OUTPUT and n}
    return operators, outputs


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of the fields of a message that are bytes, text or messages."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        kind = key & 7
        if kind == _BYTES:
            size, place = _number(message, place)
            if place + size > len(message):
                raise IndexError
            yield key >> 3, message[place : place + size]
            place += size
        elif kind in _SIZES:
            place += _SIZES[kind]
        elif kind == 0:
            _, place = _number(message, place)
        else:
            raise IndexError


def _number(message: memoryview, place: int) -> tuple[int, int]:
    """Return the number of variable length that begins at a place, and the place behind it."""
    number = shift = 0
    while True:
        byte = message[place]
        number |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return number, place


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
