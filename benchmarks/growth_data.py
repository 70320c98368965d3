"""The data of `growth_tasks`: made-up texts, images, vectors and judgements of any number of rows.

A row is a text; items have an English text and its German translation word by word. Words follow Zipf's law.
Vectors of texts and images are random. `TASKS` and `ENCODERS` say what runs on them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FITTED = 2_000  # items on which encoders that are fitted are fitted, whatever the number of rows
QUERIES = 200  # of judged retrieval, whatever the number of candidates
DIM, IMAGE_DIM = 128, 256
WORDS, KNOWN = 200_000, 20_000  # of the texts; of these, with a vector and a translation
SYLLABLES = [*("ka", "lo", "mi", "ren", "stu", "ver", "tal", "ön", "bri", "gau")]
SYLLABLES += [*("ßel", "ne", "pos", "qui", "dra", "wim", "ef", "hol", "jut", "xa")]
SIDE = 64  # pixels of an image
GIVEN = "random:?dim=128"  # the text encoder of the tasks: vectors are not what they measure
FIT = "fit=fit.csv"
BASE = f"{FIT}::{GIVEN}"  # below the transforms

_IMAGES = f"manifest.parquet --text-encoder {GIVEN} --image-encoder"

TASKS: dict[str, str] = {  # command after `xlingual evaluate`
    "backretrieval": f"{_IMAGES} images.npy --pairs en-de",
    "crosslingual-retrieval": f"manifest.parquet --text-encoder {GIVEN} --pairs en-de",
    "distance-correlation": f"{_IMAGES} images.npy --pairs en-de",
    "multilingual-pool": f"pool --text-encoder {GIVEN}",
    "retrieval": f"search --text-encoder {GIVEN}",
    "image-sentence": f"{_IMAGES} images-128.npy",
    "sts": f"pairs.parquet --lang en --text-encoder {GIVEN}",
}
QUADRATIC = {"backretrieval", "crosslingual-retrieval", "multilingual-pool", "image-sentence"}  # all pairs
ENCODERS: dict[str, str] = {  # scheme → spec
    "vectors": "vectors:texts.npy",
    "random": GIVEN,
    "chargram": "chargram:",
    "wordgram": "wordgram:",
    "bm25": "bm25:",
    "lsa": f"lsa:?{FIT}",
    "wordvec": "wordvec:words.vec",
    "translate": f"translate:words.tsv::{GIVEN}",
    "concat": f"concat:::{GIVEN}",
    "truncate": f"truncate:64::{GIVEN}",
    "quantize": f"quantize:int8?{BASE}",
    "pixels": "pixels:",
} | {
    name: f"{name}:{argument}?{more}{BASE}"
    for name, argument, more in (
        *((name, "", "") for name in ("centre", "standardize", "whiten", "procrustes", "ridge")),
        *((name, "2", "") for name in ("all-but-the-top", "lir", "cca")),
        *(("lsar", "auto", ""), ("pca", "64", ""), ("delta", "", "from=de&to=en&")),
    )
}
OWN = {"python"}  # takes no extra and is not measured: it is a function of the user's
IMAGES = {"pixels"}


def texts(n: int, rng: np.random.Generator) -> list[str]:
    """Return n texts of 4 to 14 words: English ones, each followed by its translation."""
    lengths = rng.integers(4, 15, -(-n // 2))
    rank = np.exp(rng.random(int(lengths.sum())) * np.log(WORDS)).astype(np.int64)  # Zipf's law
    known = np.array([word(number) for number in range(WORDS)], dtype=object)
    ends, found = np.cumsum(lengths), []
    for language in (known[rank], known[translation()[rank]]):
        found.append([" ".join(language[a:b]) for a, b in zip(ends - lengths, ends, strict=True)])
    return [text for pair in zip(*found, strict=True) for text in pair][:n]


def translation() -> np.ndarray:
    """Return the number of the German word for each English one."""
    return np.random.default_rng(0).permutation(WORDS)


def word(number: int) -> str:
    """Return the word of a number: its digits to the base of the number of syllables."""
    parts = []
    while True:
        number, digit = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[digit])
        if number == 0:
            return "".join(parts)


def make(folder: Path, n: int, what: str) -> None:
    """Write the files that a task or an encoder needs, of n rows."""
    rng = np.random.default_rng(n)
    if what == "sts":
        own = {"sentence1": texts(n, rng), "sentence2": texts(n, rng), "score": rng.random(n) * 5}
        pq.write_table(pa.table(own), folder / "pairs.parquet")
    elif what == "retrieval":
        search_folder(folder / "search", texts(n, rng), min(QUERIES, n // 2), rng)
    elif what == "multilingual-pool":
        search_folder(folder / "pool", texts(n // 2, rng), n // 2, rng)
    elif what == "pixels":
        pictures(folder, n, rng)
    else:
        pq.write_table(manifest(n, texts(n, rng)), folder / "manifest.parquet")
        for name, d in (("images", IMAGE_DIM), ("images-128", DIM), ("texts", DIM)):
            np.save(
                folder / f"{name}.npy", rng.standard_normal((n if name == "texts" else n // 2, d), np.float32)
            )
        beside(folder, rng)


def manifest(n: int, of: Sequence[str]) -> pa.Table:
    """Return n rows of n // 2 items, each with an English and a German text, a title and a body."""
    item = np.arange(n) // 2
    columns = {
        "id": [f"row-{i}" for i in range(n)],
        "item": [f"item-{i}" for i in item],
        "lang": [("en", "de")[i % 2] for i in range(n)],
        "text": of,
        "title": [text.partition(" ")[0] for text in of],
        "body": [text.partition(" ")[2] for text in of],
    }
    return pa.table(columns)


def beside(folder: Path, rng: np.random.Generator) -> None:
    """Write what encoders are fitted on, word vectors and a dictionary."""
    rows = manifest(2 * FITTED, texts(2 * FITTED, rng)).to_pylist()
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    (folder / "fit.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = [word(number) for number in range(KNOWN)]
    vectors = rng.standard_normal((len(known), DIM))
    with (folder / "words.vec").open("w", encoding="utf-8") as file:
        file.write(f"{len(known)} {DIM}\n")
        for one, vector in zip(known, vectors, strict=True):
            file.write(f"{one} {' '.join(f'{x:.3f}' for x in vector)}\n")
    lines = [f"{word(german)}\t{one}" for one, german in zip(known, translation(), strict=False)]
    (folder / "words.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def search_folder(folder: Path, of: Sequence[str], queries: int, rng: np.random.Generator) -> None:
    """Write a retrieval folder: candidates, and queries with one relevant candidate each."""
    (folder / "qrels").mkdir(parents=True)
    relevant = rng.permutation(len(of))[:queries]
    for name, rows in (("corpus", range(len(of))), ("queries", relevant.tolist())):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for number, row in enumerate(rows):
                language = ("en", "de")[number % 2]
                line = {"_id": f"{name[0]}{number}", "text": of[row], "language": language}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    lines = ["query-id\tcorpus-id\tscore", *(f"q{number}\tc{row}\t1" for number, row in enumerate(relevant))]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def pictures(folder: Path, n: int, rng: np.random.Generator) -> None:
    """Write a manifest with n images."""
    from PIL import Image

    (folder / "images").mkdir()
    for number in range(n):
        rgb = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(rgb).resize((SIDE, SIDE)).save(folder / "images" / f"{number}.png")
    table = manifest(n, texts(n, rng)).append_column("image", pa.array([f"images/{i}.png" for i in range(n)]))
    pq.write_table(table.set_column(1, "item", table["id"]), folder / "manifest.parquet")


def encode(name: str) -> None:
    """Encode the manifest of this folder, and print the seconds of processor time as the last line."""
    from xlingual import Manifest
    from xlingual.embed import load_fit_texts
    from xlingual.encoders import image_encoder, text_encoders
    from xlingual.forms import SparseVectors

    data = Manifest.read("manifest.parquet")
    rows = np.arange(len(data))
    begun = time.process_time()
    if name in IMAGES:
        _, encoder = image_encoder(ENCODERS[name])
        vectors = encoder.encode(data.images(rows))
    else:
        made = text_encoders(ENCODERS[name], languages=data.languages, fit_texts=load_fit_texts)
        (encoder,) = made.values()
        vectors = encoder.encode(data.texts(rows).plain())
    seconds = time.process_time() - begun
    assert len(vectors) == len(data), len(vectors)
    numbers = vectors.matrix.data if isinstance(vectors, SparseVectors) else np.asarray(vectors[:1000])
    assert np.isfinite(numbers).all()
    assert np.any(numbers)
    print(seconds)


if __name__ == "__main__":
    encode(sys.argv[1])
