"""The page of all encoders that are built in, and their options, made of their schemes."""

from __future__ import annotations

from collections.abc import Iterator

from website.markdown import block, cell, code, fence, page, table
from xlingual.encoders import SCHEMES
from xlingual.encoders.scheme import LISTS, Scheme
from xlingual.extras import packages

PATH = "reference/encoder-options.md"


def pages() -> dict[str, str]:
    """Return the text of the page by its path below docs/."""
    rows = [
        (f"[`{name}`](#{name})", _encodes(scheme), cell(scheme.summary)) for name, scheme in SCHEMES.items()
    ]
    return {
        PATH: page(
            "Encoders and their options",
            "Every scheme that a spec of an encoder can begin with. `xlingual encoders NAME` prints the "
            "same. How specs are written: [Encoders](encoders.md).",
            table(["Scheme", "Encodes", "What it is"], rows),
            *(part for name, scheme in SCHEMES.items() for part in _scheme(name, scheme)),
        )
    }


def _encodes(scheme: Scheme) -> str:
    return "–" if LISTS in scheme.takes else ", ".join(scheme.takes)


def _scheme(name: str, scheme: Scheme) -> Iterator[str]:
    yield f"## {name}"
    yield fence(scheme.form)
    needs = (
        f" It needs {' and '.join(packages(scheme.extra))}: the extra `{scheme.extra}`."
        if scheme.extra
        else ""
    )
    yield f"{cell(scheme.summary[:1].upper() + scheme.summary[1:])}.{needs}"
    if scheme.options:
        rows = [
            (code(one.name), cell("" if one.default is None else str(one.default)), cell(one.summary))
            for one in scheme.options
        ]
        yield block("options", table(["Option", "Default", "What it is"], rows))
