"""A page as one HTML file that loads nothing; equal pages give equal bytes.

It runs no script but its own, which sorts and filters: the page names its hash, and others are refused.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.report import blocks, colours, marking
from xlingual.report.axis import Axis
from xlingual.report.blocks import STEPS, Block, Box, Page
from xlingual.report.shapes import Drawing, Place, Shape, circle, line, rect, text
from xlingual.report.table import Bar, Table
from xlingual.visible import visible, visible_value

_EDGES: tuple[Place, Place] = (0, "100%")  # of an axis
_TEMPLATES = Path(__file__).parent.parent / "templates"


def write(page: Page, path: str | Path) -> None:
    """Write a page to `path`, atomically; raise InputError where the file cannot be written."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of the report's file, for example report.html")
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_bytes(render(page).encode("utf-8", "replace"))


def render(page: Page) -> str:
    """Return a page as HTML."""
    found = [block for section in page.sections for block in blocks.walk(section.blocks)]
    hues = {block.hue for block in found if isinstance(block, blocks.Matrix)}
    heat_css = colours.css(STEPS, diverging="d" in hues) if hues else ""
    template = _environment(page.names).get_template("page.html")
    script = (_TEMPLATES / page.script).read_text(encoding="utf-8") if page.script else ""
    digest = b64encode(sha256(script.encode()).digest()).decode() if script else ""
    return template.render(
        page=page, version=_program_version(), heat_css=heat_css, script=Markup(script), digest=digest
    )


def fragment(page: Page) -> str:
    """Return verdict, tables and figures of a page as HTML for another page, such as a notebook."""
    # of the project itself, so not escaped; within `.xlingual` its variables belong to that element
    styles = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8").replace(":root", "&"))
    shown: list[Block] = []
    for block in (block for section in page.sections for block in blocks.walk(section.blocks)):
        if isinstance(block, Table) and block.where == "both":  # with its title: headings are not there
            shown.append(replace(block, titled=True))
        elif isinstance(block, blocks.Figure | blocks.Boxes | blocks.Legend) and block.where != "terminal":
            shown.append(block)
    return (
        _environment(page.names).get_template("fragment.html").render(page=page, shown=shown, styles=styles)
    )


def _on_page(shown: Iterable[Block]) -> list[Block]:
    return [block for block in shown if block.where not in ("terminal", "screen")]


def _environment(names: Iterable[str]) -> jinja2.Environment:
    """Return the templates' environment: everything is escaped, and a missing value is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=visible_value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(emphasise=_emphasis(names), apart=_emphasis([]))
    made.globals.update(svg=svg, bar=_bar, ticks=_ticks, box=_box, steps=STEPS, on_page=_on_page)
    made.globals["show"] = partial(_show, made)
    return made


def _show(environment: jinja2.Environment, block: Block) -> Any:  # noqa: ANN401  (Markup)
    """Return a block as HTML: the macro of its kind's name."""
    macros = environment.get_template("blocks.html").module
    return getattr(macros, type(block).__name__.lower())(block)


def _program_version() -> str:
    try:
        return version("xlingual")
    except PackageNotFoundError:
        return "not installed as a package"


def _emphasis(labels: Iterable[str]) -> Callable[[str], Markup]:
    """Return a filter that escapes a text and sets names in it apart: those marked, and of encoders."""
    ordered = sorted(set(labels), key=lambda label: (-len(label), label))
    names = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, ordered)) + r")(?![\w-])")

    def pieces(text: str) -> Iterator[Markup]:
        for part, marked in marking.parts(text):
            split = ["", part] if marked else names.split(part) if ordered else [part]
            for i, piece in enumerate(map(visible, split)):  # odd places hold names
                yield Markup("<bdi>{}</bdi>").format(piece) if i % 2 else Markup.escape(piece)

    return lambda text: Markup("").join(pieces(text))


def svg(drawing: Drawing) -> Markup:
    """Return a drawing as SVG."""
    size: dict[str, Any] = {"width": drawing.width or "100%", "height": drawing.height}
    if drawing.width is not None and drawing.spoken:
        size = {"viewBox": f"0 0 {drawing.width:g} {drawing.height:g}"}
    role = {"role": "img", "aria-label": drawing.spoken} if drawing.spoken else {"aria-hidden": "true"}
    inner = Markup("\n").join(map(element, drawing.shapes))
    return Markup("<svg{}>\n{}\n</svg>").format(_attributes(drawing.style, size | role), inner)


def element(shape: Shape) -> Markup:
    """Return a shape as an element of SVG."""
    inside = Markup("<title>{}</title>").format(visible(shape.title)) if shape.title else Markup("")
    inside += visible(shape.text) + Markup("").join(map(element, shape.inside))
    form = "<{0}{1}>{2}</{0}>" if inside else "<{0}{1}/>"
    return Markup(form).format(Markup(shape.name), _attributes(shape.style, shape.attributes), inside)


def _attributes(style: str, named: Mapping[str, Any]) -> Markup:
    """Return the attributes of an element, its class first where it has one."""
    listed = ({"class": style} if style else {}) | dict(named)
    return Markup("").join(
        Markup(' {}="{}"').format(Markup(name), visible(str(value))) for name, value in listed.items()
    )


def _grid(axis: Axis) -> list[Shape]:
    return [_upright(place, "grid") for place, _ in axis.labels()]


def _upright(place: float, style: str, top: str | float = 0, bottom: str | float = "100%") -> Shape:
    return line(f"{place}%", top, f"{place}%", bottom, style)


def _ticks(axis: Axis) -> Markup:
    """Return the numbers along an axis."""
    shapes = [text(f"{place}%", 12, name, "", anchor="middle") for place, name in axis.labels()]
    return svg(Drawing(tuple(shapes), 16, style="ticks"))


def _bar(bar: Bar | Drawing, table: Table) -> Markup:
    """Return a value with its interval, and what it is compared with, on the table's axis."""
    if isinstance(bar, Drawing):
        return svg(bar)
    axis = table.axis
    if axis is None:
        raise ValueError(f"table {table.title!r} has bars and no axis")
    shapes = _grid(axis)
    shapes += [_upright(axis.at(value), kind) for kind, value in bar.lines if axis.holds(value)]
    if bar.ends is not None:
        low, high = map(axis.at, bar.ends)
        shapes.append(rect(f"{low}%", 11, f"{round(high - low, 2)}%", 8, "ci", rx=4))
    if bar.value is not None:
        shapes.append(circle(f"{axis.at(bar.value)}%", 15, 4, "dot"))
    for end, x, aside, arrow in zip(bar.ends or (), _EDGES, (-8, 8), "‹›", strict=False):
        if bar.arrows and not axis.holds(end):
            at: dict[str, Place] = {"x": x, "y": 20, "dx": aside, "text-anchor": "middle"}
            shapes.append(Shape("text", at, "beyond", arrow))
    return svg(Drawing(tuple(shapes), 30, style="bar", spoken=bar.spoken))


def _box(box: Box, axis: Axis, first: bool) -> Markup:
    """Return a box plot's line: whiskers, the middle half with its median, and every pair as a dot."""
    shapes = [*_grid(axis), line(f"{axis.at(box.low)}%", 15, f"{axis.at(box.high)}%", 15, "whisker")]
    if box.quartiles:
        left, middle, right = map(axis.at, box.quartiles)
        shapes += [
            rect(f"{left}%", 6, f"{round(right - left, 2)}%", 18, "quartiles", rx=3),
            _upright(middle, "median", 5, 25),
        ]
    shapes += [circle(f"{axis.at(value)}%", 15, 3.5, "point", title=title) for value, title in box.dots]
    return svg(Drawing(tuple(shapes), 30, style="box first" if first else "box", spoken=box.spoken))
