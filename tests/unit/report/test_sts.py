"""Textual similarity for people: verdict, terminal and page."""

from __future__ import annotations

from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from xlingual import sts, write_report
from xlingual.data.sentence_pairs import SentencePairs
from xlingual.records import Texts
from xlingual.report import page_of as blocks_of
from xlingual.report.pages.sts import grid_of
from xlingual.report.render import terminal
from xlingual.results import Results

HOSTILE = "<b>files</b> & 'co'"


class Noisy:
    content = ("text",)

    def __init__(self, noise: float) -> None:
        self.identity, self.noise = f"noisy:{noise}", noise

    def encode(self, batch: Texts) -> np.ndarray:
        rows = []
        for text in batch.text:
            number, scale = (float(part) for part in text.split())
            rng = np.random.default_rng(int(number))
            rows.append([np.cos(scale), np.sin(scale), *(self.noise * rng.standard_normal(6))])
        return np.array(rows, np.float32)


def pairs_of(name: str, n: int, seed: int) -> SentencePairs:
    rng = np.random.default_rng(seed)
    angle = rng.random(n) * 3
    first = [f"{seed * 100_000 + 2 * i} 0" for i in range(n)]
    second = [f"{seed * 100_000 + 2 * i + 1} {angle[i]:.3f}" for i in range(n)]
    score = np.round(5 * np.cos(angle) + 0.5 * rng.standard_normal(n), 1)
    return SentencePairs(name, name, [str(i) for i in range(n)], score, first, second)


FILES = [pairs_of("alpha", 200, 1), pairs_of(HOSTILE, 150, 2)]
ENCODERS = {"sharp": Noisy(0.1), "soft": Noisy(0.4), "blur": Noisy(1.5)}


def found(files: list[SentencePairs] = FILES, **options: object) -> Results:
    given = {"text_encoders": ENCODERS} | options
    return sts(files, language="en", store=None, **given)


@pytest.fixture(scope="module")
def run() -> Results:
    return found(baseline="soft")


def shown(results: Results, width: int) -> str:
    stream = StringIO()
    page = blocks_of(results)
    terminal.show_section(Console(file=stream, width=width, highlight=False), page.sections[0])
    return stream.getvalue()


@pytest.mark.parametrize("width", [200, 100, 80, 60])
def test_the_terminal_cuts_no_number(run: Results, width: int) -> None:
    text = shown(run, width)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    grid = grid_of(run, "Pearson")
    assert grid is not None and grid.reference == "soft"
    for cell in grid.cells.values():
        assert f"{cell.value:.3f}" in text


@pytest.mark.parametrize("width", [110, 100, 90])
@pytest.mark.cases(1)
def test_no_interval_is_broken_over_lines(width: int) -> None:
    five = found(baseline="a", text_encoders={name: Noisy(30 + i) for i, name in enumerate("abcde")})
    assert "[−" in (text := shown(five, width))
    assert all(line.count("[") == line.count("]") for line in text.splitlines())


def test_the_wide_form_is_table_2(run: Results) -> None:
    lines = shown(run, 200).splitlines()
    head = next(line for line in lines if "sharp" in line)
    assert head.split() == ["file", "sharp", "soft", "blur"]
    row = next(line for line in lines if line.lstrip().startswith("alpha"))
    below = lines[lines.index(row) + 1]
    assert row.count("[") == 3 and row.count("*") == 1 and below.count("[") == 2
    assert "reference" in below and "+0." in below and "−0." in below


class Page(HTMLParser):
    """Which tags stand open, and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.dots = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img", "hr", "br") and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)
        if dict(attrs).get("class") == "pairs":
            self.dots += dict(attrs).get("d") or ""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


def page_of(results: Results, folder: Path) -> tuple[Page, str]:
    results.write(folder)
    write_report([Results.read(folder)], folder / "report.html")
    source = (folder / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(source)
    assert page.open == []
    return page, source


def test_the_page_shows_tables_tests_and_every_pair(run: Results, tmp_path: Path) -> None:
    page, source = page_of(run, tmp_path)
    text = page.text
    for part in ("Textual similarity in en", "Pearson, file by file", "Spearman, file by file", "reference"):
        assert part in text
    assert "<b>files" not in source and HOSTILE in text
    assert page.dots.count("M") == 3 * (200 + 150)
    assert "files" in text and "150–200" in text
    grid = grid_of(run, "Pearson")
    assert grid is not None
    for cell in grid.cells.values():
        assert f"{cell.value:.3f}" in text
