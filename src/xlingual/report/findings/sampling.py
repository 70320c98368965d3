"""What a page says about how samples were drawn: where pairs had fewer items than were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlingual.report import numbers


def sentences(request: Mapping[str, Any], samples: Iterable[str]) -> list[str]:
    """Return a sentence where samples are smaller than was asked for.

    `samples` are the conditions `sample` of the numbers, such as "365#0".
    """
    drawn = {sample.partition("#")[0].partition("-")[0] for sample in samples}
    sizes = sorted(int(size) for size in drawn if size.isdigit())
    most = request.get("sample")
    if not sizes or not isinstance(most, int) or sizes[0] >= most:
        return []
    return [
        f"The data have fewer items than the requested {numbers.count(most)}: N = {numbers.span(sizes)} for "
        "each side."
    ]
