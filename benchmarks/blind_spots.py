"""What Backretrieval cannot see: made-up encoders and repairs whose true retrieval is known.

Each is put beside the best real encoder: `look` knows what the image looks like and nothing else, `hash` finds
every match and has no neighbourhood, `topic` knows one of sixty topics, `offset` moves one language away, CSLS
and the inverted softmax mend the hubs of the similarities.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.cluster import KMeans

from xlingual import (
    DataWarning,
    Manifest,
    backretrieval,
    crosslingual_retrieval,
    distance_correlation,
    validate_backretrieval,
)
from xlingual.data.scenes import write_scenes
from xlingual.embed import embed_texts, fit_texts_for
from xlingual.encoders import image_encoder, text_encoders

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("docs/results/blind-spots.json")
SEEDS, TOPICS, HASH_DIM, NEIGHBOURS, BETA, K = 25, 60, 64, 10, 30.0, 10
LSA_PAIRS, LSA_DIMS = (25, 50, 100, 200, 400, 800), (20, 50, 150)
NAMES = ("BkR R@10", "SIM", "XLR R@1", "XLR R@10", "CORR")

Sides = dict[str, np.ndarray]  # language → vectors [items, d]
Repair = Callable[[np.ndarray], np.ndarray]  # cosines [n, m] → scores [n, m]


@dataclass(frozen=True)
class Source:
    """Data of one language pair: real encoders' vectors and image vectors, one line for each item."""

    name: str
    manifest: Manifest
    pair: tuple[str, str]
    images: np.ndarray  # [items, d]
    texts: dict[str, Sides]
    samples: dict[str, np.ndarray]  # S and T, item numbers [seeds, n]


class Given:
    """An encoder of texts with one vector for each item and language, or of images with one for each item."""

    def __init__(self, name: str, vectors: Sides | np.ndarray) -> None:
        self.identity, self.vectors = f"given:{name}", vectors

    def encode(self, batch) -> np.ndarray:
        """Return the lines of the items."""
        (items,) = (numbering.index for numbering in batch.numberings if numbering.unit == "items")
        if isinstance(self.vectors, np.ndarray):
            return self.vectors[items].astype(np.float32)
        languages = np.array(batch.language)
        out = np.empty((len(items), next(iter(self.vectors.values())).shape[1]), dtype=np.float32)
        for language, vectors in self.vectors.items():
            out[languages == language] = vectors[items[languages == language]]
        return out


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return float64 vectors of length 1; zero vectors stay zero."""
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


# --- data


def ikea() -> Source:
    """Return the IKEA products with the 24 encoders and 25 samples that come with them."""
    manifest = Manifest.read(DATA / "ikea/ikea_en_de_eval.parquet")
    files = sorted((DATA / "ikea/embeddings").glob("*.en.npy"))
    texts = {
        path.name.removesuffix(".en.npy"): {
            language: np.load(str(path).replace(".en.", f".{language}.")) for language in ("en", "de")
        }
        for path in files
    }
    splits = np.load(DATA / "ikea/embeddings/splits.npz")
    images = np.load(DATA / "ikea/ikea_en_de_eval_features.npy")
    return Source("IKEA en-de", manifest, ("en", "de"), images, texts, {k: splits[k] for k in "ST"})


def emoji(folder: Path, source: str, target: str) -> Source:
    """Return emoji, half of them for fitting; a text is the name and the keywords."""
    table = pq.read_table(DATA / "emoji/emoji.parquet")
    columns = {"id": table["id"], "image": table["image_png"]}
    for language in (source, target):
        both = zip(
            table[f"name_{language}"].to_pylist(), table[f"keywords_{language}"].to_pylist(), strict=True
        )
        columns[f"text_{language}"] = pa.array([f"{name} | {words}" for name, words in both])
    parts = np.array(["test", "train"])[np.random.default_rng(0).permutation(len(table)) % 2]
    path = folder / f"emoji-{source}-{target}.parquet"
    pq.write_table(pa.table({**columns, "split": pa.array(parts)}), path)
    return fitted(f"emoji {source}-{target}", path, (source, target))


def scenes(folder: Path) -> Source:
    """Return built-in scenes, half of them for fitting."""
    return fitted(
        "scenes en-de", write_scenes(folder / "scenes", n=1600, languages=("en", "de")), ("en", "de")
    )


def fitted(name: str, path: Path, pair: tuple[str, str]) -> Source:
    """Return the test part of a manifest, with encoders fitted on more and more of its training part."""
    manifest = Manifest.read(path, split="test")
    specs = {
        f"lsa {pairs}/{dim}": f"lsa:?pairs={pairs}&dim={dim}&fit={path}%23train"
        for pairs in LSA_PAIRS
        for dim in LSA_DIMS
        if dim <= pairs and pairs <= Manifest.read(path, split="train").n_items
    }
    specs |= {f"chargram {n}": f"chargram:?n={n}&fit={path}%23train" for n in ("2-2", "3-5")}
    found = text_encoders({"random": "random:", **specs}, languages=pair, fit_texts=fit_texts_for(manifest))
    rows = np.arange(len(manifest))
    texts = {}
    for one, encoder in found.items():
        vectors = embed_texts(manifest, one, encoder, rows, store=None).vectors
        texts[one] = {language: by_item(manifest, language, vectors) for language in pair}
    _, eyes = image_encoder("pixels:")
    first = manifest.rows_of(pair[0])
    images = np.empty_like(eyes.encode(manifest.pictures(first)))
    images[manifest.item[first]] = eyes.encode(manifest.pictures(first))
    rng = np.random.default_rng(0)
    drawn = np.stack([rng.permutation(manifest.n_items) for _ in range(SEEDS)])
    half = manifest.n_items // 2
    return Source(name, manifest, pair, images, texts, {"S": drawn[:, :half], "T": drawn[:, half : 2 * half]})


def by_item(manifest: Manifest, language: str, vectors: np.ndarray) -> np.ndarray:
    """Return the vectors of one language in the order of items."""
    rows = manifest.rows_of(language)
    out = np.empty((manifest.n_items, vectors.shape[1]), dtype=np.float32)
    out[manifest.item[rows]] = vectors[rows]
    return out


# --- encoders


def look(source: Source, noise: float) -> Sides:
    """Return the images' own vectors, with noise `noise` times as long, of its own for each language."""
    rng = np.random.default_rng(1)
    images = unit(source.images)
    return {language: images + noise * unit(rng.standard_normal(images.shape)) for language in source.pair}


def hashed(source: Source) -> Sides:
    """Return a random vector for each item: every match is found, and no item is near to another."""
    vectors = unit(np.random.default_rng(2).standard_normal((len(source.images), HASH_DIM)))
    return dict.fromkeys(source.pair, vectors)


def joined(one: Sides, other: Sides) -> Sides:
    """Return both vectors in one, of equal length."""
    return {language: np.hstack([unit(one[language]), unit(other[language])]) for language in one}


def topics(source: Source, vectors: np.ndarray) -> Sides:
    """Return one of sixty centres for each line [sides · items, d]; the sides are given one after the other."""
    found = KMeans(TOPICS, n_init=3, random_state=0).fit(unit(vectors))
    labels = found.labels_.reshape(-1, len(source.images))
    sides = [found.cluster_centers_[row] for row in labels]
    return dict(zip(source.pair, sides * (2 // len(sides)), strict=True))


def offset(source: Source, real: Sides, size: float) -> Sides:
    """Return the real vectors, those of each language moved `size` times their length in one direction.

    The direction is that of a text, drawn for each language: one at right angles to all texts would change
    no order.
    """
    rng = np.random.default_rng(3)
    moved = {}
    for language in source.pair:
        vectors = unit(real[language])
        moved[language] = vectors + size * vectors[rng.integers(len(vectors))]
    return moved


def csls(cosines: np.ndarray) -> np.ndarray:
    """Return 2·cos less the mean cosine to the ten nearest, of the query and of the candidate."""
    rows = np.sort(cosines, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    columns = np.sort(cosines, axis=0)[-NEIGHBOURS:].mean(axis=0)
    return 2 * cosines - rows[:, None] - columns[None]


def inverted_softmax(cosines: np.ndarray) -> np.ndarray:
    """Return the logarithm of each query's share in exp(30·cos) of a candidate."""
    return BETA * cosines - np.log(np.exp(BETA * cosines).sum(axis=0))[None]


# --- measures


def by_core(source: Source, encoders: dict[str, Sides]) -> dict[str, dict]:
    """Return the measures of encoders, with intervals, and chance and oracle under the name ""."""
    with tempfile.TemporaryDirectory() as folder:
        splits = Path(folder) / "splits.npz"
        np.savez(splits, **source.samples)
        common = {
            "text_encoders": {name: Given(name, sides) for name, sides in encoders.items()},
            "pairs": "-".join(source.pair),
            "splits": splits,
            "store": None,
        }
        images = Given("images", source.images)
        bkr = backretrieval(source.manifest, image_encoder=images, examples=False, **common)
        xlr = crosslingual_retrieval(source.manifest, measures=["R@1", "R@10"], **common)
        corr = distance_correlation(source.manifest, image_encoder=images, **common)
    overall = [row for run in (bkr, xlr, corr) for row in run.summary if row.source is None]
    found: dict[str, dict] = {name: {} for name in encoders}
    for name in encoders:
        for label, row in zip(NAMES, (r for r in overall if r.encoder == name), strict=True):
            found[name][label] = [row.value, row.ci.low, row.ci.high] if row.ci else [row.value]
    first = overall[0]
    base = {
        "sources": source.samples["S"].shape[1],
        "seeds": len(source.samples["S"]),
        "chance": first.chance,
        "oracle": first.oracle,
    }
    return {"": base, **found}


def by_numpy(source: Source, real: Sides, repair: Repair) -> dict[str, list[float]]:
    """Return the measures of an encoder with repaired similarities: plain products in float64."""
    images, sides = unit(source.images), [unit(real[language]) for language in source.pair]
    values = []
    for s, t in zip(source.samples["S"], source.samples["T"], strict=True):
        nearest = t[repair(sides[0][s] @ sides[1][t].T).argmax(axis=1)]
        back = images[nearest] @ images[s].T  # [query, source image]
        own = np.diag(back)[:, None]
        true = repair(sides[0][s] @ sides[1][s].T)
        above = (true > np.diag(true)[:, None]).sum(axis=1)
        hit = (back > own).sum(axis=1) < K
        values.append([hit.mean(), own.mean(), (above < 1).mean(), (above < K).mean()])
    return {label: [float(value)] for label, value in zip(NAMES, np.mean(values, axis=0), strict=False)}


def judged(source: Source) -> dict:
    """Return the measures of the best real encoder, and of what is built beside it and upon it."""
    real = by_core(source, source.texts)
    names = list(source.texts)
    best = max(names, key=lambda name: real[name]["XLR R@10"][0])
    leader = max(names, key=lambda name: real[name]["BkR R@10"][0])
    own = source.texts[best]
    plain = by_numpy(source, own, lambda cosines: cosines)
    for label, (value,) in plain.items():  # the core's numbers, but for ties
        assert abs(value - real[best][label][0]) < 0.01, (source.name, label, value, real[best][label])
    built = {
        **{f"look, noise {noise:g}": look(source, noise) for noise in NOISES},
        "hash": hashed(source),
        "best real and hash": joined(own, hashed(source)),
        "topics of images": topics(source, source.images),
        "topics of texts": topics(source, np.vstack([unit(own[language]) for language in source.pair])),
        **{f"best real, offset {size:g}": offset(source, own, size) for size in OFFSETS},
    }
    found = by_core(source, built)
    found["best real, CSLS"] = by_numpy(source, own, csls)
    found["best real, inverted softmax"] = by_numpy(source, own, inverted_softmax)
    rows = {"best real by XLR": real[best], "best real by BkR": real[leader], **found}
    base = rows.pop("")
    return {
        **base,
        "best by XLR": best,
        "best by BkR": leader,
        "encoders": rows,
        "real": {n: real[n] for n in names},
    }


NOISES, OFFSETS = (1.0, 2.0, 4.0), (0.5, 1.0, 2.0)
