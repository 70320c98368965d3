"""A file of commands for a corpus, as `xlingual run` takes it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from xlingual.data.corpora.convert import Converted
from xlingual.files import atomic_file, make_folder

_MOST = 6  # languages of which all pairs are named by leaving them out


def suite_text(made: Converted, folder: Path) -> str:
    """Return the commands that evaluate a corpus, with paths that count from a folder."""
    corpus = made.corpus
    data = json.dumps(os.path.relpath(made.out, folder).replace(os.sep, "/"), ensure_ascii=False)
    lines = [
        f"# {corpus.title}: {corpus.about}",
        f"# Licence: {corpus.licence}",
        f"# Cite: {corpus.citation}",
        f"# Made by: xlingual data from {corpus.name}",
        "# Name your own encoders in text-encoder: st:MODEL, vectors:MINE.{lang}.npy …",
    ]
    if corpus.kind == "pool":
        return "\n".join([*lines, *_table("multilingual-pool", "pool", data, corpus.name)]) + "\n"
    if corpus.kind == "pairs":
        for pair in sorted(made.texts):
            one, _, other = pair.partition("-")
            if one == other:  # the others are of two languages, which `evaluate sts` does not take
                file = f'["{data[1:-1]}/{pair}.parquet"]'
                lines += [*_table("sts", "files", file, f"{corpus.name}-{one}"), f"lang = {json.dumps(one)}"]
        return "\n".join(lines) + "\n"
    pairs = _pairs(made.languages)
    if corpus.images:
        lines += [*_table("backretrieval", "manifest", data, corpus.name), 'image-encoder = "pixels"', *pairs]
    lines += [*_table("crosslingual-retrieval", "manifest", data, corpus.name), *pairs]
    return "\n".join(lines) + "\n"


def write_suite(made: Converted, path: Path) -> Path:
    """Write the commands to a file, whose folder their paths count from."""
    make_folder(path.parent)
    with atomic_file(path) as file:
        file.write_text(suite_text(made, path.parent), encoding="utf-8")
    return path


def _table(task: str, kind: str, data: str, name: str) -> list[str]:
    title = name if task == "sts" else task
    return [
        "",
        f"[{title}]",
        f'command = "evaluate {task}"',
        f"{kind} = {data}",
        'text-encoder = ["chargram"]',
        f'out = "results/{name}-{task}"',
    ]


def _pairs(languages: Sequence[str]) -> list[str]:
    """Return the line that names language pairs, of many languages: those with English, or the first."""
    if len(languages) <= _MOST:
        return []
    hub = "en" if "en" in languages else languages[0]
    others = sorted(tag for tag in languages if tag != hub)
    return [f"pairs = {json.dumps([pair for tag in others for pair in (f'{hub}-{tag}', f'{tag}-{hub}')])}"]
