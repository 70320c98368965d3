"""From where on are hubs an alarm? Rankings without hubs, rankings with one, and what a repair gives.

`python -m benchmarks hub_bounds` simulates how often candidates are found (N_k) where nothing prefers any of
them: random directions in d dimensions, queries at random or each near to a match of its own. It prints how
often the alarm of `xlingual.measures.hub_alarm` is raised there, how often where one candidate is made a hub,
how often the interval of the skewness covers, and, on the encoders of IKEA, what CSLS gives where there is an
alarm and where there is none. Some ten minutes on one thread; REPEATS=100 is ten times as fast. The page is
docs/results/hubs.md.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks.blind_spots import unit
from benchmarks.csls import number
from benchmarks.experiments import table
from xlingual import DataWarning, Manifest, crosslingual_retrieval
from xlingual.arrays import Floats, Ints
from xlingual.evaluation.hubs import hubs_of
from xlingual.measures import hub_alarm
from xlingual.measures.hub_alarm import ByChance
from xlingual.measures.hubness import Places, hubness_of, skewness_error
from xlingual.results.views import CrosslingualRetrievalViews, HubCounts

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "ikea"
REPEATS = int(os.environ.get("REPEATS", "1000"))
SIZES = (  # queries, candidates, k
    *((50, 50, 1), (50, 50, 10), (365, 365, 1), (365, 365, 10), (1000, 1000, 1), (1000, 1000, 10)),
    *((100, 1000, 1), (100, 1000, 10), (2000, 200, 1), (2000, 200, 10)),
)
DIMENSIONS = (4, 8, 32, 256)
NOISE = 4.0  # length of what is added to a match to make its query
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3)  # of the queries that a made hub is first for
LEAST = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # shares of the errors that might be asked for


@dataclass(frozen=True)
class Ranked:
    """The first k candidates of each query, best first [n, k], and whether the first one is wrong [n]."""

    first: Ints
    wrong: np.ndarray
    n_candidates: int

    def places(self) -> Places:
        """Return the lines of all places."""
        n, k = self.first.shape
        rank = np.tile(np.arange(k), n)
        query = np.repeat(np.arange(n), k)
        return Places(k, n, self.n_candidates, query, self.first.ravel(), rank, np.ones_like(rank))

    def hubs(self) -> HubCounts:
        """Return what an evaluation says of its hubs."""
        k = self.first.shape[1]
        n = len(self.first)
        return hubs_of(self.places(), np.repeat(self.wrong.astype(np.float64), k), np.arange(n)).counts


def ranked(scores: np.ndarray, k: int, match: Ints | None) -> Ranked:
    """Return the first k of each query by scores [n, m]."""
    if k == 1:
        first = scores.argmax(axis=1)[:, None]
    else:
        some = np.argpartition(scores, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(scores, some, axis=1), axis=1)
        first = np.take_along_axis(some, order, axis=1)
    wrong = np.ones(len(first), dtype=bool) if match is None else first[:, 0] != match
    return Ranked(first.astype(np.int64), wrong, scores.shape[1])


def drawn(size: tuple[int, int, int], d: int, seed: int, *, matched: bool) -> Ranked:
    """Return a ranking without hubs: candidates in random directions, queries too or near to a match."""
    (n, m, k), rng = size, np.random.default_rng([seed, *size, d, matched])
    candidates = unit(rng.standard_normal((m, d))).astype(np.float32)
    queries = rng.standard_normal((n, d)).astype(np.float32)
    match = np.arange(n) % m
    if matched:
        queries = candidates[match] + queries * np.float32(NOISE / np.sqrt(d))
    return ranked(queries @ candidates.T, k, match if matched else None)


def false_alarms() -> None:
    """Print how often rankings without hubs are beyond the bound of the skewness, and raise the alarm."""
    rows = [["queries", "candidates", "k", "skewness by chance", "bound"]]
    rows[0] += [f"{d} dimensions" for d in DIMENSIONS]
    total, alarms = dict.fromkeys(DIMENSIONS, 0), 0
    for size in SIZES:
        chance = ByChance(*size)
        cells = [*map(str, size), f"{chance.skewness:.2f}", f"{chance.skewness_bound:.2f}"]
        for d in DIMENSIONS:
            beyond = 0
            for seed in range(REPEATS):
                one = drawn(size, d, seed, matched=bool(seed % 2))
                places = one.places()
                skewness = hubness_of(places, np.zeros(size[1], dtype=np.int64), 1).skewness
                if skewness > chance.skewness_bound:
                    beyond += 1
                    alarms += bool(one.hubs().alarm)
            total[d] += beyond
            cells.append(f"{beyond}")
        rows.append(cells)
    n = len(SIZES) * REPEATS
    rows.append(["all", "", "", "", "", *(f"{total[d]} of {n:,}" for d in DIMENSIONS)])
    table(f"Rankings without hubs beyond the bound, of {REPEATS:,} each, half of them with matches", rows)
    print(f"\nAlarms among all {n * len(DIMENSIONS):,} rankings without hubs: {alarms}")


def power() -> None:
    """Print how often one candidate that is made first for a share of the queries raises the alarm."""
    rows = [["queries", "candidates", "k", *(f"{share:.0%}" for share in SHARES)]]
    repeats = max(20, REPEATS // 10)
    for size in SIZES:
        cells = [str(part) for part in size]
        for share in SHARES:
            found = 0
            for seed in range(repeats):
                one = drawn(size, 32, seed, matched=False)
                n, (_, m, k) = max(1, round(share * size[0])), size
                first = one.first.copy()
                taken = np.random.default_rng(seed).permutation(size[0])[:n]
                hub = 0
                has = (first[taken] == hub).argmax(axis=1)
                has = np.where((first[taken] == hub).any(axis=1), has, k - 1)
                first[taken, has] = first[taken, 0]  # keeps the candidates of a query distinct
                first[taken, 0] = hub
                found += bool(Ranked(first, one.wrong, m).hubs().alarm)
            cells.append(f"{found / repeats:.0%}")
        rows.append(cells)
    table("Alarms where one candidate is first for a share of the queries", rows)


def coverage() -> None:
    """Print how often the interval of the skewness covers its mean over samples of queries."""
    rows = [["queries", "candidates", "k", "popularity", "queries per cluster", "covered", "mean half width"]]
    repeats = max(100, REPEATS // 2)
    for size in ((100, 365, 1), (365, 365, 1), (365, 365, 10), (1000, 200, 10)):
        for spread in (0.0, 0.5, 1.0):
            for each in (1, 4):
                values, errors = _estimates(size, spread, each, repeats)
                half = student.ppf(0.975, size[0] // each - 1) * errors
                covered = np.mean(np.abs(values - values.mean()) <= half)
                cells = [*map(str, size), f"σ = {spread:g}", str(each)]
                rows.append([*cells, f"{covered:.1%}", f"{half.mean():.2f}"])
    table("The 95 % interval of the skewness: log-normal popularity of candidates, other queries", rows)


def _estimates(size: tuple[int, int, int], spread: float, each: int, repeats: int) -> tuple[Floats, Floats]:
    """Return the skewness of samples of queries and its standard errors; candidates stay the same."""
    n, m, k = size
    rng = np.random.default_rng([*size, int(10 * spread), each])
    popularity = spread * rng.standard_normal(m)
    found = []
    for _ in range(repeats):
        groups = n // each
        centre = np.repeat(rng.gumbel(size=(groups, m)), each, axis=0)  # queries of a cluster are alike
        own = rng.gumbel(size=(groups * each, m))
        one = ranked(popularity + (centre + own if each > 1 else own), k, None).places()
        found.append(
            [
                hubness_of(one, np.zeros(m, dtype=np.int64), 1).skewness,
                skewness_error(one, np.arange(groups * each) // each)[0],
            ]
        )
    values, errors = np.array(found).T
    return values, errors


def repaired() -> Iterator[tuple[str, HubCounts, float, float]]:
    """Yield (encoder and direction, hubs, R@1, its change by CSLS) of the encoders of IKEA."""
    files = sorted((DATA / "embeddings").glob("*.en.npy"))
    encoders = {path.name.removesuffix(".en.npy"): str(path).replace(".en.", ".{lang}.") for path in files}
    manifest = Manifest.read(DATA / "ikea_en_de_eval.parquet")
    found = []
    for similarity in ("cosine", "transductive-csls"):
        results = crosslingual_retrieval(
            manifest,
            encoders,
            measures="R@1",
            pairs="en-de,de-en",
            splits=DATA / "embeddings/splits.npz",
            store=None,
            similarity=similarity,
            examples=False,
        )
        values: dict[tuple[str, str], list[float]] = {}
        for entry in results.entries:
            assert entry.value is not None
            values.setdefault((entry.encoder, entry.source), []).append(entry.value)
        hubs = {
            (one.encoder, one.source): one.views.hubs
            for one in results.entries
            if isinstance(one.views, CrosslingualRetrievalViews)
        }
        found.append((values, hubs))
    (plain, hubs), (other, _) = found
    for key, value in plain.items():
        counts = hubs[key]
        assert counts is not None
        before, after = float(np.mean(value)), float(np.mean(other[key]))
        yield f"{key[0]}, from {key[1]}", counts, before, after - before


def where_a_repair_pays() -> None:
    """Print what CSLS gives to encoders by the share of the errors that their largest hubs make."""
    every = sorted(repaired(), key=lambda one: -(one[1].errors or 0.0))
    rows = [["encoder", "skewness", "bound", "errors of the largest hubs", "R@1", "change by CSLS", "alarm"]]
    for name, hubs, value, change in every:
        assert hubs.skewness is not None
        assert hubs.skewness_bound is not None
        cells = [name, f"{hubs.skewness:.1f}", f"{hubs.skewness_bound:.1f}", f"{hubs.errors or 0:.0%}"]
        rows.append([*cells, number(value), f"{change:+.3f}", "yes" if hubs.alarm else ""])
    table("IKEA, cross-lingual retrieval: 24 encoders, both directions; hubs of the first sample", rows)
    rows = [["errors asked for", "alarms", "least change", "mean change", "mean change of the others"]]
    change = np.array([one[3] for one in every])
    for least in LEAST:
        alarms = [
            hub_alarm.is_alarm(hubs.skewness or 0.0, hubs.skewness_bound or 0.0, hubs.errors, least)
            for _, hubs, _, _ in every
        ]
        chosen = np.array(alarms, dtype=bool)
        means = [f"{v:+.3f}" for v in (change[chosen].min(), change[chosen].mean(), change[~chosen].mean())]
        rows.append([f"{least:.0%}", f"{chosen.sum()} of {len(every)}", *means])
    table("What CSLS gives to R@1 where hubs make so much of the errors", rows)


def main() -> None:
    """Print all tables."""
    warnings.simplefilter("ignore", DataWarning)
    print(f"bound: {hub_alarm.BOUND:g} standard errors; errors: {hub_alarm.LEAST:.0%}")
    false_alarms()
    power()
    coverage()
    where_a_repair_pays()
