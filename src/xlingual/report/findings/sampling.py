"""What a page says about how samples were drawn: by the paper's protocol or not, and of which size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlingual.report import numbers
from xlingual.requests.shared import PAPER


def sentences(request: Mapping[str, Any], samples: Iterable[str]) -> list[str]:
    """Return a sentence where a preset was asked for, or where pairs had fewer items than was asked for.

    `samples` are the conditions `sample` of the numbers, such as "365#0".
    """
    drawn = {sample.partition("#")[0].partition("-")[0] for sample in samples}
    sizes = sorted(int(size) for size in drawn if size.isdigit())
    if request.get("preset") == "paper":
        return [_paper(request, sizes)]
    wanted = request.get("sample_size")
    if not (request.get("or_fewer") and sizes and isinstance(wanted, int) and sizes[0] < wanted):
        return []
    found = numbers.span(sizes)
    return [
        f"The data have fewer items than the requested {numbers.count(wanted)}: N = {found} for each side."
    ]


def _paper(request: Mapping[str, Any], sizes: list[int]) -> str:
    """Return how the samples compare with those of the paper."""
    about, wanted = [], PAPER.values["sample_size"]
    if sizes:
        about.append(f"N = {numbers.span(sizes)} items for each side")
    if request.get("texts_per_item") == 1:
        about.append("one text of each")
    if isinstance(request.get("seeds"), int):
        about.append(numbers.counted(request["seeds"], "seed"))
    text = f"Sampled as in the Backretrieval paper (--preset paper): {', '.join(about)}."
    if sizes and sizes[0] < wanted and request.get("sample_size") == wanted:
        text += f" The data have no more items; the paper's N is {numbers.count(wanted)}, for IKEA 1,500."
    changed = _changed(request)
    return f"{text} Differences from the paper: {numbers.in_words(changed)}." if changed else text


def _changed(request: Mapping[str, Any]) -> list[str]:
    """Return the options that were given other values than the preset has."""
    if "splits" in request:
        found = ["the samples are those of --splits"]
        names: Iterable[str] = ("texts_per_item", "queries", "measures", "measure")
    else:
        found, names = [], [name for name in PAPER.values if name != "or_fewer"]
    for name in names:
        own, paper = request.get(name), PAPER.values[name]
        same = set(paper) <= set(own or paper) if isinstance(paper, tuple) else own == paper
        if not same and (name in request or paper is None):
            shown = ", ".join(own) if isinstance(own, list) else own
            then = "all" if paper is None else ", ".join(paper) if isinstance(paper, tuple) else paper
            found.append(f"--{name.replace('_', '-').replace('measures', 'measure')} {shown} (paper: {then})")
    return found
