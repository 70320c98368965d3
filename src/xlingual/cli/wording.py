"""Errors and warnings in the words of the command line: parameters of Python become options."""

from __future__ import annotations

import re
from ast import literal_eval
from functools import partial
from shlex import quote

import click

from xlingual.requests import Request, leaves

_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_VALUE = rf"…|True|{_STRING}|\[(?:{_STRING}|, )*\]"
_ONE = rf"(?<![\w?&])([a-z][a-z_]*)=({_VALUE})"
_SEVERAL = re.compile(rf"{_ONE}(?:, {_ONE})*")


def in_options(text: str, kind: type[Request] | None = None) -> str:
    """Return a text with the options of a command (of the one that runs) for what `parameter` wrote.

    What is no option of the command stays as it is.
    """
    if kind is None:
        context = click.get_current_context(silent=True)
        kind = getattr(context.command, "kind", None) if context is not None else None
    return text if kind is None else _SEVERAL.sub(partial(_options, kind), text)


def _options(kind: type[Request], found: re.Match[str]) -> str:
    """Return the options of parameters, with spaces between where they have values."""
    known, made = leaves(kind), []
    for name, written in re.findall(_ONE, found[0]):
        leaf = known.get(name) or known.get(name.removesuffix("s"))
        if leaf is None:
            return found[0]
        value = "" if written in ("…", "True") else literal_eval(written)
        words = ",".join(value) if isinstance(value, list) else str(value)
        made.append(f"{leaf.names[0]} {quote(words)}" if words else leaf.names[0])
    return (", " if "…" in found[0] else " ").join(made)
