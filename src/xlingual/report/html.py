"""What every page has in common: templates, names set apart in sentences, and the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.report import numbers
from xlingual.visible import visible, visible_value

if TYPE_CHECKING:
    import jinja2


def environment(names: Iterable[str]) -> jinja2.Environment:
    """Return the templates' environment: everything is escaped, and a missing value is an error.

    The filter `emphasise` sets the given names (of encoders) apart in a sentence.
    """
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=visible_value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["number"] = numbers.number
    made.filters["emphasise"] = _emphasis(names)
    return made


def write_page(path: Path, content: str) -> None:
    """Write a page to `path`, atomically; raise InputError where the file cannot be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of the report's file, for example report.html")
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_bytes(content.encode("utf-8", "replace"))


def program_version() -> str:
    """Return the version of the program that makes the page."""
    try:
        return version("xlingual")
    except PackageNotFoundError:
        return "not installed as a package"


def _emphasis(labels: Iterable[str]) -> Callable[[str], Any]:
    """Return a filter that escapes a sentence and sets the names of encoders in it apart."""
    from markupsafe import Markup

    ordered = sorted(set(labels), key=lambda label: (-len(label), label))
    names = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, ordered)) + r")(?![\w-])")

    def emphasise(sentence: str) -> Any:  # noqa: ANN401  (Markup)
        if not ordered:
            return Markup.escape(visible(sentence))
        parts = map(visible, names.split(sentence))  # odd places hold names
        wrapped = (Markup("<bdi>{}</bdi>").format(part) if i % 2 else part for i, part in enumerate(parts))
        return Markup("").join(wrapped)

    return emphasise
