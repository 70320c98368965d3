"""Data sets on which the choice was not made: emoji, and the built-in scenes and recipes.

Encoders are cheap and are fitted on other items than those of the benchmarks: character n-grams,
cross-lingual LSA of a few hundred translations, and LSA of each language alone, whose spaces share nothing.
Images are pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pivot_data import DATA, Problem
from xlingual import Manifest
from xlingual.arrays import Vectors
from xlingual.cli.main import run
from xlingual.data.pools.clusters import joined
from xlingual.embed import embed_roles, load_fit_texts
from xlingual.encoders import image_encoder, text_encoders
from xlingual.workflows.pivoting.data import Embedded, Parts

OUT = Path("out/pivot")
EMOJI = ("ar", "de", "en", "es", "fa", "fr", "hi", "id", "it", "ja", "ko", "pt", "ru", "th", "tr", "vi", "zh")
SCENES, RECIPES = ("en", "de", "es", "ja"), ("ar", "en", "es", "id", "ru")
N_SCENES, TO_FIT_ENCODERS, N_RECIPES = 5_500, 1_000, 1_000


def mono_lsa(fit: Sequence[str], texts: Sequence[str], dim: int = 100) -> Vectors:
    """Return vectors of texts by LSA of one language alone: character 2- to 4-grams of words."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    weights = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2, sublinear_tf=True)
    axes = TruncatedSVD(dim, random_state=0).fit(weights.fit_transform(fit))
    found: Vectors = axes.transform(weights.transform(texts)).astype(np.float32)
    return found


def vectors_of(path: Path, rows: Manifest, spec: str, tags: Sequence[str]) -> dict[str, Vectors]:
    """Return the vectors of the texts of each language, in the order of the rows."""
    if spec == "mono-lsa":
        fit = Manifest.read(path, split="train")
        texts = {tag: [rows.text[row] for row in rows.rows_of(tag).tolist()] for tag in tags}
        known = {tag: [fit.text[row] for row in fit.rows_of(tag).tolist()] for tag in tags}
        return {tag: mono_lsa(known[tag], texts[tag]) for tag in tags}
    made = text_encoders(
        {"text": f"{spec}&fit={path}#train"}, languages=list(rows.languages), fit_texts=load_fit_texts
    )
    everything = np.arange(len(rows))
    sides = embed_roles(rows, "text", made["text"], everything, everything, store=None, progress=None)
    found = np.asarray(sides.candidates.vectors, dtype=np.float32)
    return {tag: found[rows.rows_of(tag)] for tag in tags}


def images_of(rows: Manifest, tag: str, spec: str, kept: Path) -> Vectors:
    """Return the vectors of the images of a language's rows; they are computed once."""
    if not kept.exists():
        own = rows.rows_of(tag)
        parts = Parts(own, own[:0], np.arange(len(rows)))
        found = Embedded.of(rows, None, image_encoder(spec), parts, {"store": None, "progress": None})
        np.save(kept, found.image)
    vectors: Vectors = np.load(kept)
    return vectors


SPECS: Mapping[str, str] = {
    "chargram": "chargram:?dim=128",
    "lsa 100": "lsa:?pairs=100&dim=80",
    "lsa 300": "lsa:?pairs=300&dim=100",
    "mono-lsa": "mono-lsa",
}


def emoji(encoders: Sequence[str] = ("chargram", "lsa 100", "mono-lsa")) -> Iterator[Problem]:
    """Yield encoders of names and keywords of emoji in 17 languages; one in four is to fit encoders."""
    path = OUT / "emoji.parquet"
    table = pq.read_table(DATA / "emoji/emoji.parquet")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {
            f"text_{tag}": [
                f"{row[f'name_{tag}'] or ''} {row[f'keywords_{tag}'] or ''}".replace("|", " ").strip()
                for row in table.to_pylist()
            ]
            for tag in EMOJI
        }
        split = ["train" if number % 4 == 0 else "test" for number in range(len(table))]
        ids = {"id": table["id"], "image": table["image_png"], "split": pa.array(split)}
        pq.write_table(pa.table({**ids, **columns}), path)
    yield from _parallel("emoji", path, EMOJI, encoders, OUT / "emoji.npy")


def scenes(encoders: Sequence[str] = ("chargram", "lsa 300", "mono-lsa")) -> Iterator[Problem]:
    """Yield encoders of the built-in scenes in four languages."""
    path = OUT / "scenes/manifest.parquet"
    if not path.exists():
        _made("--n", N_SCENES, "--languages", ",".join(SCENES), "--train", 0, "--seed", 1, out=path.parent)
    marked = OUT / "scenes/marked.parquet"
    if not marked.exists():
        table = pq.read_table(path).slice(0, N_SCENES)
        split = ["train" if number < TO_FIT_ENCODERS else "test" for number in range(len(table))]
        place = table.schema.get_field_index("split")
        pq.write_table(table.set_column(place, "split", pa.array(split)), marked)
    yield from _parallel("scenes", marked, SCENES, encoders, OUT / "scenes.npy")


def _parallel(
    data: str, path: Path, tags: Sequence[str], encoders: Sequence[str], images: Path
) -> Iterator[Problem]:
    rows = Manifest.read(path, split="test")
    texts = [[rows.text[row] for row in rows.rows_of(tag).tolist()] for tag in tags]
    image = images_of(rows, tags[0], "pixels", images)
    group = joined(np.arange(len(image)), *texts)
    for name in encoders:
        yield Problem(data, name, tuple(tags), vectors_of(path, rows, SPECS[name], tags), image, group)


def recipes(encoders: Sequence[str] = ("chargram", "mono-lsa")) -> Iterator[Problem]:
    """Yield encoders of the built-in recipes: no two of one dish, tested on other dishes in all languages."""
    path = OUT / "recipes/manifest.parquet"
    if not path.exists():
        numbers = ("--items", N_RECIPES, "--parallel", 400, "--train", 300)
        _made("--recipes", *numbers, out=path.parent)
    rows, dishes = Manifest.read(path, split="test"), Manifest.read(path, split="fit")
    kept = {tag: OUT / f"recipes-{tag}.npy" for tag in RECIPES}
    image = np.concatenate([images_of(rows, tag, "pixels", kept[tag]) for tag in RECIPES])
    own = np.repeat(np.arange(len(RECIPES)), N_RECIPES)
    for name in encoders:
        found, test = (vectors_of(path, each, SPECS[name], RECIPES) for each in (rows, dishes))
        text = {tag: np.zeros((len(own), found[tag].shape[1]), dtype=np.float32) for tag in RECIPES}
        for code, tag in enumerate(RECIPES):
            text[tag][own == code] = found[tag]
        yield Problem("recipes", name, RECIPES, text, image, np.arange(len(own)), test, own)


def _made(*words: object, out: Path) -> None:
    given = [str(word) for word in ("data", "scenes", *words, "--out", out, "--quiet")]
    if run(given) != 0:
        raise SystemExit("the data could not be made")
