"""`xlingual encoders`: the schemes, what they encode, and the packages they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.extras import missing, packages, pip_line
from xlingual.online import page as address
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Column, Table, TableRoom
from xlingual.requests.single import EncodersRequest

if TYPE_CHECKING:
    from xlingual.encoders import Scheme


_SUMMARY = Column("what it is", "name", data=True)


@dataclass(frozen=True)
class SchemeRow:
    """A scheme, and what it needs."""

    name: str
    scheme: Scheme

    @property
    def missing(self) -> tuple[str, ...]:
        """The optional packages that are not installed."""
        return missing(self.scheme.extra) if self.scheme.extra else ()

    @property
    def pip(self) -> str | None:
        """What installs the packages that are missing; None where none is."""
        return pip_line(self.scheme.extra) if self.scheme.extra and self.missing else None

    @property
    def returns_lists(self) -> bool:
        """Whether it is a search system, and no encoder."""
        return "lists" in self.scheme.takes

    @property
    def encodes(self) -> str:
        """What it encodes, in words."""
        return "–" if self.returns_lists else ", ".join(self.scheme.takes)

    def to_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        scheme = self.scheme
        return {
            "name": self.name,
            "spec": scheme.form,
            "encodes": [] if self.returns_lists else list(scheme.takes),
            "returns_lists": self.returns_lists,
            "summary": scheme.summary,
            "options": [
                {"name": option.name, "default": option.default, "summary": option.summary}
                for option in scheme.options
            ],
            "packages": list(packages(scheme.extra)) if scheme.extra else [],
            "missing": list(self.missing),
            "install": self.pip,
        }


@command(EncodersRequest, short_help="List the kinds of encoders and the packages that they need.")
def encoders(request: EncodersRequest) -> None:
    """List the schemes of encoders: what each scheme encodes, and whether its packages are installed.

    With NAME, show how to write specs of that scheme and their options. No encoder is loaded.
    """
    from xlingual.encoders import SCHEMES

    rows = {name: SchemeRow(name, scheme) for name, scheme in SCHEMES.items()}
    if request.name is None:
        content = {"schemes": [row.to_dict() for row in rows.values()]}
        screen.show_page(_page_of_all(list(rows.values())), content, request)
        return
    word = request.name.partition(":")[0].partition("?")[0]
    if word not in rows:
        raise InputError(f"no scheme {word!r}.{did_you_mean(word, rows)} Known: {listed(rows, 40)}")
    screen.show_page(_page_of_one(rows[word], rows[word].scheme), rows[word].to_dict(), request)


def _page_of_all(rows: Sequence[SchemeRow]) -> Page:
    lines = [f"{row.name} needs {row.pip}" for row in rows if row.pip]
    lines.append("options of one: xlingual encoders NAME")
    lines.append(f"specs: {address('reference/encoders')}")
    encoding, listing = ([row for row in rows if row.returns_lists == which] for which in (False, True))
    blocks: list[Block] = [
        _all_table("Encoders", encoding, full=True),
        _all_table("Runs, which are lists of candidates", listing, full=True),
        *(Prose(line, whole=True, where="both") for line in lines),
    ]
    return Page.of("encoders", "Encoders", blocks)


def _all_table(title: str, rows: Sequence[SchemeRow], full: bool) -> Table:
    """Return the table of schemes; in the short form a scheme is its name only."""
    cells = [
        (row.scheme.form if full else row.name, row.encodes, row.scheme.summary, _state(row)) for row in rows
    ]
    heads = ("spec" if full else "scheme", Column("encodes", "words"), _SUMMARY, Column("packages", "words"))
    return Table.of_texts(
        title, heads, cells, looks=(TableRoom(names=24),), where="both",
        instead=_all_table(title, rows, full=False) if full else None,
    )  # fmt: skip


def _state(row: SchemeRow) -> str:
    """Return whether what a scheme needs is there, in a word or two."""
    if row.missing:
        return "missing"
    return "installed" if row.scheme.extra else "–"


def _page_of_one(row: SchemeRow, scheme: Scheme) -> Page:
    plain = f"{row.name}:{scheme.argument or ''}"
    lines = [
        f"{plain}{'?key=value&…' if scheme.options else ''}{scheme.form.removeprefix(plain)}",
        scheme.summary,
        "returns lists of candidates" if row.returns_lists else f"encodes {' and '.join(scheme.takes)}",
    ]
    if scheme.extra:
        state = f"not installed: {', '.join(row.missing)}; {row.pip}" if row.missing else "installed"
        lines.append(f"needs {', '.join(packages(scheme.extra))} ({state})")
    block: Block = Prose("it has no options", where="both")
    if scheme.options:
        cells = [(option.name, _default(option.default), option.summary) for option in scheme.options]
        heads = ("option", Column("default", "words"), _SUMMARY)
        block = Table.of_texts("options", heads, cells, looks=(TableRoom(names=40),), where="both")
    return Page.of("encoders", row.name, [block], lines)


def _default(value: object) -> str:
    """Return a default as a spec would have it."""
    match value:
        case None:
            return "–"
        case tuple():
            return "-".join(map(str, value))
        case float():
            return f"{value:g}"
    return str(value)
