"""What `data check --image-encoder` says on real and on planted data, and where its thresholds come from.

    python -m benchmarks.keep image-checks python -m benchmarks image_checks

Real images must get a yes; noise, images that are nearly one, dimensions permuted each on its own and
images in the wrong rows a no. Then the variance of the BkR of real encoders beside that of as many
independent queries, from which the queries that are needed follow.
"""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from xlingual import Manifest, backretrieval, check_backretrieval
from xlingual.demo_data.scenes import write_scenes
from xlingual.evaluation.backretrieval.check import DESIGN_EFFECT, DIFFERENCE_EFFECT
from xlingual.results import Results
from xlingual.results.backretrieval_check import BackretrievalCheck

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
FEATURES = DATA / "ikea" / "ikea_en_de_eval_features.npy"
REAL, PLANTED = "real", "planted"


def noisy(n: int, levels: int, image: bytes) -> list[bytes]:
    """Return PNGs of one image, each pixel moved by so many grey levels at most."""
    rng, found = np.random.default_rng(levels), []
    base = np.asarray(Image.open(io.BytesIO(image)).convert("RGB")).astype(int)
    for _ in range(n):
        moved = np.clip(base + rng.integers(-levels, levels + 1, base.shape), 0, 255).astype(np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(moved).save(buffer, "PNG")
        found.append(buffer.getvalue())
    return found


def ikea() -> Manifest:
    """Return IKEA's products."""
    return Manifest.read(DATA / "ikea" / "ikea_en_de_eval.parquet", text_column="raw_{lang}")


def emoji() -> Manifest:
    """Return emoji with their keywords."""
    path = DATA / "emoji" / "emoji.parquet"
    return Manifest.read(path, text_column="keywords_{lang}", image_column="image_png")


def cases(work: Path) -> Iterator[tuple[str, str, Manifest, str, str | None]]:
    """Yield name, kind, manifest, image encoder and language pairs of each case."""
    yield "IKEA, ResNet-50", REAL, ikea(), f"vectors:{FEATURES}", None
    yield "emoji, pixels, 17 languages", REAL, emoji(), "pixels", None
    for n in (600, 4000):
        write_scenes(work / f"scenes{n}", n=n, languages=("en", "de"), seed=1, train=0)
        yield f"{n:,} scenes, pixels", REAL, Manifest.read(work / f"scenes{n}"), "pixels", None
    features, rng = np.load(FEATURES), np.random.default_rng(0)
    permuted = np.stack([rng.permutation(column) for column in features.T], axis=1)
    gauss = rng.normal(size=(len(features), 512))
    mixed = features[rng.permutation(len(features))]
    for name, vectors in (
        ("IKEA, images in the wrong rows", mixed),
        ("IKEA, each dimension permuted", permuted),
        ("IKEA, random vectors of 512 dimensions", gauss),
    ):
        path = work / f"{len(name)}.npy"
        np.save(path, vectors.astype(np.float32))
        yield name, PLANTED, ikea(), f"vectors:{path}", None
    image = pq.read_table(DATA / "emoji" / "emoji.parquet")["image_png"][5].as_py()
    texts = pq.read_table(DATA / "ikea" / "ikea_en_de_eval.parquet").to_pylist()
    for n, levels in ((30, 1), (300, 1), (300, 4), (300, 16)):
        rows = [
            {"id": row["id"], "text_en": row["raw_en"], "text_de": row["raw_de"], "image": one}
            for row, one in zip(texts, noisy(n, levels, image), strict=False)
        ]
        yield f"{n} times one emoji, ± {levels} grey levels", PLANTED, Manifest.of(rows), "pixels", None


def line(name: str, found: BackretrievalCheck) -> str:
    """Return a row of the table, of the pair that tells least."""
    pair = found.pairs[0]
    reasons = dict.fromkeys([*found.reasons, *pair.reasons])
    least = min(found.languages, key=lambda one: one.ci.low - one.chance)
    numbers = [pair.chance, pair.oracle, pair.neighbours]
    cells = [
        name,
        f"{pair.n_images:,}",
        f"{found.distance:.2g}",
        *("–" if one is None else f"{one:.3f}" for one in numbers),
        f"{least.value:.3f} ({least.chance:.3f})",
        f"{pair.queries_needed or 0:,}",
        f"no: {', '.join(reasons)}" if reasons else "yes",
    ]
    return f"| {' | '.join(cells)} |"


def effects(results: Results) -> tuple[list[float], list[float]]:
    """Return variances over those of independent queries: of BkR, and of differences to the leader."""
    entries = {(e.source, e.target, e.encoder): e for e in results.entries if e.measure == "R@10" and e.ci}
    single, paired = [], []
    for entry in entries.values():
        own = entry.value * (1 - entry.value) / entry.n_source
        if entry.value - entry.chance > 0.02:
            single.append(variance(entry.ci) / own)
    for row in results.summary:
        if (
            row.measure != "R@10"
            or row.source is None
            or row.behind is None
            or row.value - row.chance <= 0.02
        ):
            continue
        leader = entries[row.source, row.target, row.behind.leader]
        both = sum(one * (1 - one) for one in (row.value, leader.value)) / leader.n_source
        paired.append(variance(row.behind.ci) / both)
    return single, paired


def variance(ci: Any) -> float:
    """Return the variance behind an interval, by the normal quantile."""
    return float(((ci.high - ci.low) / 2 / 1.96) ** 2)


def main() -> None:
    """Print both tables; every answer must be the one that is right."""
    warnings.simplefilter("ignore")
    print(
        "| data | images | distance | chance | oracle | neighbours | by spelling (chance) | needed | answer |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        for name, kind, manifest, encoder, pairs in cases(Path(work)):
            found = check_backretrieval(manifest, encoder, pairs=pairs, store=None)
            print(line(name, found), flush=True)
            assert found.can_tell == (kind == REAL), (name, found)
    print()
    vectors = sorted((DATA / "ikea" / "embeddings").glob("*.en.npy"))
    named = {path.name[:-7]: str(path).replace(".en.npy", ".{lang}.npy") for path in vectors}
    results = backretrieval(ikea(), named, image_encoder=f"vectors:{FEATURES}", examples=False, store=None)
    print("| variance, over that of independent queries | 25 % | median | 75 % | n |")
    print("|---|---|---|---|---|")
    for what, found_ratios, used in zip(
        ("BkR", "difference to the leader"), effects(results), (DESIGN_EFFECT, DIFFERENCE_EFFECT), strict=True
    ):
        low, middle, high = np.quantile(found_ratios, [0.25, 0.5, 0.75])
        print(f"| {what} | {low:.2f} | {middle:.2f} | {high:.2f} | {len(found_ratios)} |")
        assert low < used < high


if __name__ == "__main__":
    main()
