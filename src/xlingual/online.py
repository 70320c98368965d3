"""Where the documentation is: addresses of its pages for errors, help and reports."""

from __future__ import annotations

SITE = "https://xlingual.github.io/xlingual/latest/"


def page(path: str) -> str:
    """Return the address of a page, given by its path below docs/ without ".md".

    >>> page("reference/pools")
    'https://xlingual.github.io/xlingual/latest/reference/pools/'
    """
    return f"{SITE}{path}/"
