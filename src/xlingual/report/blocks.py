"""What can be shown: a page is a list of blocks, and every renderer knows every block.

A module of `pages/` decides which blocks a page has and in which order; `render/` turns them into HTML,
lines of a terminal, Markdown, LaTeX and CSV. Blocks hold numbers and finished texts, never markup; names in
sentences and cells may be marked (`marking`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xlingual.report.axis import Axis
from xlingual.report.shapes import Drawing
from xlingual.report.table import Badge, Key, Table, Where


@dataclass(frozen=True)
class Finding:
    """Sentences of the verdict, the most important first.

    `heading` begins a part of the page's verdict; `name` says what the sentences are about (a run, a language
    pair), on the page above and in the terminal before them.
    """

    sentences: Sequence[str]
    name: str = ""
    heading: str = ""

    @property
    def named(self) -> list[str]:
        """The sentences, the first with the name before it."""
        begin = f"{self.name}: " if self.name else ""
        return [f"{'' if place else begin}{sentence}" for place, sentence in enumerate(self.sentences)]


STEPS = 21  # of the colour scale of heat maps


@dataclass(frozen=True)
class Heat:
    """A cell of a matrix; `step` is its place on the colour scale, None where it has no value."""

    text: str
    short: str  # for small cells
    title: str
    step: int | None
    value: float | None = None  # at full precision, for CSV
    ends: tuple[float, float] | None = None  # of the interval, for CSV


@dataclass(frozen=True)
class HeatMap:
    """One matrix: rows and columns by name; None where nothing was measured."""

    label: str
    columns: Sequence[str]
    lines: Sequence[tuple[str, Sequence[Heat | None]]]
    large: bool = False


@dataclass(frozen=True)
class Matrix:
    """Heat maps on one colour scale: of one hue ("h"), or of two that meet in the middle ("d")."""

    maps: Sequence[HeatMap]
    scale: str  # what the colours show
    ends: Sequence[str]  # at the first and last colour, with the middle between them for two hues
    title: str = ""
    titled: bool = True  # the page shows the title above it
    about: str = ""
    framed: str = ""  # what the cells are whose row and column have one name; a text has them in bold
    hue: Literal["h", "d"] = "h"
    corner: str = "from ↓ to →"
    style: str = ""
    shown: int = 1  # maps of further encoders are folded
    each: str = "encoder"  # what a map is of
    where: Where = "page"


@dataclass(frozen=True)
class Box:
    """Values of one row over pairs: quartiles (None for few), whiskers, every pair as a dot with its text."""

    label: str
    spoken: str
    quartiles: tuple[float, float, float] | None
    low: float
    high: float
    dots: Sequence[tuple[float, str]]
    pairs: Sequence[tuple[str, str]] = ()  # of the dots


@dataclass(frozen=True)
class Boxes:
    """Box plots on one axis."""

    name: str
    boxes: Sequence[Box]
    axis: Axis
    each: str = "encoder"  # what a line is of
    where: Where = "page"


@dataclass(frozen=True)
class Figure:
    """A drawing (scatter, lines, bars), and the same one for a telephone where it needs another."""

    drawing: Drawing
    narrow: Drawing | None = None
    legend: tuple[Key, ...] = ()
    style: str = ""
    where: Where = "page"


@dataclass(frozen=True)
class Text:
    """A text as people wrote it, in its language, with a remark and, if there is one, its image."""

    language: str
    text: str
    what: str = ""  # query, retrieved, question …
    remark: str = ""  # behind its language
    image: str | None = None  # a data: URI
    with_image: bool = False  # its place shows an image, or that it is missing
    place: str = ""
    tone: str = ""
    badge: Badge | None = None


@dataclass(frozen=True)
class Card:
    """A text and others that belong to it: a query and its retrieved text, a question and its candidates."""

    first: Text | None
    others: Sequence[Text]
    note: str = ""
    style: str = ""


@dataclass(frozen=True)
class Cards:
    """Cards under their headings, side by side."""

    groups: Sequence[tuple[str, Sequence[Card]]]
    style: str = ""
    data: bool = False  # headings are names of encoders
    where: Where = "page"


@dataclass(frozen=True)
class Prose:
    """A paragraph: an introduction to the blocks below, or a note on those above."""

    text: str
    style: Literal["about", "about close", "note-line", "legend"] = "about"
    where: Where = "page"
    whole: bool = False  # in a terminal one line, however long, so that it can be copied
    bold: bool = False  # explains bold type: left out where a console has none
    link: str = ""  # a page beside this one, named and linked at the end of the text


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str
    data: bool = False  # an encoder's name
    where: Where = "page"


@dataclass(frozen=True)
class Legend:
    """What marks mean."""

    keys: tuple[Key, ...]
    where: Where = "page"


@dataclass(frozen=True)
class Filters:
    """What can be chosen of the table beside it: (mark of its columns, label, values); needs a script."""

    choices: tuple[tuple[str, str, Sequence[str]], ...]
    where: Where = "page"


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    title: str
    blocks: Sequence[Block]
    hint: str = ""
    open: bool = False
    data: bool = False  # the title is an encoder's name
    where: Where = "both"


@dataclass(frozen=True)
class Group:
    """Blocks that the style sheet arranges: beside each other, in panels."""

    style: str
    blocks: Sequence[Block]
    where: Where = "both"


Block: TypeAlias = Table | Matrix | Boxes | Figure | Cards | Prose | Heading | Legend | Filters | Fold | Group


@dataclass(frozen=True)
class Section:
    """A part of a page with its own heading."""

    title: str
    blocks: Sequence[Block]
    about: str = ""


@dataclass(frozen=True)
class Page:
    """Everything that a page shows."""

    kind: str  # printed above the title: "report", "comparison" …
    title: str
    verdict: Sequence[Finding]
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = ()
    about: Sequence[str] = ()  # below the title: the data, the date
    samples: Sequence[Text] = ()  # some texts of the data with their images
    terms: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    conditions: Sequence[tuple[str, Sequence[str]]] = ()
    systems: Sequence[tuple[str, Sequence[str]]] = ()
    methods: Sequence[str] = ()
    timings: Sequence[tuple[str, str]] = ()
    made: Sequence[tuple[str, Sequence[str]]] = ()  # how: program, command, inputs
    names: Sequence[str] = ()  # of encoders: sentences set them apart
    evaluated: str = "Encoders"  # what they are
    script: str = ""  # a file of the templates that sorts and filters; all can be read without it

    @classmethod
    def of(cls, kind: str, title: str, blocks: Sequence[Block], findings: Sequence[str] = ()) -> Page:
        """Return a page of one section, with a verdict if there are findings."""
        return cls(kind, title, [Finding(findings)] if findings else [], [Section("", blocks)])


Medium: TypeAlias = Literal["page", "terminal", "text"]
_SHOWN: dict[Medium, tuple[Where, ...]] = {
    "page": ("both", "page", "written"),
    "terminal": ("both", "terminal", "screen"),
    "text": ("both", "terminal", "written"),
}


def walk(blocks: Iterable[Block], medium: Medium = "page") -> Iterator[Block]:
    """Yield every block that a medium shows, those in containers after their container."""
    for block in blocks:
        if block.where not in _SHOWN[medium]:
            continue
        yield block
        if isinstance(block, (Fold, Group)):
            yield from walk(block.blocks, medium)
