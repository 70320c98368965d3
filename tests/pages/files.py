"""The files that pages of the documentation speak of, as small as they can be: one function for each name.

A page names what it needs in `<!-- files: NAME, NAME -->`. The functions write into the current
folder.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tests.e2e.squads import write_squad

from xlingual.cli.main import run

COLOURS = {"red": "rot", "blue": "blau", "green": "grün", "white": "weiß", "black": "schwarz"}
NOUNS = {"chair": "Stuhl", "lamp": "Lampe", "table": "Tisch", "box": "Kiste", "shelf": "Regal", "bed": "Bett"}
PLACES = {"for the hall": "für den Flur", "for the garden": "für den Garten"}


def _run(line: str) -> None:
    code = run(line.split())
    assert code == 0, line


def scenes() -> None:
    """`scenes/`: 80 images with descriptions in English, German and Japanese."""
    _run("data scenes --n 80 --languages en,de,ja --seed 0 --out scenes --quiet")


def products() -> None:
    """`products.csv` and `photos/`: sixty products with sku, title_en, title_de, category, price, image."""
    from PIL import Image

    rng = np.random.default_rng(0)
    Path("photos").mkdir()
    with Path("products.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sku", "title_en", "title_de", "category", "price", "image"])
        i = 0
        for colour, farbe in COLOURS.items():
            for noun, nomen in NOUNS.items():
                for place, ort in PLACES.items():
                    path = f"photos/{i}.png"
                    Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(path)
                    titles = (f"{colour} {noun} {place}", f"{nomen} {farbe} {ort}")
                    writer.writerow([f"p{i}", *titles, noun, 5 + 3 * (i % 17), path])
                    i += 1


def vectors() -> None:
    """`vectors/`: MODEL.LANG.npy of the models old and new, and images.npy; row i is product i."""
    rng = np.random.default_rng(1)
    Path("vectors").mkdir()
    meaning = rng.normal(size=(60, 16))
    for model, noise in (("old", 1.6), ("new", 0.4)):
        for lang in ("en", "de"):
            found = meaning + noise * rng.normal(size=meaning.shape)
            np.save(f"vectors/{model}.{lang}.npy", found.astype("float32"))
    np.save("vectors/images.npy", (meaning + 0.2 * rng.normal(size=meaning.shape)).astype("float32"))


def squad() -> None:
    """`xquad_r/`: SQuAD-style files en.json and de.json with sentence breaks, twenty-four questions each."""
    write_squad("xquad_r", n=12)


def pool() -> None:
    """`pool/`: a multilingual pool of `xquad_r/`, half of its paragraphs in the split train."""
    squad()
    _run("data squad-to-pool xquad_r --train 0.5 --out pool --quiet")


def results() -> None:
    """`out/old` and `out/new`: Backretrieval of the two encoders of `vectors/` on products.csv."""
    products()
    vectors()
    for model in ("old", "new"):
        _run(
            "evaluate bkr products.csv --text-column title_{lang} --id-column sku "
            f"--text-encoder vectors/{model}.{{lang}}.npy "
            f"--image-encoder vectors:vectors/images.npy --out out/{model} --quiet"
        )


FILES = {make.__name__: make for make in (scenes, products, vectors, squad, pool, results)}


def shifted() -> None:
    """`vectors/shifted.LANG.npy`: vectors whose languages lie apart; row i is product i."""
    rng = np.random.default_rng(2)
    Path("vectors").mkdir(exist_ok=True)
    meaning = rng.normal(size=(60, 16))
    for lang, offset in (("en", 0.0), ("de", 3.0 * rng.normal(size=16))):
        found = meaning + offset + 0.4 * rng.normal(size=meaning.shape)
        np.save(f"vectors/shifted.{lang}.npy", found.astype("float32"))


def exports() -> None:
    """`scroll.json`, `milvus.jsonl`, `pgvector.csv`, `elasticsearch.json`: exports of vector databases."""
    rng = np.random.default_rng(3)
    rows = [(f"p{i}", vector) for i, vector in enumerate(rng.normal(size=(60, 16)).round(4).tolist())]
    points = [{"id": sku, "payload": {}, "vector": vector} for sku, vector in rows]
    Path("scroll.json").write_text(json.dumps({"result": {"points": points}}))
    Path("milvus.jsonl").write_text("".join(json.dumps({"pk": k, "embedding": v}) + "\n" for k, v in rows))
    hits = [{"_id": sku, "_source": {"embedding": vector}} for sku, vector in rows]
    Path("elasticsearch.json").write_text("\n".join(map(json.dumps, hits)))
    with Path("pgvector.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [["sku", "embedding"], *([sku, json.dumps(vector)] for sku, vector in rows)]
        )


def word_vectors() -> None:
    """`wiki.LANG.align.vec`: aligned vectors of the words of the products; `de-en.txt`: a dictionary."""
    rng = np.random.default_rng(4)
    pairs = {**COLOURS, **NOUNS, "hall": "Flur", "garden": "Garten"}
    lines: dict[str, list[str]] = {"en": [], "de": []}
    for english, german in pairs.items():
        meaning = rng.normal(size=8)
        for lang, word in (("en", english), ("de", german)):
            numbers = meaning + 0.2 * rng.normal(size=8)
            lines[lang].append(f"{word.lower()} {' '.join(f'{x:.4f}' for x in numbers)}")
    for lang, found in lines.items():
        Path(f"wiki.{lang}.align.vec").write_text("\n".join([f"{len(found)} 8", *found]) + "\n", "utf-8")
    Path("de-en.txt").write_text("".join(f"{de.lower()}\t{en}\n" for en, de in pairs.items()), "utf-8")


def catalogue() -> None:
    """`catalogue.parquet` and `titles.LANG.npy`: 30,000 products with made-up vectors."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, rng = 30_000, np.random.default_rng(5)
    names = {lang: [f"{word} {i}" for i in range(n)] for lang, word in (("en", "product"), ("de", "Produkt"))}
    columns = {f"title_{lang}": found for lang, found in names.items()}
    pq.write_table(pa.table({"sku": [f"p{i}" for i in range(n)], **columns}), "catalogue.parquet")
    meaning = rng.normal(size=(n, 16))
    for lang in names:
        np.save(f"titles.{lang}.npy", (meaning + 0.7 * rng.normal(size=meaning.shape)).astype("float32"))


FILES |= {make.__name__: make for make in (shifted, exports, word_vectors, catalogue)}


def model(kind: str, name: str) -> Callable[[Callable[[str], Path]], None]:
    """Return what puts a tiny network with random weights where a model of a hub is looked for first."""
    return lambda checkpoints: shutil.copytree(checkpoints(kind), name)


# folders under the names of well-known models: a folder of that name is taken before a hub is asked
MODELS = {
    "st-model": model("sentence_bert", "intfloat/multilingual-e5-small"),
    "my-model": model("sentence_bert", "my-model"),
    "clip-model": model("clip", "openai/clip-vit-base-patch32"),
}


def write(names: Sequence[str], checkpoints: Callable[[str], Path] | None) -> None:
    """Write what a page needs into the current folder."""
    for name in names:
        if name in MODELS:
            assert checkpoints is not None, f"{name} needs torch"
            MODELS[name](checkpoints)
        else:
            FILES[name]()
