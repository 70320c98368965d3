"""Data for the benchmarks of the image pivot: vectors of texts in several languages, and of their images.

Items to fit on give one text each, in a language drawn at random, unless some are shared; items to test on
have all languages, which says who belongs to whom. No text is on both sides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.pools.clusters import joined
from xlingual.pivot.nodes import Nodes
from xlingual.transforms.affine import Affine, unit_rows

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
PLACES = 10


@dataclass(frozen=True)
class Problem:
    """n items with an image, and vectors of their texts in each language, by one encoder.

    `test`: other items to test on, in all languages; without it some of the n are held out. `own`: the only
    language that each item has, where it has one only.
    """

    data: str
    encoder: str
    languages: tuple[str, ...]
    text: Mapping[str, Vectors]  # each [n, d]
    image: Vectors  # [n, e]
    group: Ints  # [n]: items with an equal text have the same
    test: Mapping[str, Vectors] | None = None
    own: Ints | None = None

    @property
    def name(self) -> str:
        """Data, languages and encoder."""
        tags = self.languages
        return f"{self.data}|{'-'.join(tags) if len(tags) < 4 else len(tags)}|{self.encoder}"

    def of(self, languages: Sequence[str]) -> Problem:
        """Return the same in some of the languages."""
        text = {tag: self.text[tag] for tag in languages}
        test = None if self.test is None else {tag: self.test[tag] for tag in languages}
        if self.own is None:
            return Problem(self.data, self.encoder, tuple(languages), text, self.image, self.group, test)
        code = np.array([list(languages).index(tag) if tag in languages else -1 for tag in self.languages])
        own = code[self.own]
        rows = np.flatnonzero(own >= 0)
        text = {tag: text[tag][rows] for tag in languages}
        return Problem(
            self.data,
            self.encoder,
            tuple(languages),
            text,
            self.image[rows],
            self.group[rows],
            test,
            own[rows],
        )


@dataclass(frozen=True)
class Split:
    """Nodes to fit on, items to test on in each language, and how to map these."""

    nodes: Nodes
    tested: Mapping[str, Vectors]  # each [m, d]
    items: Ints  # [m]
    basis: Vectors | None  # [d, k] of the texts to fit on, where these are fewer than dimensions
    codes: Ints  # [fitted items]: the language of each, −1: all

    def mapped(self, map: Affine) -> dict[str, Floats]:
        """Return the unit vectors of the tested items through a map of the nodes."""
        found = {}
        for tag, x in self.tested.items():
            if self.basis is None:
                y = map.apply(x, [tag] * len(x))
            else:
                inside = x @ self.basis
                outside = x - inside @ self.basis.T
                y = np.concatenate([map.apply(inside, [tag] * len(x)), outside], axis=1)
            found[tag] = unit(y)
        return found


def split(
    problem: Problem,
    seed: int,
    n_fit: int,
    n_test: int,
    shared: float = 0.0,
    image: Vectors | None = None,
) -> Split:
    """Return a part to fit on, of items in one language each but for the share `shared`, and one to test on.

    Where texts are fewer than dimensions they are written in a basis of their span: maps are the identity
    outside of it, and no distance changes.
    """
    rng = np.random.default_rng(seed)
    names, place = np.unique(problem.group, return_inverse=True)
    order = np.argsort(rng.permutation(len(names))[place], kind="stable")
    tags = problem.languages
    if problem.test is None:  # the items to test on are the same for any number to fit on
        tested = order[:n_test]
        order = order[n_test:]
        order = order[~np.isin(problem.group[order], problem.group[tested])]
        test = {tag: problem.text[tag][tested] for tag in tags}
    else:
        tested = rng.permutation(len(problem.test[tags[0]]))[:n_test]
        test = {tag: problem.test[tag][tested] for tag in tags}
    fitted = order[:n_fit]
    if problem.own is not None:
        code = problem.own[fitted]
    else:
        code = np.arange(len(fitted)) % len(tags)
        code[: round(shared * len(fitted))] = -1
    item = np.concatenate([fitted[(code == each) | (code == -1)] for each in range(len(tags))])
    language = np.repeat(
        np.arange(len(tags)), [int(((code == c) | (code == -1)).sum()) for c in range(len(tags))]
    )
    text = np.concatenate([problem.text[tag][item[language == c]] for c, tag in enumerate(tags)])
    text, basis = unit_rows(text), None
    if len(text) < text.shape[1]:
        _, values, axes = np.linalg.svd(text.astype(np.float64), full_matrices=False)
        basis = axes[values > 1e-6 * values[0]].T.astype(np.float32)
        text = text @ basis
    vectors = problem.image if image is None else image
    nodes = Nodes.of_rows(text, vectors[item], language, tags, item, problem.group[item])
    return Split(nodes, {tag: unit_rows(each) for tag, each in test.items()}, tested, basis, code)


def unit(vectors: Vectors | Floats) -> Floats:
    """Return rows at unit length, float64."""
    exact = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.asarray(exact / np.where(length > 0, length, 1))


def recall(vectors: Mapping[str, Floats], offset: Mapping[tuple[str, str], Floats] | None = None) -> Floats:
    """Return XLR R@10 of each item [m], the mean over ordered pairs of languages; ties by their expectation.

    `offset[a, b]` [m] is taken from the score of each candidate in b where queries are in a.
    """
    found = []
    for a, b in permutations(vectors, 2):
        scores = vectors[a] @ vectors[b].T
        if offset is not None:
            scores = scores - offset[a, b]
        scores = np.round(scores, 7)
        own = np.diagonal(scores)[:, None]
        above, tied = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
        found.append(np.clip((PLACES - above) / tied, 0, 1))
    return np.asarray(np.mean(found, axis=0))


def ikea(names: Sequence[str] | None = None) -> Iterator[Problem]:
    """Yield the 24 encoders of the IKEA data, or some."""
    folder = DATA / "ikea/embeddings"
    rows = pq.read_table(DATA / "ikea/ikea_en_de_eval.parquet")
    group = joined(np.arange(len(rows)), rows["text_en"].to_pylist(), rows["text_de"].to_pylist())
    images = np.load(DATA / "ikea/ikea_en_de_eval_features.npy")
    for name in names or sorted(json.loads((folder / "models.json").read_text())["models"]):
        vectors = {tag: np.load(folder / f"{name}.{tag}.npy").astype(np.float32) for tag in ("en", "de")}
        yield Problem("IKEA", name, ("en", "de"), vectors, images, group)
