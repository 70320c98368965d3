"""The files that pages of the documentation speak of, as small as they can be: one function for each name.

A page names what it needs in `<!-- files: NAME, NAME -->`. The functions write into the current
folder.
"""

from __future__ import annotations

import csv
import inspect
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tests.e2e.squads import write_squad

from xlingual.cli.main import run
from xlingual.demo_data.scenes import scene_rows

COLOURS = {"red": "rot", "blue": "blau", "green": "grün", "white": "weiß", "black": "schwarz"}
NOUNS = {"chair": "Stuhl", "lamp": "Lampe", "table": "Tisch", "box": "Kiste", "shelf": "Regal", "bed": "Bett"}
SIZES = (5, 10, 20, 40, 80, 120)  # aligned pairs that encoders of a validation are fitted on
SCORES = {"new": (1, 1, 1, 2, 2, 3, 3, 4), "old": (1, 3, 3, 3, 3, 4, 4, 4)}  # of raters
KEY = "secret/key.json"
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


def split_shop() -> None:
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


def multi30k() -> None:
    """`multi30k/`: forty images with captions in English and German, in the format of Multi30k."""
    rows = list(scene_rows(40, ["en", "de"], seed=0))
    for folder in ("images", "task1/raw", "task1/image_splits"):
        Path("multi30k", folder).mkdir(parents=True)
    for item in rows:
        Path(f"multi30k/images/{item.id}.jpg").write_bytes(item.image)
    files = {f"raw/val.{lang}": [item.texts[lang] for item in rows] for lang in ("en", "de")}
    for name, lines in (files | {"image_splits/val.txt": [f"{item.id}.jpg" for item in rows]}).items():
        Path(f"multi30k/task1/{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def shop() -> None:
    """`shop/`: a retrieval folder of sixty products and thirty queries, graded, in English and German.

    `old.trec` and `new.trec`: results of two search engines, which read one language and both.
    """
    names = {"en": (list(COLOURS), list(NOUNS)), "de": (list(COLOURS.values()), list(NOUNS.values()))}
    kinds = [(i, j) for i in range(len(COLOURS)) for j in range(len(NOUNS))]
    for language, (colours, nouns) in names.items():
        folder = Path("shop", language)
        (folder / "qrels").mkdir(parents=True)
        queries, corpus, judged = [], [], ["query-id\tcorpus-id\tscore"]
        for query, (i, j) in enumerate(kinds):
            queries.append({"_id": f"q{query}", "text": f"{colours[i]} {nouns[j]}"})
            for k, place in enumerate(PLACES if language == "en" else PLACES.values()):
                text = f"{nouns[j]} {place}, {colours[i]}"
                corpus.append({"_id": f"p{2 * query + k}", "title": "", "text": text})
            for other, (a, b) in enumerate(kinds):
                if i == a or j == b:
                    grade = 2 if other == query else int(j == b)
                    judged += [f"q{query}\tp{2 * other + k}\t{grade}" for k in range(2)]
        (folder / "qrels" / "test.tsv").write_text("\n".join(judged) + "\n", encoding="utf-8")
        for name, lines in (("queries", queries), ("corpus", corpus)):
            path = folder / f"{name}.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    rng = np.random.default_rng(2)
    for engine, other in (("old", 0.2), ("new", 0.8)):
        with Path(f"{engine}.trec").open("w", encoding="utf-8") as file:
            for language in names:
                for query, (i, j) in enumerate(kinds):
                    found = {
                        f"{tag}:p{2 * c + k}": ((i == a) + 2 * (j == b)) * (1 if tag == language else other)
                        + 0.9 * rng.random()
                        for tag in names
                        for c, (a, b) in enumerate(kinds)
                        for k in range(2)
                    }
                    best = sorted(found, key=found.__getitem__, reverse=True)[:20]
                    for rank, name in enumerate(best, 1):
                        file.write(f"{language}:q{query} Q0 {name} {rank} {found[name]:.6f} {engine}\n")


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


def large_catalogue() -> None:
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


def makers() -> dict[str, Callable[[], None]]:
    """Return what makes files, by name: the functions above whose text begins with the files they write."""
    found = {name: made for name, made in globals().items() if inspect.isfunction(made)}
    return {name: made for name, made in found.items() if (made.__doc__ or "").startswith("`")}


def catalogue() -> None:
    """`catalogue/`: 300 generated items with descriptions in English and German."""
    _run("data scenes --n 300 --languages en,de --seed 0 --out catalogue --quiet")


def validation() -> None:
    """`catalogue/`, and `validation/`: a validation of ten encoders on its half for testing."""
    catalogue()
    encoders = ["random", "chargram", "wordgram", "bigram=chargram:?n=2-2"]
    encoders += [
        f"{name}=lsa:?pairs={n}&fit=catalogue#train" for name, n in zip("abcdef", SIZES, strict=True)
    ]
    _run(
        "papers backretrieval validate catalogue --split test --pairs en-de --seeds 2 --sample 60 "
        "--image-encoder pixels --out validation --quiet "
        f"{' '.join(f'--text-encoder {spec}' for spec in encoders)}"
    )


def study() -> None:
    """`STUDY/`: a study on scenes/ that 1 and 2 rated; `answers-3.json`: what the third sheet saved."""
    scenes()
    _run(
        "study new scenes --split test --source en --target de --system old=lsa:?pairs=10&fit=scenes#train "
        "--system new=lsa:?fit=scenes#train --queries 20 --per-system 3 --raters 2 --controls 0.2 "
        "--image-encoder pixels --out STUDY --quiet"
    )
    asked, key = (json.loads(Path("STUDY", name).read_text("utf-8")) for name in ("study.json", KEY))
    rng = np.random.default_rng(0)
    rows = []
    for query in asked["queries"]:
        for one in query["suggestions"]:
            systems = {credit["system"] for credit in key["credits"].get(one["id"], ())}
            scores, place = SCORES["new" if "new" in systems else "old"], int(rng.integers(8))
            for rater in ("1", "2", "3"):
                seen = scores[min(7, max(0, place + int(rng.integers(-1, 2))))]
                row = {"rater": rater, "query": query["shown"]["id"], "suggestion": one["id"], "occasion": 0}
                score = key["controls"].get(one["id"]) or seen
                rows.append(row | {"score": score, "at": "2026-01-01T00:00:00Z", "seconds": None})
    for rater in ("1", "2", "3"):
        ratings = [row for row in rows if row["rater"] == rater]
        answers = {"schema": "xlingual/study_answers/1", "study": asked["id"], "ratings": ratings}
        Path(f"answers-{rater}.json").write_text(json.dumps(answers), encoding="utf-8")
    _run("study collect STUDY answers-1.json answers-2.json --quiet")


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
            makers()[name]()
