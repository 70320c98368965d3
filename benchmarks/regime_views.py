"""Language bias of LAReQA's regimes: Table 3, Figures 4, 5 and 6, language identification, Table 5.

    python -m benchmarks.keep lareqa python -m benchmarks.regime_views FOLDER

FOLDER is what `xlingual evaluate multilingual-pool` wrote of the models of `xlingual casestudy lareqa`,
called REGIME-SEED. A number is the mean over the trainings of a regime. Its interval reaches from the lowest
to the highest end of the 95 % intervals of the trainings, so it is rather too wide.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.experiments import PERCENT, table
from xlingual import Results

Found: TypeAlias = tuple[float, Any]  # a number with its interval, or None
Column: TypeAlias = Callable[[Any], Found]  # from an entry of the results
LOWEST = "ar->zh"  # the pair of languages that the paper names as the hardest


def view(name: str, key: str) -> Column:
    """Return what finds the number `key` of a view."""
    return lambda entry: (
        getattr(entry.views, name)[key],
        (getattr(entry.views.ci, name, None) or {}).get(key),
    )


def own(name: str, factor: float = 1.0) -> Column:
    """Return what finds the mean over languages of a view's number for language → the same language."""
    return lambda entry: (
        factor * np.mean([getattr(entry.views, name)[f"{tag}->{tag}"] for tag in entry.views.languages]),
        None,
    )


def over_trainings(found: list[Found], digits: int) -> str:
    """Return the mean, × 100, with the widest interval: "12.3 [11.0, 14.1]"."""
    mean = f"{PERCENT * np.mean([value for value, _ in found]):.{digits}f}"
    ends = [ci for _, ci in found if ci is not None]
    if not ends:
        return mean
    low, high = min(ci.low for ci in ends), max(ci.high for ci in ends)
    return f"{mean} [{PERCENT * low:.{digits}f}, {PERCENT * high:.{digits}f}]"


def main(folder: Path) -> None:
    """Print the tables, the regime of the smallest Δ first."""
    trainings: dict[str, list[Any]] = {}
    for entry in Results.read(folder).entries:
        trainings.setdefault(entry.encoder.rpartition("-")[0], []).append(entry)

    def mean(regime: str, column: Column) -> float:
        return float(np.mean([column(entry)[0] for entry in trainings[regime]]))

    def show(title: str, columns: Mapping[str, Column], digits: int = 1) -> None:
        rows = [["regime", *columns]]
        for regime in order:
            cells = [[column(entry) for entry in trainings[regime]] for column in columns.values()]
            rows.append([regime, *(over_trainings(cell, digits) for cell in cells)])
        table(title, rows)

    delta = view("remove_one", "relative_delta")
    order = sorted(trainings, key=lambda regime: mean(regime, delta))
    first = trainings[order[0]][0]
    views = first.views
    print(
        f"{first.n_source} questions, {first.n_target} candidates, {len(views.languages)} languages, ", end=""
    )
    print(f"{len(trainings[order[0]])} trainings; all numbers × 100 but those of `times its share`")

    removed = {f"-{kind}": view("remove_one", kind) for kind in ("rand", "same")}
    show("One answer removed (Table 3)", {**removed, "Δ": delta})
    crossing = [pair for pair in views.one_target if len(set(pair.split("->"))) > 1]
    crossing.sort(key=lambda pair: -sum(mean(regime, view("one_target", pair)) for regime in order))
    shown = [*crossing[:2], *({LOWEST, crossing[-1]} & set(crossing))]
    show(
        "One answer in the pool (Figure 4)",
        {name: view("one_target_summary", name) for name in ("own", "other", "gap")}
        | {pair: view("one_target", pair) for pair in shown},
    )
    id_of = sorted(views.language_id_accuracy, key=lambda key: key not in ("all", "en-zh"))[:2]
    chance = ", ".join(f"{key} {PERCENT * views.language_id_chance[key]:.1f}" for key in id_of)
    show(
        f"Language identification (section 5.4; chance: {chance}), first axis (Figure 5), top 100 (Figure 6)",
        {f"language of {key}": view("language_id_accuracy", key) for key in id_of}
        | {
            f"first axis, {'-'.join(views.picture.languages)}": lambda one: (
                one.views.picture.explained[0],
                None,
            )
        }
        | {"own language in the top 100": own("language_share_top100")}
        | {"times its share": own("language_share_ratio_top100", 1 / PERCENT)},
    )
    subset = list(views.subsets)[-1]
    show(
        "Subset of languages (Table 5)",
        {"all languages": lambda one: (one.value, one.ci), subset: view("subsets", subset)},
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
