"""The tables and the chart of docs/results/growth.md, from what `growth_tasks` kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.figures import FOLDER, Block
from benchmarks.growth_data import ENCODERS, QUADRATIC, TASKS
from benchmarks.growth_formula import LINEAR, Formula, error, fitted
from benchmarks.growth_formula import QUADRATIC as SQUARE

FILE, IMAGE = FOLDER / "growth.json", Path("docs/images/growth-tasks.svg")
SHOWN = (1_000, 10_000, 100_000, 1_000_000)
NAMES = (*TASKS, *ENCODERS)
SHADES = ("#9ecae1", "#4292c6", "#08519c", "#08203f")  # one hue, light to dark: readable without colours
UNITS = ((1e3, "ms"), (1e6, "µs"), (1e9, "ns"), (1e12, "ps"))
Table = list[list[str]]


def series(content: Mapping[str, Any], name: str, what: str) -> dict[int, float]:
    """Return what was measured of a task or an encoder, by its number of rows; `what`: seconds or memory."""
    rows = content.get("measured", {}).get(name, {})
    return {int(n): rows[n][what] for n in sorted(rows, key=int)}


def degree_of(name: str, what: str) -> int:
    """Return whether time or memory grows with the rows or with their square: memory never has a square."""
    return SQUARE if what == "seconds" and name in QUADRATIC else LINEAR


def value(measured: Mapping[int, float], degree: int, n: int) -> tuple[float, bool]:
    """Return (value at n rows, whether it was measured); where not, it is the formula's."""
    if n in measured:
        return measured[n], True
    return fitted(measured, degree)(n), False


def short(number: float) -> str:
    """Return a number to two figures: 100, not 1e+02."""
    return f"{float(f'{number:.2g}'):g}"


def duration(seconds: float) -> str:
    """Return seconds, or minutes, hours or days, to two figures."""
    for least, unit, length in ((172_800, "d", 86_400), (7_200, "h", 3_600), (120, "min", 60)):
        if seconds >= least:
            return f"{short(seconds / length)} {unit}"
    return f"{short(seconds)} s"


def size(mib: float) -> str:
    """Return MiB, or GiB, to two figures."""
    return f"{short(mib / 1024)} GiB" if mib >= 1000 else f"{short(mib)} MiB"


def formula(found: Formula) -> str:
    """Return a formula of seconds in words, such as 1 s + 23 µs·N + 2 ns·N²."""
    parts = [duration(found.parts[0])] if found.parts[0] else []
    for power, part in enumerate(found.parts[1:], 1):
        if part:
            scale, unit = next((s, u) for s, u in UNITS if part * s >= 1 or u == "ps")
            parts.append(f"{short(part * scale)} {unit}·N{'²' if power == SQUARE else ''}")
    return " + ".join(parts)


def missed(measured: Mapping[int, float], degree: int) -> str:
    """Return the error of the formula in percent, signed."""
    off = error(measured, degree)
    return "–" if off is None else f"{100 * off:+.0f} %".replace("-", "−")


def table(content: Mapping[str, Any], names: Mapping[str, str], head: str) -> Table:
    """Return a table with a row for each name: time and memory at each size, the formula and its error."""
    rows = [[head, *(f"{n:,}" for n in SHOWN), "time grows as", "error of the formula: time, memory"]]
    for name in names:
        time, memory = series(content, name, "seconds"), series(content, name, "memory")
        if len(time) < 2:
            continue
        degree = degree_of(name, "seconds")
        cells = []
        for n in SHOWN:
            (seconds, measured), (mib, _) = value(time, degree, n), value(memory, LINEAR, n)
            cell = f"{duration(seconds)}, {size(mib)}"
            cells.append(cell if measured else f"*{cell}*")
        errors = f"{missed(time, degree)}, {missed(memory, LINEAR)}"
        rows.append([f"`{name}`", *cells, formula(fitted(time, degree)), errors])
    return rows


def places(content: Mapping[str, Any]) -> dict[str, list[Block]]:
    """Return what the places of the page show."""
    days = sorted({row["date"] for rows in content["measured"].values() for row in rows.values()})
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    versions = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    return {
        "tasks": [{"table": table(content, TASKS, "task")}],
        "encoders": [{"table": table(content, ENCODERS, "encoder")}],
        "versions": [{"line": f"Measured {span} with {versions}."}],
    }


def draw(content: Mapping[str, Any], path: Path = IMAGE) -> None:
    """Draw time and memory of all names at all sizes; open dots come by the formula."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    own = mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    names = [name for name in NAMES if len(series(content, name, "seconds")) > 1][::-1]
    if not names:
        return
    place = {name: row + (name in TASKS) for row, name in enumerate(names)}  # a gap parts tasks and encoders
    with own:
        panels, both = plt.subplots(
            1, 2, figsize=(9, 0.24 * len(names) + 1.2), sharey=True, layout="constrained"
        )
        for axes, what, label in zip(
            both, ("seconds", "memory"), ("processor time, s", "memory, MiB"), strict=True
        ):
            for name in names:
                found = series(content, name, what)
                points = [value(found, degree_of(name, what), n) for n in SHOWN]
                axes.plot([x for x, _ in points], [place[name]] * len(points), color="0.8", lw=1, zorder=1)
                for (x, measured), shade in zip(points, SHADES, strict=True):
                    face = shade if measured else "white"
                    axes.plot(x, place[name], "o", ms=5, mec=shade, mfc=face, zorder=2)
            axes.set(xscale="log", xlabel=label)
            axes.grid(axis="x", color="0.92")
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.tick_params(axis="y", length=0)
        both[0].set_yticks(list(place.values()), list(place))
        marks = [
            plt.Line2D([], [], ls="", marker="o", color=shade, label=f"{n:,}")
            for n, shade in zip(SHOWN, SHADES, strict=True)
        ]
        marks.append(
            plt.Line2D([], [], ls="", marker="o", mec="0.3", mfc="white", label="open: by the formula")
        )
        panels.legend(handles=marks, title="rows", loc="outside upper center", ncols=5, frameon=False)
        panels.savefig(path, metadata={"Date": None})
        plt.close(panels)
