"""The files that pages of the documentation speak of, as small as they can be: one function for each name.

A page names what it needs in `<!-- files: NAME, NAME -->`. The functions write into the current folder.
"""

from __future__ import annotations

import csv
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


def shop() -> None:
    """`shop.csv`: 300 products, half of them in the split train, and `vectors/`: shop.LANG.npy, images.npy.

    The vectors of each language are shifted in a direction of its own, as those of many encoders are.
    """
    rng = np.random.default_rng(2)
    Path("vectors").mkdir(exist_ok=True)
    words = [
        f"{a}{b}{c}" for a in ("bri", "kal", "mo", "ste", "vin") for b in ("da", "lo", "ne") for c in "kmrst"
    ]
    with Path("shop.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text_en", "text_de", "split"])
        for i in range(300):
            name = " ".join(rng.choice(words, 3)).title()
            (colour, farbe), (noun, nomen) = (
                list(kinds.items())[rng.integers(len(kinds))] for kinds in (COLOURS, NOUNS)
            )
            split = "train" if i % 2 else "test"
            writer.writerow([f"p{i}", f"{name}, {colour} {noun}", f"{name}, {nomen} in {farbe}", split])
    meaning = rng.normal(size=(300, 32))
    for lang in ("en", "de"):
        shift = 1.2 * rng.normal(size=32)
        found = meaning + shift + 0.8 * rng.normal(size=meaning.shape)
        np.save(f"vectors/shop.{lang}.npy", found.astype("float32"))
    np.save("vectors/images.npy", (meaning + 0.3 * rng.normal(size=meaning.shape)).astype("float32"))


def squad() -> None:
    """`xquad_r/`: SQuAD-style files en.json and de.json with sentence breaks, twenty-four questions each."""
    write_squad("xquad_r", n=12)


def pool() -> None:
    """`pool/`: a multilingual pool of `xquad_r/`, half of its paragraphs in the split train."""
    squad()
    _run("data squad-to-pool xquad_r --train 0.5 --out pool --quiet")


def nbest() -> None:
    """`val.nbest`, `val.en`, `val.de` and the same of test: five translations of each of forty sentences.

    The feature `lm` knows the right translation, `noise` nothing; the score goes by `noise`. `first.txt` has
    the first translation of each list of test.
    """
    rng = np.random.default_rng(4)
    words = [*NOUNS.items(), *COLOURS.items()]
    firsts = []
    for part in ("val", "test"):
        sources, references, lines = [], [], []
        for i in range(40):
            drawn = [words[j] for j in rng.permutation(len(words))[:7]]
            right = [german.lower() for _, german in drawn]
            sources.append(" ".join(english for english, _ in drawn))
            references.append(" ".join(right))
            listed = []
            for _ in range(5):
                n_wrong = int(rng.integers(0, 5))
                text = " ".join([*right[: 7 - n_wrong], *rng.permutation(right[7 - n_wrong :])][:7])
                lm, noise = -n_wrong + 0.5 * rng.normal(), rng.normal()
                listed.append((noise, f"{i} ||| {text} ||| lm= {lm:.3f} noise= {noise:.3f} ||| {noise:.3f}"))
            listed.sort(reverse=True)
            lines += [line for _, line in listed]
            firsts.append(listed[0][1].split(" ||| ")[1])
        for name, rows in ((f"{part}.en", sources), (f"{part}.de", references), (f"{part}.nbest", lines)):
            Path(name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("first.txt").write_text("\n".join(firsts[40:]) + "\n", encoding="utf-8")


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


FILES = {make.__name__: make for make in (scenes, products, vectors, shop, squad, pool, nbest, results)}


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
