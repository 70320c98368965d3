"""How often random encoders are said to be above or below chance: any of them, in any language pair."""

from __future__ import annotations

import warnings
from collections import Counter
from multiprocessing import Pool

import numpy as np

from benchmarks.vectors import Given, spectrum
from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.report.leaders import side_of_chance

SIMULATIONS, ENCODERS, ITEMS, LANGUAGES = 400, 5, 100, ("en", "de", "fr")
MOST = 0.05


def main() -> None:
    """Print how often any 95 % interval leaves chance out, and how often any simultaneous one does."""
    with Pool(2) as pool:
        found = sum(pool.map(_alarms, range(SIMULATIONS), chunksize=25), Counter())
    pairs = len(LANGUAGES) * (len(LANGUAGES) - 1)
    print(f"{ENCODERS} random encoders, {ITEMS} items, {pairs} pairs, {SIMULATIONS:,} simulations")
    print("| | 95 % intervals | simultaneous intervals: above | below | either |\n|---|---|---|---|---|")
    luck = 2 * np.sqrt(MOST * (1 - MOST) / SIMULATIONS)
    names = dict.fromkeys(name for name, _ in sorted(found))
    for name in names:
        own, above, below, either = (found[name, kind] / SIMULATIONS for kind in KINDS)
        print(f"| {name} | {own:.1%} | {above:.1%} | {below:.1%} | {either:.1%} |")
        assert either <= MOST + luck, name
    print(f"Monte Carlo standard error {luck / 2:.1%}")


KINDS = ("own", "above", "below", "either")


def _alarms(seed: int) -> Counter[tuple[str, str]]:
    """Return which alarms any encoder gave, over its means and over its language pairs."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    rows = [
        {"id": f"{lang}{i}", "lang": lang, "text": f"{lang}{i}", "item": f"i{i}"}
        for lang in LANGUAGES
        for i in range(ITEMS)
    ]
    encoders = {f"random {i}": f"random:?seed={seed * ENCODERS + i}" for i in range(ENCODERS)}
    common = {"text_encoders": encoders, "seed": seed, "store": None}
    manifest = Manifest.from_rows(rows)
    images = Given(spectrum(rng, ITEMS, 64), "images")
    runs = (
        backretrieval(manifest, image_encoder=images, examples=False, **common),
        crosslingual_retrieval(manifest, **common),
    )
    found: Counter[tuple[str, str]] = Counter()
    for run in runs:
        for row in run.summary:
            kind = "means over pairs" if row.source is None else "single pairs"
            name = f"{row.task}, {row.measure}, {kind}"
            side = side_of_chance(row.ci_simultaneous, row.chance, row.measure)
            own = side_of_chance(row.ci, row.chance, row.measure)
            found[name, "own"] |= own != "at"
            found[name, "above"] |= side == "above"
            found[name, "below"] |= side == "below"
            found[name, "either"] |= side != "at"
    return found
