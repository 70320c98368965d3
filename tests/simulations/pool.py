"""How often intervals of a multilingual pool with eight contexts hold: alignment and language identification.

Contexts differ in how hard they are, so that strong alignment is nearly 1 but for a few of them.
"""

from __future__ import annotations

from multiprocessing import Pool

import numpy as np

from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.evaluation.multilingual_pool.ranks import rank_vectors
from xlingual.evaluation.multilingual_pool.space import Space, language_identification
from xlingual.evaluation.multilingual_pool.views import alignment

SIMULATIONS, CONTEXTS, DIM = 2_000, 8, 16
LANGUAGES = ("ar", "de", "en")
NOISE = {"hard": 0.6, "middle": 0.45, "easy": 0.25}
OFFSETS = 0.55 * np.random.default_rng(99).standard_normal((len(LANGUAGES), DIM))
LEAST, MOST_WIDTH = 0.93, 0.4  # coverage, and width of language identification


def main(simulations: int = SIMULATIONS) -> None:
    """Print coverage and width of each interval."""
    for name, noise in NOISE.items():
        with Pool(2) as pool:
            drawn = pool.starmap(_intervals, [(seed, noise) for seed in range(simulations)], chunksize=20)
        print(f"{name} contexts, {simulations:,} simulations")
        for view in drawn[0]:
            value, low, high = np.array([each[view] for each in drawn if view in each]).T
            truth = value.mean()
            coverage, width = ((low <= truth) & (truth <= high)).mean(), (high - low).mean()
            print(f"  {view:34} {truth:.3f} covered {coverage:.3f} width {width:.3f}")
            if simulations >= 1000:
                assert coverage >= LEAST, view
                assert width <= MOST_WIDTH or not view.startswith("language_id"), view


def _intervals(seed: int, noise: float) -> dict[str, tuple[float, float, float]]:
    """Return value and interval of each view of a pool that is drawn."""
    pool, *vectors = _drawn(np.random.default_rng(seed), noise)
    view = alignment(rank_vectors(pool, *vectors).ranks)
    view |= language_identification(Space(pool, *vectors, seed))
    intervals = {}
    for name in ("alignment", "weak_alignment", "strong_alignment", "language_id_accuracy"):
        for part, score in view[name].items():
            ci = score.interval()
            intervals[f"{name} {part}"] = score.value, ci.low, ci.high
    return intervals


def _drawn(rng: np.random.Generator, noise: float) -> tuple[MultilingualPool, np.ndarray, np.ndarray]:
    """Draw contexts of three to seven questions, asked and answered in each language, and other sentences."""
    rows: dict[str, list] = {name: [] for name in ("asked", "held", "key", "keys", "cluster", "of", "q", "c")}
    for context in range(CONTEXTS):
        n, fillers, hard = int(rng.integers(3, 8)), int(rng.integers(2, 8)), 0.9 * rng.gamma(2.0, noise)
        topic = rng.standard_normal(DIM) * rng.gamma(2, 0.4)
        meaning = topic + rng.standard_normal((n + fillers, DIM))
        for code, offset in enumerate(OFFSETS):
            rows["q"].append(meaning[:n] + offset + hard * rng.standard_normal((n, DIM)))
            rows["c"].append(meaning + offset + hard * rng.standard_normal(meaning.shape))
            rows["asked"] += [code] * n
            rows["held"] += [code] * (n + fillers)
            rows["key"] += [f"{context}.{i}" for i in range(n)]
            rows["keys"] += [(f"{context}.{i}",) for i in range(n)] + [()] * fillers
            rows["cluster"] += [context] * n
            rows["of"] += [context] * (n + fillers)
    asked, held, cluster, of = (np.array(rows[name]) for name in ("asked", "held", "cluster", "of"))
    n, m = len(asked), len(held)
    ids = [[f"{side}{i}" for i in range(size)] for side, size in (("q", n), ("c", m))]
    questions = Questions(ids[0], asked, ["?"] * n, rows["key"], cluster, None)
    candidates = Candidates(ids[1], held, ["."] * m, [""] * m, rows["keys"], of)
    pool = MultilingualPool("simulated", LANGUAGES, questions, candidates, (), ())
    return pool, *(np.concatenate(rows[side]).astype(np.float32) for side in ("q", "c"))
