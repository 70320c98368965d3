"""Plots as objects: the figures of a page by name, shown by a notebook and saved as SVG or HTML.

A saved SVG holds its own styles, in light colours and without variables, so that every program draws it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from textwrap import wrap
from typing import Any

from markupsafe import Markup

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file, make_folder
from xlingual.report import blocks
from xlingual.report.blocks import Block, Boxes, Figure, Heading, Legend, Page
from xlingual.report.figures.pairs import drawn
from xlingual.report.pages import PAGES, page_of
from xlingual.report.render import html
from xlingual.report.shapes import Drawing, text
from xlingual.report.table import Key

_STYLES = Path(__file__).parent / "templates" / "style.css"
_WIDTH, _MARGIN, _LINE, _LETTER = 900.0, 16.0, 18.0, 6.4  # px; a letter of 12 px is about so wide
_SPACE = 480.0  # px
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
_DRAWN = re.compile(r"\b(fill|stroke|opacity|font|paint-order)")  # properties that a drawing has


@dataclass(frozen=True)
class Plot:
    """One figure; a notebook shows it, `save` writes it."""

    name: str
    title: str
    figure: Figure
    legend: tuple[Key, ...] = ()

    def __repr__(self) -> str:
        return f"Plot({self.name!r})"

    def svg(self) -> str:
        """Return the figure as an SVG that stands alone."""
        drawing, keys = self.figure.drawing, (*self.figure.legend, *self.legend)
        width, height = _size(drawing)
        shown: list[Markup] = []
        top = _MARGIN
        if self.title:
            title = text(_MARGIN, top + 12, self.title, "plot-title")
            shown.append(html.element(title))
            top += 2 * _LINE
        shown.append(_put(drawing, _MARGIN, top, width, height))
        top += height + _LINE
        notes = (*drawing.notes, *_unnamed(drawing.unnamed))
        for words in (line for note in notes for line in wrap(note, int(width / _LETTER))):
            shown.append(html.element(text(_MARGIN, top, words, "plot-note")))
            top += _LINE
        for swatch, words, x, y in _placed(keys, width, top):
            if swatch is not None:
                shown.append(_put(swatch, x, y - swatch.height + 2, swatch.width or 0, swatch.height))
                x += (swatch.width or 0) + 6
            shown.append(html.element(text(x, y, words, "plot-key")))
            top = y + _LINE
        whole = f"0 0 {width + 2 * _MARGIN:g} {top + _MARGIN:g}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn {self.figure.style}" viewBox="{whole}" '
            f'width="{width + 2 * _MARGIN:g}" height="{top + _MARGIN:g}" font-family="{_FONT}">\n'
            f"<style>\n{_static_styles()}</style>\n"
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n{Markup(chr(10)).join(shown)}\n</svg>\n'
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        shown = html.fragment(Page.of("plot", self.title, self._blocks()), figures=True)
        width = _size(self.figure.drawing)[0] + 5 * _MARGIN
        return f'<div style="max-width: {width:g}px">\n{shown}\n</div>'

    def _blocks(self) -> list[Block]:
        return [self.figure, *([Legend(self.legend)] if self.legend else [])]

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file that ends in .svg or .html, atomically, and return its path."""
        path = Path(path)
        ending = path.suffix.lower()
        if ending not in (".svg", ".html"):
            raise InputError(
                f"{path}: a plot is written as .svg or .html: name it {path.with_suffix('.svg').name}, which "
                "browsers, Inkscape and LaTeX (through rsvg-convert) read"
            )
        made = self.svg() if ending == ".svg" else html.render(Page.of("plot", self.title, self._blocks()))
        make_folder(path.parent)
        with atomic_file(path) as temporary:
            temporary.write_text(made, encoding="utf-8")
        return path


def _size(drawing: Drawing) -> tuple[float, float]:
    """Return how large a drawing is shown; a space of points has a scale of its own."""
    width = drawing.width or _WIDTH
    shown = min(width, _SPACE) if drawing.style == "space" else width
    return shown, drawing.height * shown / width


def _put(drawing: Drawing, x: float, y: float, width: float, height: float) -> Markup:
    """Return a drawing as SVG at a place of another."""
    begin, rest = str(html.svg(drawing)).split(">", 1)
    begin = re.sub(r' (width|height)="[^"]*"', "", begin)
    at = f' x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return Markup(f"{begin}{at}>{rest}")


def plots_of(found: Any) -> dict[str, Plot]:  # noqa: ANN401  (a record of results)
    """Return the figures of what was found by their names, in the order of its page."""
    if type(found).__name__ not in PAGES:
        return {}
    page = page_of(found)
    drawn = [
        (figure.drawing.name or heading, heading, figure, legend)
        for section in page.sections
        for heading, figure, legend in _drawn(section)
    ]
    titles = Counter(title for title, *_ in drawn)
    plots: dict[str, Plot] = {}
    for title, heading, figure, legend in drawn:
        if heading != title and title in page.names:
            title = f"{heading}, {title}"
        elif heading != title and titles[title] > 1:
            title = f"{title}, {heading}"
        name = _unused(_slug(title), plots)
        plots[name] = Plot(name, title, figure, legend)
    return plots


BY_NAME = (
    "cost",
    "how-often-candidates-are-found",
)  # figures that are asked for by their names


def plot_of(found: Any, name: str | None = None) -> Plot:  # noqa: ANN401  (as above)
    """Return the figure of a name, or the only one beside those that are asked for by their names.

    Raises InputError that lists the names.
    """
    plots = plots_of(found)
    kind = type(found).__name__
    if not plots:
        raise InputError(
            f"this {kind} has no plots: the page of one language pair or encoder has tables alone, which "
            "write_report and a notebook show"
        )
    fitting = [one for one in plots if (not one.startswith(BY_NAME) if name is None else one == name)] or [
        one for one in plots if name is None or name in one
    ]
    if len(fitting) == 1:
        return plots[fitting[0]]
    asked = f"no plot {name!r}" if name is not None and not fitting else "several plots"
    hint = "" if name is None or fitting else did_you_mean(name, plots)
    raise InputError(f"{asked} of this {kind}: name one.{hint} Its plots: {listed(fitting or plots, 40)}")


def _drawn(section: blocks.Section) -> Iterator[tuple[str, Figure, tuple[Key, ...]]]:
    """Yield the figures of a section, each with the heading above it and the legend that it lacks."""
    heading, shown = section.title, list(blocks.walk(section.blocks))
    for place, block in enumerate(shown):
        if isinstance(block, Heading) and block.where != "terminal":
            heading = block.text
        if isinstance(block, Figure) and block.drawing.shapes:
            below = next((one for one in shown[place:] if not isinstance(one, Figure)), None)
            yield heading, block, below.keys if isinstance(below, Legend) else ()
        if isinstance(block, Boxes):
            figure = drawn(block)
            yield heading, figure, figure.legend


def _slug(title: str) -> str:
    return re.sub(r"[^\w@]+", "-", title.lower()).strip("-") or "plot"


def _unused(name: str, taken: Mapping[str, object]) -> str:
    names = (name if i == 1 else f"{name}-{i}" for i in count(1))
    return next(one for one in names if one not in taken)


def _unnamed(names: Iterable[str]) -> list[str]:
    found = listed(names, 12)
    return [f"without room for a name: {found}"] if found else []


def _placed(keys: Iterable[Key], width: float, top: float) -> Iterator[tuple[Any, str, float, float]]:
    """Yield swatch, text and place of each key, as many beside each other as there is room for."""
    x, y = _MARGIN, top
    for key in keys:
        words = " ".join(filter(None, (key.badge.text if key.badge is not None else "", key.text, key.name)))
        wide = (key.swatch.width or 0) + 6 if key.swatch is not None else 0
        needed = wide + _LETTER * len(words) + 18
        if x > _MARGIN and x + needed > width + _MARGIN:
            x, y = _MARGIN, y + _LINE
        yield key.swatch, words, x, y
        x += needed


def _static_styles() -> str:
    """Return the rules of the style sheet for drawings, light colours in the place of variables."""
    sheet = re.sub(r"/\*.*?\*/", "", _STYLES.read_text(encoding="utf-8"), flags=re.S)
    colours = dict(re.findall(r"--([\w-]+):\s*([^;}]+)", sheet[: sheet.index("}")]))
    rules = []
    for selector, body in re.findall(r"^([^@\s{}][^{}]*)\{([^{}]*)\}", sheet, flags=re.M):
        kept = ";".join(one for one in body.split(";") if _DRAWN.match(one.strip()))
        if not kept or re.search(r"(^|[\s,])(body|html|h\d|td|th|table|main|p|div|a)\b", selector):
            continue
        if not re.search(r"var\(--(part|on|edge|under)\)", kept):
            plain = re.sub(r"var\(--([\w-]+)\)", lambda name: colours.get(name.group(1), "#5d6675"), kept)
            rules.append(f"{selector.strip()} {{{plain} }}")
    rules += [
        f".plot-title {{ font-size: 14px; font-weight: 600; fill: {colours['ink']} }}",
        f".plot-note, .plot-key {{ font-size: 12px; fill: {colours['muted']} }}",
    ]
    return "\n".join(rules) + "\n"
