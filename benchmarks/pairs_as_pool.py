"""Translation pairs as a multilingual pool, and the mean difference of languages: LAReQA's footnotes 6 and 2.

`python -m benchmarks pairs_as_pool` makes pools of IKEA's products (en, de) and of emoji (names and
keywords, en, de, fr and ja) as `data mix-pool` does: each item asks in one language, and its other texts are
the answers. Encoders are evaluated as they are, and with the difference of the languages' mean vectors taken
away, as Pires et al. (2019) did; means are those of other items. Printed are weak and strong alignment and
mAP of both, and their differences.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.experiments import Values, difference, marked, mean_of, shown, table
from xlingual import DataWarning, Manifest, Results, Texts, multilingual_pool
from xlingual.data.pools.mix import mix_pool
from xlingual.embed import fit_texts_for
from xlingual.encoders import text_encoders
from xlingual.encoders.base import Encoder

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
EMOJI = ("en", "de", "fr", "ja")
MEASURES = {
    "WeakAlignment": "P@1 among one other language",
    "AP": "mAP, pool of all",
    "StrongAlignment": "strong",
}


class LessMean:
    """An encoder's unit vectors less the mean of their language: nearest to a vector + (other mean − own)."""

    def __init__(self, base: Encoder, fit: Texts) -> None:
        self.base, self.means = base, means_of(base, fit)
        self.identity = f"less-mean:{base.identity}"

    def encode(self, texts: Texts) -> np.ndarray:
        """Return the vectors [n, d]."""
        return unit(self.base.encode(texts)) - np.array([self.means[tag] for tag in texts.language])


def means_of(encoder: Encoder, texts: Texts) -> Mapping[str, np.ndarray]:
    """Return the mean of an encoder's unit vectors of each language."""
    vectors, language = unit(encoder.encode(texts)), np.array(texts.language)
    return {tag: vectors[language == tag].mean(axis=0) for tag in np.unique(language)}


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of length 1; zero vectors stay zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def emoji(folder: Path) -> Path:
    """Write a manifest of emoji (names and keywords), half of them for fitting; return its path."""
    source = pq.read_table(DATA / "emoji/emoji.parquet")
    columns = {"id": source["id"]}
    for tag in EMOJI:
        names, words = (source[f"{part}_{tag}"].to_pylist() for part in ("name", "keywords"))
        columns[f"text_{tag}"] = pa.array([f"{a} | {b}" for a, b in zip(names, words, strict=True)])
    parts = np.array(["test", "train"])[np.random.default_rng(0).permutation(len(source)) % 2]
    path = folder / "emoji.parquet"
    pq.write_table(pa.table({**columns, "split": pa.array(parts)}), path)
    return path


def measured(title: str, manifest: Manifest, fit: Manifest, reference: str) -> None:
    """Print the table of one pool."""
    pool = mix_pool(manifest)
    specs = {f"lsa {pairs}": f"lsa:?pairs={pairs}&fit={reference}" for pairs in (100, 300, 700)}
    specs["chargram"] = f"chargram:?fit={reference}"
    encoders = text_encoders(specs, languages=pool.languages, fit_texts=fit_texts_for(manifest))
    rows = [
        ["encoder", *(head for label in MEASURES.values() for head in (label, "less means", "difference"))]
    ]
    for name, encoder in encoders.items():
        found = multilingual_pool(
            pool,
            text_encoders={
                name: encoder,
                f"{name} less means": LessMean(encoder, fit.texts(np.arange(len(fit)))),
            },
            measures=list(MEASURES),
            views="none",
            store=None,
        )
        row = [name]
        for measure in MEASURES:
            plain, less = (values(found, measure, one) for one in (name, f"{name} less means"))
            row += [
                shown(mean_of([[plain]])),
                shown(mean_of([[less]])),
                marked(difference([[less]], [[plain]])),
            ]
        rows.append(row)
    table(f"{title}: {len(pool.questions)} questions, {len(pool.candidates)} candidates", rows)


def values(found: Results, measure: str, encoder: str) -> Values:
    """Return an encoder's values of the questions that have one."""
    rows = found.per_query.select(["measure", "encoder", "cluster", "value"]).to_pylist()
    own = [row for row in rows if (row["measure"], row["encoder"]) == (measure, encoder)]
    return Values([row["value"] for row in own], [row["cluster"] for row in own])


def main() -> None:
    """Print the tables of IKEA and of emoji."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    warnings.simplefilter("ignore", DataWarning)
    train = DATA / "ikea/ikea_en_de_train.parquet"
    measured("IKEA", Manifest.read(DATA / "ikea/ikea_en_de_eval.parquet"), Manifest.read(train), str(train))
    with tempfile.TemporaryDirectory() as folder:
        path = emoji(Path(folder))
        measured(
            "Emoji", Manifest.read(path, split="test"), Manifest.read(path, split="train"), f"{path}#train"
        )


if __name__ == "__main__":
    main()
