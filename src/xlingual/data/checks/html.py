"""Texts that still hold HTML, as exports of shops often do."""

from __future__ import annotations

import html
import re

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import Column

_ENTITY = r"&(?:[A-Za-z]{2,8}[0-9]{0,2}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});"
_TAG = (
    r"(?i)</?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|sub|sup|table|td|tr|u|ul)(?:\s[^<>]*)?/?>"
)


def texts_with_html(texts: Column[str]) -> Ints:
    """Return the numbers of the texts with entities (`&amp;`) or tags (`<br>`) of HTML."""
    import pyarrow.compute as pc

    found, start = [np.empty(0, dtype=np.int64)], 0
    for block in texts.blocks():  # type: ignore[attr-defined]
        entity = pc.match_substring_regex(block, _ENTITY).to_numpy(zero_copy_only=False).astype(bool)
        for row in np.flatnonzero(entity).tolist():  # "black&white;" is none
            text = block[row].as_py()
            entity[row] = any(html.unescape(match) != match for match in re.findall(_ENTITY, text))
        tag = pc.match_substring_regex(block, _TAG).to_numpy(zero_copy_only=False).astype(bool)
        found.append(start + np.flatnonzero(entity | tag))
        start += len(block)
    return np.concatenate(found)
