"""How well the rules that find sentences agree with the sentence breaks of XQuAD-R."""

from __future__ import annotations

import json
import os
from pathlib import Path

from xlingual.data.pools.squad import sentence_breaks

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "xquad_r"
LEAST = 0.88  # of the real ends found, and of the found ends that are real


def agreement(path: Path, language: str) -> tuple[int, int, int]:
    """Return how many ends of sentences are in the file, found, and both.

    The last sentence of a paragraph ends where the paragraph does: it is not counted.
    """
    real, found, both = 0, 0, 0
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            context = paragraph["context"]
            last = {len(context.rstrip())}
            annotated = {len(context[:end].rstrip()) for _, end in paragraph["sentence_breaks"]} - last
            made = {end for _, end in sentence_breaks(context, language)} - last
            real, found, both = real + len(annotated), found + len(made), both + len(annotated & made)
    return real, found, both


def main() -> None:
    """Print a table of the languages."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    print("| language | ends in the file | ends found | of the real ones found | of the found ones real |")
    print("|---|---|---|---|---|")
    for path in sorted(path for path in DATA.glob("*.json") if path.stem != "th"):
        real, found, both = agreement(path, path.stem)
        recall, precision = both / real, both / found
        print(f"| {path.stem} | {real} | {found} | {recall:.1%} | {precision:.1%} |")
        assert min(recall, precision) > LEAST, path.stem
