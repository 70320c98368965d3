"""The tables of docs/results/pivot.md, of the runs that docs/results/pivot.json holds.

`python -m benchmarks pivot_tables` prints them, and `make figures` puts each where the page has a
place for it. The runs are those of `python -m benchmarks.pivot_runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from benchmarks.figures import markdown
from benchmarks.pivot_kept import Json, records
from benchmarks.splits import by_items, shown
from xlingual.pivot.choose import IMAGE_WEIGHT, MARGIN, RELATED

ALIGNED = 0.9
WELL, HARM = 0.01, -0.01
RULES = (
    "chosen",
    "votes",
    "votes and image pairs pass, the most votes",
    "votes and image pairs pass, image pairs",
    "own pairs",
    "image pairs",
    "mutual nearest texts",
    "image similarity of the nearest text",
    "kept / own-language share",
    "hub skewness",
    "neighbourhoods kept",
)
Rows = list[list[str]]


def number(value: float, signed: bool = False) -> str:
    """Return a number with three digits."""
    return f"{value:{'+' if signed else ''}.3f}".replace("-", "−")


def value_of(record: Json, name: str) -> float:
    """Return the XLR R@10 of a setting of a run; "chosen" and "best" are settings, too."""
    if name == "best":
        return float(max(record["xlr"]))
    name = record["chosen"] if name == "chosen" else name
    if name in record["settings"]:
        return float(record["xlr"][record["settings"].index(name)])
    return float(record["others"][name])


def gain(record: Json, name: str = "chosen") -> float:
    """Return what a setting gains over none in a run."""
    return value_of(record, name) - value_of(record, "none")


def of_items(own: Sequence[Json]) -> str:
    """Return the mean gain of the chosen map on IKEA, with the interval by items."""
    by_seed: dict[int, list[Json]] = {}
    for one in own:
        by_seed.setdefault(one["seed"], []).append(one)
    items = {int(one["key"].split("|")[2]): one["items"] for one in records("items")}
    runs = []
    for seed, several in by_seed.items():
        if seed not in items:  # a split that was not ended
            continue
        means = np.mean([one["gain_of_items"] for one in several], axis=0)
        runs.append(dict(zip(map(str, items[seed]), means.tolist(), strict=True)))
    return shown(*by_items(runs))


def encoders() -> Rows:
    """IKEA, each encoder."""
    rows = [
        [
            "encoder",
            "splits",
            "none",
            "centre",
            "ridge .02",
            "chosen",
            "best map",
            "true pairs",
            "least gain",
            "none chosen",
        ]
    ]
    own = records("ikea")
    names = sorted({one["encoder"] for one in own}, key=lambda name: _mean(own, name, "none"))
    for name in names:
        several = [one for one in own if one["encoder"] == name]
        cells = [
            _mean(own, name, of)
            for of in ("none", "centre", "ridge?penalty=0.02", "chosen", "best", "true pairs, best")
        ]
        least = min(gain(one) for one in several)
        none = sum(one["chosen"] == "none" for one in several)
        rows.append(
            [
                f"`{name}`",
                str(len(several)),
                *map(number, cells),
                number(least, True),
                f"{none} of {len(several)}",
            ]
        )
    return rows


def _mean(own: Iterable[Json], encoder: str, name: str) -> float:
    return float(np.mean([value_of(one, name) for one in own if one["encoder"] == encoder]))


def methods() -> Rows:
    """IKEA, the mean of each method over encoders."""
    own = records("ikea")
    names = {
        "none": "none", "centring": "centre", "whitening (OAS)": "whiten:",
        "whitening, shrunk by .5": "whiten:?shrink=0.5", "CSLS, bank of the texts to fit on": "csls",
        "centring and CSLS": "centre: + csls", "ridge .02, always": "ridge?penalty=0.02",
        "Procrustes .02, always": "procrustes?penalty=0.02", "Procrustes 0, always": "procrustes?penalty=0",
        "**image pivot, chosen**": "chosen", "*best map of each run, by the truth*": "best",
        "*translations of the same items*": "true pairs, best",
    }  # fmt: skip
    rows = [["method", "XLR R@10", "gain", "worse by more than .01", "least gain"]]
    for title, name in names.items():
        gains = [gain(one, name) for one in own]
        mean = float(np.mean(_by_encoder(own, lambda one, name=name: value_of(one, name))))
        more = [number(float(np.mean(_by_encoder(own, lambda one, name=name: gain(one, name)))), True)]
        worse = sum(each < HARM for each in gains)
        rows.append([title, number(mean), *more, f"{worse} of {len(gains)}", number(min(gains), True)])
    return rows


def _by_encoder(own: Sequence[Json], value: Callable[[Json], float]) -> list[float]:
    names = dict.fromkeys(one["encoder"] for one in own)
    return [float(np.mean([value(one) for one in own if one["encoder"] == name])) for name in names]


def claims() -> Rows:
    """Give the chosen map's gain with intervals: all, aligned encoders, and shuffled images."""
    own = records("ikea")
    high = [one for one in own if value_of(one, "none") >= ALIGNED]
    rows = [["runs", "number", "gain of the chosen [95 % by items]", "least gain", "none chosen"]]
    for title, several in (
        ("all encoders", own),
        (f"aligned: none gives {ALIGNED:.1f} or more", high),
        ("images shuffled", records("shuffled")),
    ):
        none = sum(one["chosen"] == "none" for one in several)
        least = min(gain(one) for one in several)
        rows.append(
            [title, str(len(several)), of_items(several), number(least, True), f"{none} of {len(several)}"]
        )
    if several := records("shuffled left-out"):
        gains, none = [gain(one) for one in several], sum(one["chosen"] == "none" for one in several)
        cells = [str(len(several)), number(float(np.mean(gains)), True), number(min(gains), True)]
        rows.append(["emoji, recipes, scenes, images shuffled", *cells, f"{none} of {len(several)}"])
    several = records("shuffled")
    places = [place_of(one, "votes") for one in several]
    gains = [one["xlr"][place] - one["xlr"][0] for one, place in zip(several, places, strict=True)]
    cells = [str(len(several)), number(float(np.mean(gains)), True), number(min(gains), True)]
    rows.append(["images shuffled, by votes alone", *cells, f"{places.count(0)} of {len(several)}"])
    return rows


def place_of(record: Json, rule: str) -> int:
    """Return the setting that a criterion takes: "chosen" and "pass" with margins, all others without."""
    judged = {name: np.array(values) for name, values in record["criteria"].items()}
    if rule.startswith("chosen"):
        margin = float(rule.partition("margin ")[2] or MARGIN)
        score = judged["votes"] + IMAGE_WEIGHT * judged["image pairs"]
        return _passing(score, judged, margin, margin)
    if rule == "votes":
        return _passing(judged["votes"], judged, MARGIN, -np.inf)
    if " pass, " in rule:
        return _passing(judged["votes" if "votes" in rule.partition(", ")[2] else "image pairs"], judged)
    return int(np.argmax(judged[rule]))


def _passing(
    score: np.ndarray, judged: Mapping[str, np.ndarray], margin: float = MARGIN, of_images: float = MARGIN
) -> int:
    """Return the setting with the highest score of those that are better than none by margins; else none."""
    passes = (judged["votes"] > margin * judged["error"]) & (judged["error"] > 0)
    if np.isfinite(of_images):
        passes &= (judged["image pairs"] > of_images * judged["image error"]) & (judged["image error"] > 0)
        passes &= judged["related"] > RELATED
    return int(np.where(passes, score, -np.inf).argmax()) if passes.any() else 0


SETS: Mapping[str, tuple[str, ...]] = {"IKEA": ("ikea",), "left out": ("left-out",)}


def criteria() -> Rows:
    """How each criterion does on IKEA and on the data left out."""
    return _judged(RULES)


def margins() -> Rows:
    """How the margin does on IKEA and on the data left out."""
    return _judged([f"chosen, margin {margin:g}" for margin in (0.5, 1, 1.5, 2, 3)])


def _knows(record: Json, rule: str) -> bool:
    """Return whether a run has what a rule goes by: the first split has all criteria."""
    return rule.startswith(("chosen", "votes")) or rule in record["criteria"]


def _judged(rules: Sequence[str]) -> Rows:
    rows = [
        [
            "criterion",
            *(
                f"{data}: {what}"
                for data in SETS
                for what in (
                    "gain",
                    "regret",
                    "within .01 of the best",
                    "worse by more than .01",
                    "least gain",
                )
            ),
        ]
    ]
    for rule in rules:
        row = [rule]
        for (part,) in SETS.values():
            own = [one for one in records(part) if _knows(one, rule)]
            found = [one["xlr"][place_of(one, rule)] for one in own]
            gains = np.array([each - value_of(one, "none") for each, one in zip(found, own, strict=True)])
            regret = np.array([value_of(one, "best") - each for each, one in zip(found, own, strict=True)])
            row += [
                number(gains.mean(), True),
                number(regret.mean()),
                f"{(regret <= WELL).sum()} of {len(own)}",
            ]
            row += [str((gains < HARM).sum()), number(gains.min(), True)]
        rows.append(row)
    return rows


def left_out() -> Rows:
    """Each run on the data left out."""
    rows = [
        [
            "data",
            "languages",
            "encoder",
            "pairs found",
            "none",
            "centre",
            "ridge .02",
            "chosen",
            "which",
            "best map",
        ]
    ]
    for one in records("left-out"):
        cells = [value_of(one, name) for name in ("none", "centre", "ridge?penalty=0.02", "chosen", "best")]
        shown_cells = [*map(number, cells[:-1]), f"`{one['chosen']}`", number(cells[-1])]
        rows.append(
            [one["data"], "-".join(one["languages"]), one["encoder"], str(one["pairs"]), *shown_cells]
        )
    return rows


def grid() -> Rows:
    """Every setting of the grid on IKEA and on the data left out: always taken, and how often the best."""
    names = list(dict.fromkeys(name for one in records("ikea") for name in one["settings"]))
    rows = [["map", *(f"{data}: {what}" for data in SETS for what in ("gain", "best", "chosen"))]]
    for name in names:
        row = [f"`{name}`"]
        for (part,) in SETS.values():
            own = [one for one in records(part) if name in one["settings"]]
            best = sum(value_of(one, "best") - value_of(one, name) < 1e-9 for one in own)
            taken = sum(one["chosen"] == name for one in own)
            mean = float(np.mean([gain(one, name) for one in own]))
            row += [number(mean, True), f"{best} of {len(own)}", f"{taken} of {len(own)}"]
        rows.append(row)
    return rows


def curve(part: str, head: str) -> Rows:
    """Return a row for each value of what a part varies; the mean over its encoders and splits."""
    rows = [
        [
            head,
            "runs",
            "pairs of images found",
            "none",
            "chosen",
            "gain",
            "least gain",
            "best map",
            "none chosen",
        ]
    ]
    own = records(part)
    for level in dict.fromkeys(one["key"].split("|")[1] for one in own):
        several = [one for one in own if one["key"].split("|")[1] == level]
        rows.append([level, *_summary(several)])
    return rows


def _summary(several: Sequence[Json]) -> list[str]:
    none, taken, best = (np.mean([value_of(one, of) for one in several]) for of in ("none", "chosen", "best"))
    pairs = np.mean([one["pairs"] for one in several])
    least = min(gain(one) for one in several)
    unchanged = sum(one["chosen"] == "none" for one in several)
    return [
        str(len(several)), f"{pairs:.0f}", number(none), number(taken), number(taken - none, True),
        number(least, True), number(best), f"{unchanged} of {len(several)}",
    ]  # fmt: skip


def compared(part: str, head: str, default: str) -> Rows:
    """Return the rows of a constant, and of its default in the runs of IKEA with the same encoders."""
    rows = curve(part, head)
    same = {(one["encoder"], one["seed"]) for one in records(part)}
    plain = [one for one in records("ikea") if (one["encoder"], one["seed"]) in same]
    return [*rows, [default, *_summary(plain)]] if plain and same else rows


def several_languages() -> Rows:
    """Emoji, a pair of languages beside others, jointly and towards one."""
    rows = [["languages", "how", "encoder", "none", "chosen", "best map"]]
    for one in records("languages"):
        _, many, how, encoder, _ = one["key"].split("|")
        rows.append([many, how, encoder, *(number(value_of(one, of)) for of in ("none", "chosen", "best"))])
    return rows


MODELS = ("none", "title and body", "Triplet", "TripletXL", "TripletXL .3", "MLMME", "pivot")


def trained() -> Rows:
    """Give what is trained on the same data: means over splits, and what the pivot gains."""
    rows = [["data", "encoder", "splits", *MODELS, "pivot − none, least … most of the splits"]]
    of_data = {
        (one["data"], one["seed"]): one["xlr"] for one in records("trained") if one["encoder"] == "MLMME"
    }
    others = [one for one in records("trained") if one["encoder"] != "MLMME"]
    for data, encoder in dict.fromkeys((one["data"], one["encoder"]) for one in others):
        own = [one for one in others if (one["data"], one["encoder"]) == (data, encoder)]
        runs = [one["xlr"] | of_data.get((data, one["seed"]), {}) for one in own]
        known = [[run[name] for run in runs if name in run] for name in MODELS]
        means = [number(float(np.mean(each))) if each else "" for each in known]
        leads = [run["pivot"] - run["none"] for run in runs]
        span = f"{number(min(leads), True)} … {number(max(leads), True)}"
        rows.append([data, encoder, str(len(own)), *means, span])
    return rows


TABLES: Mapping[str, Callable[[], Rows]] = {
    "methods": methods,
    "claims": claims,
    "encoders": encoders,
    "criteria": criteria,
    "margins": margins,
    "grid": grid,
    "left-out": left_out,
    "trained": trained,
    "items": lambda: compared("items of IKEA", "items to fit on", "450"),
    "noise": lambda: compared("noise", "noise", "0"),
    "shared": lambda: compared("shared", "share in both languages", "0"),
    "scenes": lambda: curve("items of scenes", "items to fit on"),
    "languages": several_languages,
    "rounds": lambda: compared("rounds", "rounds", "5 (default)"),
    "nearest": lambda: compared("nearest", "nearest images kept", "30 (default)"),
}


def main() -> None:
    """Print all tables."""
    for name, make in TABLES.items():
        rows = make()
        if len(rows) > 1:
            print(f"\n### {name}\n\n{markdown([{'table': rows}])}")


if __name__ == "__main__":
    main()
