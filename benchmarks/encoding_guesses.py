"""How often the encoding of a small sample of real texts is read right, guessed wrong, or refused.

Texts are the names of emoji in many languages and Czech captions of Multi30K; each sample is written in the
encoding that its language had before Unicode. `python -m benchmarks.encoding_guesses` takes
about a minute; XLINGUAL_DATA names the folder of the data.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from xlingual.data.reading.encodings import LEAST, guesses

SAMPLES, SIZES = 20, (5, 30, 300)
ENCODINGS = {
    "de": "cp1252",
    "fr": "cp1252",
    "es": "cp1252",
    "it": "cp1252",
    "pt": "cp1252",
    "cs": "cp1250",
    "ru": "cp1251",
    "tr": "cp1254",
    "ja": "cp932",
    "ko": "cp949",
    "zh": "gb18030",
    "ar": "cp1256",
    "fa": "cp1256",
    "th": "cp874",
    "vi": "cp1258",
}
KNOWN = 11  # the first of them, which are never to be guessed wrong from 30 rows on


def outcome(texts: Sequence[str], encoding: str) -> str:
    """Return "right", "wrong" or "refused" for a file of these texts."""
    raw = "\n".join(["id;text", *(f"{i};{text}" for i, text in enumerate(texts))]).encode(encoding, "ignore")
    if raw.isascii():
        return "right"
    found = guesses(raw)
    best = max(found, key=lambda name: found[name], default=None)
    if best is None or found[best] < LEAST:
        return "refused"
    return "right" if raw.decode(best) == raw.decode(encoding) else "wrong"


def main() -> None:
    """Print a table: right/wrong/refused of the samples of each size."""
    folder = Path(os.environ["XLINGUAL_DATA"])
    emoji = pq.read_table(folder / "emoji" / "emoji.parquet")
    captions = pq.read_table(folder / "multi30k" / "task1_train.parquet", columns=["text_cs"])
    rng = random.Random(0)
    print("| language, encoding |" + "".join(f" {size} rows |" for size in SIZES))
    print("|---|" + "---|" * len(SIZES))
    for place, (language, encoding) in enumerate(ENCODINGS.items()):
        column = captions["text_cs"] if language == "cs" else emoji[f"name_{language}"]
        texts = [text for text in column.to_pylist() if text]
        cells = []
        for size in SIZES:
            counts = Counter(outcome(rng.sample(texts, size), encoding) for _ in range(SAMPLES))
            assert place >= KNOWN or size < 30 or not counts["wrong"], (language, size, counts)
            cells.append("/".join(str(counts[word]) for word in ("right", "wrong", "refused")))
        print(f"| {language}, {encoding} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
