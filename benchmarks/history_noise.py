"""How often `history` calls a change real where nothing changed, and how often it finds a planted one.

`python -m benchmarks history_noise` makes 1,000 histories of each of two kinds, all by `record` and `trend`:
of versions whose errors are drawn anew with every record; and of versions that mostly equal the one before
and else differ from it in a few queries. It asserts that any change comes out in at most 6.7 % of them, which
is 5 % within the error of 1,000 simulations. Then a loss is planted at one record, or a little at each (a
drift).
`python -m benchmarks.history_noise 100`: 100 of each.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from benchmarks.experiments import table
from xlingual import DataWarning, History, Manifest, crosslingual_retrieval
from xlingual.results import Results
from xlingual.results.history import Trend

MOST = 0.067  # of 1,000 simulations at .05: more is no accident (99 %)
ITEMS, DIM, RECORDS, ENCODERS = 150, 8, 6, 2
FEW = 0.04  # share of the queries that a slightly changed version answers anew
PLANTED = 100
LOSSES = (1.15, 1.3, 1.5)  # factors of the errors' size from the fourth record on
DRIFTS = (1.005, 1.01, 1.02)  # factors at each record
Errors = Callable[[np.random.Generator, int, np.ndarray | None], np.ndarray]


class Noisy:
    """An encoder with one vector for each row of the manifest."""

    def __init__(self, name: str, vectors: np.ndarray) -> None:
        self.identity, self.vectors = name, vectors.astype(np.float32)

    def encode(self, batch) -> np.ndarray:
        """Return the lines of the rows."""
        (rows,) = [numbering.index for numbering in batch.numberings if numbering.unit == "rows"]
        return self.vectors[rows]


def anew(rng: np.random.Generator, _: int, before: np.ndarray | None) -> np.ndarray:
    """Return errors that have nothing to do with those before."""
    return rng.standard_normal((2 * ITEMS, DIM))


def few(rng: np.random.Generator, _: int, before: np.ndarray | None) -> np.ndarray:
    """Return the errors before, at times with a few of them drawn anew."""
    made = anew(rng, 0, None)
    if before is None or rng.random() < 0.5:
        return made if before is None else before
    changed = np.tile(rng.random(ITEMS) < FEW, 2)
    return np.where(changed[:, None], made, before)


def loses(factor: float) -> Errors:
    """Return the errors of encoders that lose at the fourth record."""
    return lambda rng, number, before: (factor if number >= 3 else 1.0) * anew(rng, number, before)


def drifts(factor: float) -> Errors:
    """Return errors that grow with each record; what is drawn stays."""

    def of(rng: np.random.Generator, number: int, before: np.ndarray | None) -> np.ndarray:
        return anew(rng, number, before) if before is None else factor * before

    return of


def results_of(meaning: np.ndarray, errors: list[np.ndarray], data: Manifest, number: int) -> Results:
    """Return the results of one record."""
    encoders = {f"e{i}": Noisy(f"e{i}.{number}", meaning + own) for i, own in enumerate(errors)}
    found = crosslingual_retrieval(
        data, text_encoders=encoders, pairs="en-de", measures=["R@10"], store=None, examples=False
    )
    found.run["date"] = f"2026-01-{number + 1:02d}T00:00:00+00:00"
    return found


def history_of(kind: str, factor: float, seed: int) -> Trend:
    """Return what a history of simulated versions shows."""
    warnings.simplefilter("ignore", DataWarning)
    errors = {"anew": anew, "few": few, "loses": loses(factor), "drifts": drifts(factor)}[kind]
    rng = np.random.default_rng([seed, 7])
    meaning = np.tile(rng.standard_normal((ITEMS, DIM)), (2, 1))
    rows = [
        {"id": f"{lang}{i}", "lang": lang, "text": f"{lang} {i}", "item": f"i{i}"}
        for lang in ("en", "de")
        for i in range(ITEMS)
    ]
    data, before = Manifest.from_rows(rows), [None] * ENCODERS
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "history.sqlite")
        for number in range(RECORDS):
            before = [errors(rng, number, own) for own in before]
            history.record(results_of(meaning, before, data, number))
        return history.trend(seed=seed)


def simulated(kind: str, factor: float, n: int) -> list[Trend]:
    """Return n histories of a kind."""
    with Pool(2) as pool:
        return pool.map(partial(history_of, kind, factor), range(n), chunksize=10)


def real(found: Trend) -> tuple[list[int], int]:
    """Return the records at which a change is real, and of how many lines the whole is."""
    lines = [line for one in found.series for line in one.lines if line.points]
    at = [point.record for line in lines for point, _ in line.changes]
    return at, sum(line.whole is not None and line.whole.real for line in lines)


def main(simulations: int = 1000) -> None:
    """Run the simulations, print the shares and assert the bound."""
    rows = []
    for name, kind in (("drawn anew at every record", "anew"), ("a few queries at times", "few")):
        found = simulated(kind, 1.0, simulations)
        wrong = float(np.mean([any(real(one)) for one in found]))
        tests = float(np.mean([one.n_tests for one in found]))
        rows.append([name, f"{simulations:,}", f"{tests:.1f}", f"{wrong:.3f}"])
    table("Nothing changed", [["versions", "histories", "tests", "any change called real"], *rows])
    planted, n = [], min(PLANTED, simulations)
    for factor in LOSSES:
        found = [real(one) for one in simulated("loses", factor, n)]
        share = np.mean([at.count(4) / ENCODERS for at, _ in found])
        others = np.mean([any(place != 4 for place in at) for at, _ in found])
        planted.append([f"errors × {factor:g} at the fourth record", f"{share:.2f}", f"{others:.2f}"])
    for factor in DRIFTS:
        found = [real(one) for one in simulated("drifts", factor, n)]
        share = np.mean([whole / ENCODERS for _, whole in found])
        steps = np.mean([bool(at) for at, _ in found])
        planted.append([f"errors × {factor:g} at every record", f"{share:.2f}", f"{steps:.2f}"])
    table("A loss is planted", [["planted", "found", "another record named"], *planted])
    assert all(float(row[-1]) <= MOST for row in rows) or simulations < 1000, rows


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
