"""Every figure of README and the results pages stands in a committed file of figures, at the page's rounding.

A figure is a number with two decimals or more, or a percentage with one. Places that `make figures` fills are
left out (`test_figures.py` compares them), and so are code, links and identifiers of papers.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
INDEX = RESULTS / "README.md"  # takes its figures from other pages: a test of its own
PAGES = {"readme": ROOT / "README.md"} | {
    page.stem: page for page in sorted(RESULTS.glob("*.md")) if page != INDEX
}
LEFT_OUT = re.compile(
    r"<!-- (?:tables|output): .*?<!-- end -->|^```.*?^```$|`[^`\n]*`|\]\([^)\n]*\)|\b(?:doi|arXiv):[^\s\]]+",
    re.DOTALL | re.MULTILINE,
)
FIGURE = re.compile(r"(?<![\w./])(\d[\d,]*)?\.(\d+)(?![\w.]*\d\.)(\s?%)?")
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.]*\d\.)")  # in the index
NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*)?(\.\d+)?(?:e[+-]\d+)?")

# numbers that no figures can have: of papers, or settings; by page, each with its reason
ELSEWHERE = {
    "dual-encoder": {
        "mAP in the LAReQA paper": [".52", ".29", ".23", ".86", ".85", ".80", ".79"],
        "a difference of two numbers of the LAReQA paper": [".07"],
    },
    "history": {"a setting: MOST of history_noise.py": ["6.7 %"]},
    "image-checks": {"a setting: DIFFERENCE_EFFECT of evaluation/backretrieval/check.py": [".85"]},
    "inspect": {"settings: MOST of inspect_noise.py, LIMIT of neighbours_speed.py": ["6.7 %", "1.05"]},
    "mlmme": {"Spearman in the MLMME paper": [".685", ".687", ".693", ".752", ".717", ".797"]},
    "scale": {"versions of faiss and usearch": ["1.15", "2.26"]},
    "search-engine": {"the mean of the row of the table": ["0.791", "0.533"]},
}


def figures(text):
    """Return the figures of a text, as they are written."""
    found = FIGURE.finditer(LEFT_OUT.sub(" ", text))
    return [match[0] for match in found if len(match[2]) >= 2 or match[3]]


def numbers(content):
    """Return the absolute values of all numbers of a JSON document, those in its strings too."""
    if isinstance(content, dict):
        return [value for item in content.items() for part in item for value in numbers(part)]
    if isinstance(content, list):
        return [value for part in content for value in numbers(part)]
    if isinstance(content, str):
        found = (match[0].replace(",", "") for match in NUMBER.finditer(content))
        return [float(number) for number in found if number[:1].isdigit() or number[1:2].isdigit()]
    return [] if content is None or isinstance(content, bool) else [abs(float(content))]


def orphans(text, contents):
    """Return the figures of a text that no number of these documents rounds to."""
    known = sorted(numbers(contents))

    def holds(value, unit):
        at = bisect_left(known, value - unit * 0.500001)
        return at < len(known) and known[at] <= value + unit * 0.500001

    found = []
    for figure in figures(text):
        digits = figure.rstrip(" %\u00a0").replace(",", "")
        value, unit = float(digits), 10.0 ** -len(digits.partition(".")[2])
        if not holds(value, unit) and not ("%" in figure and holds(value / 100, unit / 100)):
            found.append(figure)
    return found


def of_page(name):
    """Return the text of a page, and its figures with those that it links to."""
    text = PAGES[name].read_text("utf-8")
    files = {f"{name}.json", *re.findall(r"\]\(([\w-]+\.json)\)", text)}
    paths = [RESULTS / file for file in sorted(files)]
    return text, [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_stands_in_a_file_of_figures(name):
    allowed = {figure for several in ELSEWHERE.get(name, {}).values() for figure in several}
    text, contents = of_page(name)
    missing = set(orphans(text, contents))
    assert missing - allowed == set(), "keep them with python -m benchmarks.keep, or leave them out"
    assert allowed - set(figures(text)) == set(), (
        "these are not on the page any more: take them out of ELSEWHERE"
    )


def strange(line, folder=RESULTS):
    """Return the figures of a line of the index that no page to which it links has, as it writes them."""
    pages = re.findall(r"\]\(([\w-]+\.md)(?:#[\w-]+)?\)", line)
    text = " ".join((folder / page).read_text("utf-8") for page in pages)
    there = {number.lstrip("0") for number in DECIMAL.findall(text)}
    return [number for number in DECIMAL.findall(LEFT_OUT.sub(" ", line)) if number.lstrip("0") not in there]


@pytest.mark.parametrize("line", [line for line in INDEX.read_text("utf-8").splitlines() if "](" in line])
def test_every_answer_of_the_index_has_the_figures_of_its_page(line):
    assert strange(line) == [], "write the figures as the page does that the line links to"


def test_a_figure_that_the_page_does_not_have_is_found(tmp_path):
    (tmp_path / "a.md").write_text("It is 0.330 [0.289, 0.375], or 97 %.\n")
    line = "| What? | .330 [.289, .375], 97 %: 3 of [a](a.md#b) |"
    assert strange(line, tmp_path) == []
    assert strange(line.replace(".289", ".288"), tmp_path) == [".288"]


def test_a_changed_digit_is_found():
    kept = [{"a": 0.12345, "b": ["1,234.5 [−.067, 1e-06]", None, True]}, {"line": "p = 0.350"}]
    fine = ".123 and 0.1235, 12.3 %, 1,234.50, −0.067, .35, `0.77`, [0.88](0.99), 3.5, 2024, doi:10.1145/1"
    assert figures(fine) == [".123", "0.1235", "12.3 %", "1,234.50", "0.067", ".35", "0.88"]
    assert orphans(fine.replace("0.88", "x"), kept) == []
    changed = ".124 and 0.1236, 12.4 %, 1,234.51, .068, .36, .3502"
    assert orphans(changed, kept) == figures(changed)
    assert orphans("<!-- tables: a -->\n.77\n<!-- end -->\n.78\n```\n.79\n```\n", kept) == [".78"]
