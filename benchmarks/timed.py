"""One evaluation of vectors that are given, and the processor's seconds that it takes on one thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.vectors import Given, two_languages
from xlingual import Results, backretrieval


def evaluated(texts: np.ndarray, images: np.ndarray, **options: Any) -> tuple[Results, float]:
    """Return the results of English among German items, half of the lines each, and the seconds."""
    manifest = two_languages(len(texts) // 2)
    begun = time.process_time()
    results = backretrieval(
        manifest,
        text_encoders={"given": Given(texts)},
        image_encoder=Given(images, "images"),
        pairs="en-de",
        examples=False,
        store=None,
        **options,
    )
    return results, time.process_time() - begun


def table(title: str, rows: Sequence[Sequence[str]]) -> None:
    """Print rows as a table of Markdown, the first of them its head."""
    print(f"\n### {title}\n")
    for number, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if number == 0:
            print("|" + "---|" * len(row))
