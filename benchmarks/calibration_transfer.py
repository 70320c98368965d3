"""How far a calibration carries over: other images, language pairs and data sets. Writes JSON.

Encoders that had no part in choosing the form (10 families of rising quality, fitted by the code below) are
validated on five data sets: IKEA, emoji by their names, other emoji by their keywords, scenes of two seeds.
A cell is one data set, image encoder and language pair. A calibration is fitted to a cell without one family,
and estimates that family elsewhere. Needs XLINGUAL_DATA; a few minutes of one core.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from xlingual import Manifest, validate_backretrieval
from xlingual.demo_data.scenes import write_scenes
from xlingual.encoders.pixels import CELLS, PixelsEncoder
from xlingual.errors import DataWarning
from xlingual.evaluation.calibration.errors import absolute_errors, angular, codes, isotonic, line
from xlingual.evaluation.calibration.model import (
    angle,
    fit,
    jackknife_plus,
    leave_out,
    predicted_angle,
    share,
)
from xlingual.evaluation.metric_validation import encoder_scores

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path(os.environ.get("CALIBRATION_TRANSFER", "docs/results/calibration-transfer.json"))
SIZE, SEEDS, LEVEL = 365, 2, 0.9
BEST = ("resnet", "pixels")
PAIRS = (40, 150, None)  # translated texts that an encoder is fitted on; None: all
RANK, TERMS, FITTED = 60, 2500, 800


@dataclass
class Made:
    """An encoder from a function that turns the texts of a language into vectors."""

    identity: str
    of: Callable[[Sequence[str], str], np.ndarray]

    def encode(self, batch) -> np.ndarray:
        """Return float32 [n, d]."""
        languages = np.array(list(batch.language))
        found: np.ndarray | None = None
        for language in np.unique(languages):
            rows = np.flatnonzero(languages == language)
            vectors = np.asarray(self.of([batch.text[i] for i in rows], str(language)), dtype=np.float32)
            found = np.zeros((len(languages), vectors.shape[1]), np.float32) if found is None else found
            found[rows] = vectors
        assert found is not None
        return found


class Layout:
    """The first part of what `pixels` sees, mean colours of a grid: a poorer image encoder."""

    identity = "layout of pixels"

    def encode(self, batch) -> np.ndarray:
        """Return float32 [n, 192]."""
        return PixelsEncoder().encode(batch)[:, : 3 * CELLS * CELLS]


def encoders(train: Mapping[str, Sequence[str]]) -> dict[str, Made]:
    """Return encoders fitted on aligned texts, by language; the family is the name before the dot."""
    train = {language: list(texts)[:FITTED] for language, texts in train.items()}
    terms = {language: _Terms(texts) for language, texts in train.items()}
    first = next(iter(train))
    found = {}
    for seed in (1, 2):
        found[f"chance.{seed}"] = Made(f"chance {seed}", lambda texts, _, s=seed: _noise(texts, s))
    found["length.1"] = Made("length", lambda texts, _: np.array([[len(t) ** 0.5, 8.0] for t in texts]))
    for n in (2, 4):
        shared = TfidfVectorizer(analyzer="char_wb", ngram_range=(n, n), max_features=600)
        shared.fit([text for texts in train.values() for text in texts])
        found[f"spelling.{n}"] = Made(
            f"spelling {n}", lambda texts, _, s=shared: s.transform(texts).toarray()
        )
    for count in PAIRS:
        texts = {language: own[:count] for language, own in train.items()}
        name = count or "all"
        views = {lang: _View(terms[lang], own) for lang, own in texts.items()}
        pivot = views[first].of_fit
        maps = {lang: _ridge(view.of_fit, pivot, 1.0) for lang, view in views.items()}
        turns = {lang: _turn(view.of_fit, pivot) for lang, view in views.items()}
        shared_space = _shared([view.of_fit for view in views.values()])
        joint = {lang: _ridge(view.of_fit, shared_space, 0.1) for lang, view in views.items()}
        few = {lang: weight[:, :6] for lang, weight in joint.items()}
        words = {lang: _Words(terms[lang], own, terms[first], texts[first]) for lang, own in texts.items()}
        methods: dict[str, Callable[[Sequence[str], str], np.ndarray]] = {
            "ridge": lambda t, lang, v=views, m=maps: v[lang](t) @ m[lang],
            "rotation": lambda t, lang, v=views, m=turns: v[lang](t) @ m[lang],
            "joint": lambda t, lang, v=views, m=joint: v[lang](t) @ m[lang],
            "topics": lambda t, lang, v=views, m=few: v[lang](t) @ m[lang],
            "examples": lambda t, lang, v=views: v[lang].examples(t),
            "noisy": lambda t, lang, v=views, m=joint: _disturbed(v[lang](t) @ m[lang], t, lang),
            "words": lambda t, lang, w=words: w[lang](t),
        }
        for method, of in methods.items():
            found[f"{method}.{name}"] = Made(f"{method} {name}", of)
    return found


class _Terms:
    """The texts of one language as character n-grams and as words; what was asked for last is kept."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), max_features=TERMS).fit(texts)
        self.words = TfidfVectorizer(token_pattern=r"\w+", max_features=TERMS).fit(texts)
        self.last: dict[str, tuple[tuple[str, ...], csr_matrix]] = {}

    def __call__(self, kind: str, texts: Sequence[str]) -> csr_matrix:
        key = tuple(texts)
        if kind not in self.last or self.last[kind][0] != key:
            self.last[kind] = key, getattr(self, kind).transform(key)
        return self.last[kind][1]


class _View:
    """The texts of one language as singular vectors of their character n-grams."""

    def __init__(self, terms: _Terms, texts: Sequence[str]) -> None:
        self.terms, self.table = terms, terms("grams", texts)
        self.axes = randomized_svd(self.table, min(RANK, len(texts) - 1), random_state=0)[2].T
        self.of_fit = normalize(self.table @ self.axes)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return normalize(self.terms("grams", texts) @ self.axes)

    def examples(self, texts: Sequence[str]) -> np.ndarray:
        """Return how alike the texts are to each of the first texts of the fit, faint likeness left out."""
        alike = (self.terms("grams", texts) @ self.table[:200].T).toarray()
        return np.where(alike > 0.05, alike, 0.0)


class _Words:
    """Texts as words of the pivot language, by how often words occur in aligned texts."""

    def __init__(self, own: _Terms, texts: Sequence[str], pivot: _Terms, others: Sequence[str]) -> None:
        self.own = own
        together = (own("words", texts).T @ pivot("words", others)).power(1.5).toarray()
        left, strength, right = randomized_svd(normalize(together, norm="l1"), RANK, random_state=0)
        self.map = left * strength @ right[:, :]

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return self.own("words", texts) @ self.map


def _ridge(x: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    return np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)


def _turn(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(x.T @ y)
    return left @ right


def _shared(views: Sequence[np.ndarray]) -> np.ndarray:
    """Return the directions that the views have in common."""
    white = [np.linalg.svd(view - view.mean(axis=0), full_matrices=False)[0] for view in views]
    left, strength, _ = np.linalg.svd(np.concatenate(white, axis=1), full_matrices=False)
    kept = min(60, left.shape[1])
    return left[:, :kept] * strength[:kept]


def _noise(texts: Sequence[str], seed: int) -> np.ndarray:
    found = [np.random.default_rng([seed, *text.encode()[:40]]).standard_normal(32) for text in texts]
    return np.array(found)


def _disturbed(vectors: np.ndarray, texts: Sequence[str], language: str) -> np.ndarray:
    rows = [np.random.default_rng([7, *f"{language} {t}".encode()[:60]]) for t in texts]
    noise = np.stack([rng.standard_normal(vectors.shape[1]) for rng in rows]) / vectors.shape[1] ** 0.5
    return normalize(vectors) + 1.2 * noise


@dataclass
class Cell:
    """One data set, image encoder and language pair: the points of its encoders."""

    data: str
    images: str
    pair: tuple[str, str]
    family: list[str] = field(default_factory=list)
    bkr: list[float] = field(default_factory=list)
    xlr: list[float] = field(default_factory=list)


def main() -> None:
    """Write every comparison, and print their means by what differs."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    warnings.simplefilter("ignore", DataWarning)
    encoder_scores.REPLICATES = 20  # intervals of agreement are not looked at
    cells = [cell for data in (_ikea, _emoji, _scenes) for cell in data()]
    found = results(cells)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for row in (*found["comparisons"], *found["forms"]):
        print(" ".join(f"{key}={value}" for key, value in row.items()))
    assert all(0 <= row["error"] <= 1 for row in found["comparisons"])


def results(cells: Sequence[Cell]) -> dict:
    """Return everything that the file holds."""
    return {
        "command": "XLINGUAL_DATA=DATA python -m benchmarks calibration_transfer",
        "size": SIZE,
        "seeds": SEEDS,
        "level": LEVEL,
        "comparisons": _summary([*_within(cells), *_between(cells), *_together(cells)]),
        "forms": _forms([cell for cell in cells if cell.images in BEST]),
        "cells": [vars(cell) for cell in cells],
    }


def _validated(
    name: str, manifest: Manifest, train: Mapping[str, Sequence[str]], pairs: Sequence[str], images: Mapping
) -> list[Cell]:
    print(f"{name}: {manifest.n_items} items, {len(next(iter(train.values())))} to fit on", flush=True)
    found = []
    for seen, spec in images.items():
        record = validate_backretrieval(
            manifest, text_encoders=encoders(train), image_encoder=spec, pairs=",".join(pairs),
            sample_size=SIZE, seeds=SEEDS, store=None,
        )  # fmt: skip
        for pair in record.pairs:
            cell = Cell(name, seen, (pair.source, pair.target))
            for row in pair.encoders:
                bkr, xlr = row.scores["BkR"].mean, row.scores["XLR"].mean
                assert bkr is not None
                assert xlr is not None
                cell.family.append(row.encoder.partition(".")[0])
                cell.bkr.append(bkr)
                cell.xlr.append(xlr)
            found.append(cell)
    return found


def _texts(manifest: Manifest, languages: Sequence[str]) -> dict[str, list[str]]:
    return {language: list(manifest.texts(manifest.rows_of(language)).text) for language in languages}


def _ikea() -> list[Cell]:
    folder = DATA / "ikea"
    options = {"text_column": "raw_{lang}", "image_column": "image"}
    train = Manifest.read(folder / "ikea_en_de_train.parquet", **options)
    manifest = Manifest.read(folder / "ikea_en_de_eval.parquet", **options)
    vectors = np.load(folder / "ikea_en_de_eval_features.npy").astype(np.float32)
    centred = vectors - vectors.mean(axis=0)
    few = (centred @ np.linalg.svd(centred, full_matrices=False)[2][:8].T).astype(np.float32)
    with tempfile.TemporaryDirectory() as work:
        np.save(f"{work}/few.npy", few)
        images = {
            "resnet": f"vectors:{folder / 'ikea_en_de_eval_features.npy'}",
            "resnet, 8 components": f"vectors:{work}/few.npy",
        }
        return _validated("ikea", manifest, _texts(train, ("en", "de")), ("en:de", "de:en"), images)


def _emoji() -> list[Cell]:
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "emoji" / "emoji.parquet")
    halves = np.array_split(np.random.default_rng(20).permutation(len(table)), 2)
    languages, pairs = ("en", "de", "it", "ru", "tr"), ("en:de", "de:en", "en:it", "ru:tr")
    found = []
    for texts, (chosen, rest) in (("name", halves), ("keywords", halves[::-1])):
        rows = [
            {"id": row["id"], "image": row["image_png"]}
            | {f"text_{lang}": row[f"{texts}_{lang}"].replace(" | ", ", ") for lang in languages}
            for row in table.to_pylist()
        ]
        train, manifest = (Manifest.from_rows([rows[i] for i in part]) for part in (rest, chosen))
        images = {"pixels": "pixels", "layout": Layout()}
        found += _validated(f"emoji {texts}", manifest, _texts(train, languages), pairs, images)
    return found


def _scenes() -> list[Cell]:
    languages, pairs = ("en", "de", "id", "ru", "es"), ("en:de", "de:en", "en:ru", "id:es")
    found = []
    for seed, n in ((21, 1130), (22, 1530)):
        with tempfile.TemporaryDirectory() as folder:
            path = write_scenes(folder, n=n, languages=languages, seed=seed, train=1 - 730 / n)
            train, manifest = (Manifest.read(path, split=split) for split in ("train", "test"))
            images = {"pixels": "pixels", "layout": Layout()}
            found += _validated(f"scenes {seed}", manifest, _texts(train, languages), pairs, images)
    return found


def _columns(cells: Sequence[Cell], without: str | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    points = [
        (b, x, f)
        for cell in cells
        for b, x, f in zip(cell.bkr, cell.xlr, cell.family, strict=True)
        if f != without
    ]
    return (
        angle(np.array([b for b, _, _ in points]))[:, None],
        np.array([x for _, x, _ in points]),
        [f for _, _, f in points],
    )


def _fitted(cells: Sequence[Cell], name: str, known: dict = {}) -> tuple:  # noqa: B006  (it is kept)
    """Return what was fitted to the cells without a family, and its jackknife+ over the other families."""
    key = (*(id(cell) for cell in cells), name)
    if key not in known:
        x, xlr, families = _columns(cells, name)
        known[key] = fit(x, xlr), *leave_out(x, xlr, families), families
    return known[key]


def _carried(fitted: Sequence[Cell], tested: Sequence[Cell]) -> dict[str, float]:
    """Return error, coverage and width for families that the fit has not seen."""
    errors, held, widths = [], [], []
    for name in sorted(set(tested[0].family)):
        model, models, residuals, families = _fitted(fitted, name)
        for cell in tested:
            rows = [i for i, family in enumerate(cell.family) if family == name]
            at, truth = angle(np.array(cell.bkr)[rows])[:, None], np.array(cell.xlr)[rows]
            errors += list(np.abs(share(predicted_angle(model, at)) - truth))
            for row, true in zip(at, truth, strict=True):
                ends = jackknife_plus(models, residuals, families, row, LEVEL)
                assert ends is not None
                held.append(ends[0] <= true <= ends[1])
                widths.append(ends[1] - ends[0])
    return {
        "error": round(float(np.mean(errors)), 4),
        "coverage": round(float(np.mean(held)), 4),
        "width": round(float(np.mean(widths)), 4),
    }


def _within(cells: Sequence[Cell]) -> list[dict]:
    """Return what a fit to one cell gives in that cell and the others of its data set."""
    rows = []
    for one in cells:
        for other in (cell for cell in cells if cell.data == one.data):
            if one.pair == other.pair:
                languages = "same pair"
            else:
                languages = "reverse" if one.pair == other.pair[::-1] else "other languages"
            rows.append(
                {
                    "relation": "same data", "fitted": one.data, "tested": other.data, "languages": languages,
                    "fitted_pair": "-".join(one.pair), "tested_pair": "-".join(other.pair),
                    "images": "same" if one.images == other.images else "other",
                }
                | _carried([one], [other])
            )  # fmt: skip
    return rows


def _between(cells: Sequence[Cell]) -> list[dict]:
    """Return what a fit to one cell gives in the cells of each other data set."""
    rows = []
    for one, other in permutations(cells, 2):
        if one.data == other.data:
            continue
        rows.append(
            {
                "relation": "other data", "fitted": one.data, "tested": other.data,
                "languages": "same pair" if one.pair == other.pair else "other languages",
                "fitted_pair": "-".join(one.pair), "tested_pair": "-".join(other.pair),
                "images": "same" if one.images == other.images else "other",
            }
            | _carried([one], [other])
        )  # fmt: skip
    return rows


def _together(cells: Sequence[Cell]) -> list[dict]:
    """Return what a data set's own pairs give for it, all data sets, and all others; its best images."""
    best = [cell for cell in cells if cell.images in BEST]
    rows = []
    for data in dict.fromkeys(cell.data for cell in best):
        own = [cell for cell in best if cell.data == data]
        others = [cell for cell in best if cell.data != data]
        for relation, fitted in (
            ("its own pairs", own), ("all data sets", best), ("all other data sets", others)
        ):  # fmt: skip
            rows.append({"relation": relation, "tested": data, "languages": "all", "images": "best"})
            rows[-1] |= _carried(fitted, own)
    return rows


def _forms(cells: Sequence[Cell]) -> list[dict]:
    """Return the error of each form of fit where a family, or a data set, is left out."""
    bkr, xlr = (np.array([v for cell in cells for v in getattr(cell, name)]) for name in ("bkr", "xlr"))
    data = codes([cell.data for cell in cells for _ in cell.bkr])
    family = codes([name for cell in cells for name in cell.family])
    rows = []
    for name, predict, x in (
        ("calibration", angular, angle(bkr)), ("isotonic", isotonic, bkr), ("straight line", line, bkr)
    ):  # fmt: skip
        within = absolute_errors(predict, x[:, None], xlr, family, data)
        between = absolute_errors(predict, x[:, None], xlr, data, np.zeros_like(data))
        for left_out, values in (("family, own data", within), ("data set", between)):
            each = [float(values[data == one].mean()) for one in np.unique(data)]
            rows.append({"form": name, "left_out": left_out, "error": round(float(values.mean()), 4)})
            rows[-1]["by_data"] = dict(
                zip(dict.fromkeys(c.data for c in cells), (round(v, 4) for v in each), strict=True)
            )
    return rows


def _summary(rows: Sequence[dict]) -> list[dict]:
    """Return means over comparisons that are alike, with the least and most error among data sets."""
    groups: dict[tuple[str, ...], list[dict]] = {}
    for row in rows:
        kinds = [(row["relation"], row["languages"], row["images"])]
        if row["relation"] == "other data":
            kinds.append((f"{row['fitted']} -> {row['tested']}", "all", "all"))
            kinds.append(("other data", "all", "all"))
        for kind in kinds:
            groups.setdefault(kind, []).append(row)
    return [
        {
            "relation": relation, "languages": languages, "images": images, "comparisons": len(own),
            "error": round(float(np.mean([row["error"] for row in own])), 3),
            "least": round(min(row["error"] for row in own), 3),
            "most": round(max(row["error"] for row in own), 3),
            "coverage": round(float(np.mean([row["coverage"] for row in own])), 3),
            "width": round(float(np.mean([row["width"] for row in own])), 3),
        }
        for (relation, languages, images), own in groups.items()
    ]  # fmt: skip
