"""The files that steps of `benchmarks.frozen` need: each function writes some into the current folder.

Heavy packages are imported inside functions, since the number of their threads is set before.
"""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path
from zlib import crc32


def vectors() -> None:
    """Write vectors of the scenes' 120 items: of images, and of texts that are near to them or far."""
    import numpy as np

    rng = np.random.default_rng(0)
    ideal = rng.standard_normal((120, 16))
    Path("v").mkdir(exist_ok=True)
    np.save("img.npy", ideal.astype(np.float32))
    for name, noise in (("good", 0.3), ("middle", 2.0), ("bad", 5.0)):
        for language in ("en", "de", "es"):
            made = ideal + noise * rng.standard_normal(ideal.shape)
            np.save(f"v/{name}.{language}.npy", made.astype(np.float32))


def captions() -> None:
    """Write forty items with three texts in each of two languages, one a row."""
    rows = [
        {"id": f"{language}{i}.{k}", "lang": language, "item": i, "text": f"{number} {word} on page {i * k}"}
        for i in range(40)
        for language, number in (("en", "three small red"), ("de", "drei kleine rote"))
        for k, word in enumerate(("chairs", "lamps", "radios"))
    ]
    Path("captions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def bad_manifest() -> None:
    """Write a manifest with an empty text, an id that occurs twice and an image that is not there."""
    rows = [
        {"id": "a", "text_en": "a red chair", "text_de": "ein roter Stuhl", "image": "no.png"},
        {"id": "a", "text_en": "", "text_de": "ein Tisch", "image": "no.png"},
        {"id": "c", "text_en": "a lamp\u200b", "text_de": "eine Lampe", "image": ""},
    ]
    Path("bad.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def lists() -> None:
    """Write the first sixty n-best lists of Multi30k's validation data, in two halves, and their texts."""
    folder = Path("data/nbest_multi30k")
    Path("lists").mkdir(exist_ok=True)
    for part, begin in (("dev", 0), ("test", 30)):
        with (folder / "val.nbest").open(encoding="utf-8") as file:
            lines = list(islice(file, begin * 20, (begin + 30) * 20))
        moved = (f"{int(line.split(' ', 1)[0]) - begin} {line.split(' ', 1)[1]}" for line in lines)
        Path(f"lists/{part}.nbest").write_text("".join(moved), encoding="utf-8")
        firsts = (line.split(" ||| ")[1] for line in lines[::20])
        Path(f"lists/{part}.first").write_text("".join(f"{text}\n" for text in firsts), encoding="utf-8")
        for language in ("en", "de"):
            with (folder / f"val.{language}").open(encoding="utf-8") as file:
                texts = list(islice(file, begin, begin + 30))
            Path(f"lists/{part}.{language}").write_text("".join(texts), encoding="utf-8")


def answers() -> None:
    """Write the answers of three raters to the study, who mostly prefer the first system."""
    study = json.loads(Path("study/study.json").read_text("utf-8"))
    credits = json.loads(Path("study/secret/key.json").read_text("utf-8"))["credits"]
    with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("rater", "query", "suggestion", "occasion", "score", "at", "seconds"))
        for rater in ("1", "2", "3"):
            for page in study["orders"][0]:
                for one in page["suggestions"]:
                    luck = crc32(f"{rater} {one}".encode()) % 3
                    first = any(credit["system"] == "chargram" for credit in credits.get(one, []))
                    row = (rater, page["query"], one, page.get("occasion", 0), 1 + luck + (not first))
                    table.writerow((*row, "2026-01-02T00:00:00Z", 4.5))


def options() -> None:
    """Write a training's options into a file."""
    text = 'split-text = "halves"\nmargin = 0.3\nneighbours = 2\nepochs = 2\nthreads = 1\n'
    Path("options.toml").write_text(text, encoding="utf-8")
