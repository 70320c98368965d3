"""Options under headings, where a command has many."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

F = TypeVar("F", bound="Callable[..., Any] | click.Command")

_SECTION = "section"
_FIRST = "Options"


def section(title: str) -> Callable[[Callable[[F], F]], Callable[[F], F]]:
    """Return what shows the options that a decorator adds under a heading of their own."""

    def headed(options: Callable[[F], F]) -> Callable[[F], F]:
        @wraps(options)
        def add(function: F) -> F:
            before = set(map(id, _options_of(function)))
            function = options(function)
            for option in _options_of(function):
                if id(option) not in before and not hasattr(option, _SECTION):
                    setattr(option, _SECTION, title)
            return function

        return add

    return headed


def _options_of(function: Callable[..., Any] | click.Command) -> list[click.Parameter]:
    if isinstance(function, click.Command):
        return function.params
    return list(getattr(function, "__click_params__", []))


class Sectioned(click.Command):
    """A command whose help shows its options under headings; its own come first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        rows: dict[str, list[tuple[str, str]]] = {_FIRST: []}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                rows.setdefault(getattr(option, _SECTION, _FIRST), []).append(record)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
