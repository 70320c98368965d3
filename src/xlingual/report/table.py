"""Tables: cells that carry a number with its interval, badges, a bar, and the difference to a baseline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from xlingual.report import numbers
from xlingual.report.axis import Axis
from xlingual.report.marking import bare
from xlingual.report.shapes import Drawing
from xlingual.results import Interval

# "terminal": Markdown, LaTeX and CSV show the same; of blocks also "written": the page and these three, where
# it is too much for a terminal, and "screen": a terminal alone
Where: TypeAlias = Literal["both", "page", "terminal", "written", "screen"]
Tone: TypeAlias = Literal["", "best", "gain", "loss", "quiet", "real"]


@dataclass(frozen=True)
class Badge:
    """A word or two beside a name; `long` has more room, `kind` is its colour."""

    text: str
    kind: Literal["", "soft", "warn", "outline"] = ""
    long: str = ""
    where: Where = "both"


@dataclass(frozen=True)
class Bar:
    """A value with its interval on the axis of its table, and lines at what it is compared with."""

    value: float | None
    ends: tuple[float, float] | None = None  # of the interval
    lines: tuple[tuple[str, float], ...] = ()  # (kind, value): chance, oracle …
    spoken: str = ""
    arrows: bool = False  # show where the interval goes on beyond the axis


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its text, interval, badges, bar, and the values behind them."""

    text: str = ""
    interval: str = ""
    badges: tuple[Badge, ...] = ()
    gap: Cell | None = None  # the difference to a baseline: beside it, or below it in a table of two lines
    title: str = ""  # on hover
    tone: Tone = ""
    mark: str = ""  # a sign after the text in a terminal and in texts, where the page has a tone
    link: str = ""  # where the number comes from: a page beside this one
    bar: Bar | Drawing | None = None
    value: float | int | str | None = None  # at full precision, for CSV
    ends: tuple[float, float] | None = None  # of the interval, for CSV
    spread: float | None = None  # the number after ± in place of the interval, for CSV

    @classmethod
    def of(
        cls, value: float | None, ci: Interval | None = None, measure: str = "", *,
        digits: int | None = None, **more: Any,  # noqa: ANN401  (fields of a cell)
    ) -> Cell:  # fmt: skip
        """Return the cell of a number with its interval."""
        text = numbers.with_interval(value, ci, measure, digits=digits)
        return cls._of_text(text, value, ci, **more)

    @classmethod
    def difference(
        cls, value: float | None, ci: Interval | None, measure: str = "", *,
        marks: Sequence[float] = (0.0,), signed: bool = False, **more: Any,  # noqa: ANN401  (fields of a cell)
    ) -> Cell:  # fmt: skip
        """Return the cell of a difference: digits enough to see on which side of a mark an end lies."""
        if value is None:
            return cls(numbers.MISSING, **more)
        text = numbers.number(value, measure) if ci is None else numbers.difference(value, ci, measure, marks)
        plus = signed and value > 0 and re.match(r"[0.]*[1-9]", text)  # "+0.000" says too much
        return cls._of_text(f"+{text}" if plus else text, value, ci, **more)

    @classmethod
    def count(cls, amount: int, **more: Any) -> Cell:  # noqa: ANN401
        """Return the cell of a whole number."""
        return cls(numbers.count(amount), value=amount, **more)

    @classmethod
    def mean(cls, mean: float | None, spread: float | None, **more: Any) -> Cell:  # noqa: ANN401
        """Return the cell of a mean with ± a standard deviation or error."""
        text, _, after = numbers.plus_minus(mean, spread).partition(" ")
        return cls(text, after, value=mean, spread=spread, **more)

    @classmethod
    def by(
        cls, write: Callable[..., str], value: float | None, ci: Interval | None = None, *,
        scale: float = 1, **more: Any,  # noqa: ANN401  (fields of a cell)
    ) -> Cell:  # fmt: skip
        """Return the cell of a value as `write` writes it: "value", or with its interval "value [low, high]".

        `scale`: CSV has the value times this.
        """
        if value is None:
            return cls(numbers.MISSING, **more)
        return cls._of_text(write(value) if ci is None else write(value, ci), value, ci, scale=scale, **more)

    @classmethod
    def _of_text(
        cls, text: str, value: float | None, ci: Interval | None, *, scale: float = 1, **more: Any  # noqa: ANN401
    ) -> Cell:  # fmt: skip
        """Return the cell of a text "value" or "value [low, high]", and the numbers themselves."""
        shown, opening, ends = text.partition(" [")
        return cls(
            shown,
            f"[{ends}" if opening else "",
            value=None if value is None else scale * value,
            ends=None if ci is None else (scale * ci.low, scale * ci.high),
            **more,
        )

    @property
    def alone(self) -> Cell:
        """The cell without its gap."""
        return replace(self, gap=None)

    @property
    def plain(self) -> str:
        """The text with its mark and interval, in one line."""
        return f"{self.marked} {self.interval}".rstrip()

    @property
    def marked(self) -> str:
        """The text with its mark."""
        return f"{bare(self.text)}{self.mark}"


@dataclass(frozen=True)
class Column:
    """A column: its head, and the kind of its cells."""

    head: str
    kind: Literal["rank", "name", "number", "words", "chart"] = "number"
    short: str | None = None  # its head in a terminal and in texts
    interval: str = ""  # there, the head of a separate column of the intervals
    main: bool = False  # the number that the table is about
    data: bool = False  # holds names that users gave: encoders, files
    badges: tuple[Badge, ...] = ()  # beside its head on a page
    meaning: str = ""  # printed below the table where the column is shown
    csv: str = ""  # its name in CSV, where not its key
    marks: Mapping[str, str] = field(default_factory=dict)  # what a page's script chooses columns by
    where: Where = "both"

    @property
    def label(self) -> str:
        """The label before its numbers on a telephone; abbreviations keep their capitals."""
        return self.head if any(map(str.isupper, self.head[1:])) else self.head.lower()

    @property
    def key(self) -> str:
        """Its name in the terminal, Markdown and CSV."""
        return self.head if self.short is None else self.short


@dataclass(frozen=True)
class Row:
    """A row of cells, or with `heading` alone the name of the rows that follow."""

    cells: tuple[Cell, ...] = ()
    tone: str = ""  # classes of the style sheet: leader, level, behind, at-chance …
    begins: bool = False  # a further run
    note: str = ""  # in place of a number: why there is none
    heading: str = ""

    def remark(self, badges: Literal["long", "short", "none"] = "long") -> str:
        """Return the badges of a row as text, for a terminal and for texts."""
        found = [badge for cell in self.cells for badge in cell.badges if badge.where != "page"]
        if self.note:
            return "no value"
        if badges == "long":
            return ", ".join(badge.long or badge.text for badge in found)
        return found[-1].text if found and badges == "short" else ""

    def of(self, places: Iterable[int]) -> Row:
        """Return the row with the cells of some columns alone."""
        return replace(self, cells=tuple(self.cells[i] for i in places)) if self.cells else self


@dataclass(frozen=True)
class TableRoom:
    """How much of a table is shown where there is little room."""

    dropped: tuple[str, ...] = ()  # columns, by their keys
    bare: tuple[str, ...] = ()  # columns without their intervals
    stacked: bool = False  # intervals are below their values
    names: int = 28  # columns of a name; longer ones are folded
    heads: int = 16  # columns of a head, which is broken between words
    badges: Literal["long", "short", "none"] = "long"


def narrower(*spare: str) -> tuple[TableRoom, ...]:
    """Return the looks that most tables have: the `spare` columns are dropped first, one after the other."""
    looks = [TableRoom(), TableRoom(stacked=True)]
    for n in range(1, len(spare) + 1):
        looks += [TableRoom(dropped=spare[:n]), TableRoom(dropped=spare[:n], names=16)]
    return (*looks, TableRoom(dropped=spare, names=16, stacked=True))


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a swatch, or a badge, and what it means."""

    text: str
    swatch: Drawing | None = None
    badge: Badge | None = None
    name: str = ""  # one that a user gave, set apart at the end


@dataclass(frozen=True)
class Table:
    """Rows and columns. A column of the kind "chart" draws the bars of its cells on `axis`."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    legend: tuple[Key, ...] = ()
    axis: Axis | None = None
    style: Literal["board", "figures", "figures ranking", "figures two-lines", "figures leaders"] = "figures"
    titled: bool = True  # the page shows the title above it
    headed: bool = True  # a terminal shows the heads of its columns
    looks: tuple[TableRoom, ...] = narrower()
    instead: Table | str | None = None  # where a terminal has no room: another table, or a sentence
    splits: bool = False  # there, columns without room follow in a further table
    records: Sequence[Mapping[str, Any]] | None = None  # rows of the CSV, where they say more than the cells
    in_verdict: tuple[str, ...] = ()  # columns whose absence needs no remark: the verdict has them
    about: str = ""  # after the title in Markdown and LaTeX, which have no page around them
    where: Where = "page"

    @classmethod
    def of_texts(
        cls, title: str, heads: Sequence[object], rows: Iterable[Iterable[object]], *,
        names: int = 1, words: Iterable[str] = (), data: bool = False, **more: Any,  # noqa: ANN401
    ) -> Table:  # fmt: skip
        """Return a table of texts; the first `names` columns and those of `words` are no numbers.

        Heads are texts or `Column`s, cells texts or `Cell`s.
        """
        remarks = set(words)
        columns = tuple(
            head
            if isinstance(head, Column)
            else Column(
                str(head),
                "name" if i < names else "words" if head in remarks else "number",
                data=data and i < names,
            )
            for i, head in enumerate(heads)
        )
        made = tuple(
            Row(tuple(cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row)) for row in rows
        )
        return cls(title, columns, made, **more)

    @classmethod
    def board(
        cls, title: str, columns: Iterable[Column], rows: Iterable[Row], axis: Axis, **more: Any  # noqa: ANN401
    ) -> Table:  # fmt: skip
        """Return a table whose rows have bars on one axis, without columns that are empty."""
        fields: dict[str, Any] = {"style": "board", "titled": False, "where": "both"} | more
        return cls(title, tuple(columns), tuple(rows), axis=axis, **fields).without_empty()

    @property
    def meanings(self) -> str:
        """What the columns of the page mean, those with the same meaning together."""
        return _meanings(
            {column.head: column.meaning for column in self.columns if column.where != "terminal"}
        )

    def meanings_in_text(self, dropped: Sequence[str] = ()) -> str:
        """Return what the columns mean that a terminal and texts show, except those that are dropped."""
        return _meanings({column.key: column.meaning for _, column in self.shown(dropped)})

    def shown(self, dropped: Sequence[str] = ()) -> list[tuple[int, Column]]:
        """Return the columns that a terminal and texts show, with their places."""
        return [
            (i, column)
            for i, column in enumerate(self.columns)
            if column.kind != "chart" and column.where != "page" and column.key not in dropped
        ]

    @property
    def tall(self) -> bool:
        """Whether differences are below their values."""
        return self.style == "figures two-lines"

    def of(self, places: Sequence[int]) -> Table:
        """Return the table of some columns alone."""
        columns = tuple(self.columns[i] for i in places)
        return replace(self, columns=columns, rows=tuple(row.of(places) for row in self.rows))

    def without_empty(self) -> Table:
        """Return the table without columns of numbers that are empty in every row."""
        return self.of(
            [
                i
                for i, column in enumerate(self.columns)
                if column.kind in ("name", "rank", "chart")
                or column.main
                or any(row.cells[i].text not in ("", numbers.MISSING) for row in self.rows if row.cells)
            ]
        )


def _meanings(found: Mapping[str, str]) -> str:
    """Return what columns mean, by name: "own, other: mAP with …. gap: …."."""
    names: dict[str, list[str]] = {}
    for name, meaning in found.items():
        names.setdefault(meaning, []).append(name)
    return " ".join(f"{', '.join(own)}: {meaning}." for meaning, own in names.items() if meaning)
