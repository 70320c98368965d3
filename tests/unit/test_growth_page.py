"""The page of growth: formulas, tables, and what is measured and what is reckoned."""

import json

import numpy as np
import pytest
from benchmarks import growth_data, growth_page, growth_tasks
from benchmarks.growth_formula import LINEAR, QUADRATIC, Formula, error, fitted

from xlingual.encoders import SCHEMES
from xlingual.encoders.scheme import LISTS
from xlingual.tasks import TASKS


def test_every_task_and_every_encoder_without_an_extra_is_measured():
    assert set(growth_data.TASKS) == set(TASKS)
    built_in = {
        name
        for name, scheme in SCHEMES.items()
        if scheme.extra is None and LISTS not in scheme.takes and name not in growth_data.OWN
    }
    assert set(growth_data.ENCODERS) >= built_in
    assert set(growth_data.ENCODERS) <= set(SCHEMES)


def test_formulas_of_exact_values_are_found_again():
    line = {n: 0.5 + 2e-5 * n for n in (1_000, 10_000, 100_000)}
    assert fitted(line, LINEAR)(1_000_000) == pytest.approx(20.5)
    square = {n: 0.5 + 2e-5 * n + 3e-9 * n * n for n in (1_000, 10_000, 30_000, 100_000)}
    assert fitted(square, QUADRATIC).parts == pytest.approx((0.5, 2e-5, 3e-9))
    assert fitted({1_000: 2.0, 2_000: 1.0}, LINEAR).parts[1] == 0  # no part is negative


def test_the_error_is_that_of_the_largest_size_left_out():
    measured = {1_000: 1.0, 10_000: 10.0, 100_000: 50.0}
    assert error(measured, LINEAR) == pytest.approx(1.0)  # 100 expected, 50 measured
    assert error({1_000: 1.0, 10_000: 10.0}, LINEAR) is None


def content(**measured):
    rows = {
        name: {str(n): {"seconds": s, "memory": m, "date": "2026-01-01"} for n, (s, m) in values.items()}
        for name, values in measured.items()
    }
    return {"measured": rows, "versions": {"xlingual": "0"}}


def test_cells_say_what_was_measured_and_what_is_reckoned():
    of = content(sts={1_000: (1.1, 101), 10_000: (2, 110), 100_000: (11, 200)})
    (block,) = growth_page.places(of)["tasks"]
    cells = ["1.1 s, 100 MiB", "2 s, 110 MiB", "11 s, 200 MiB", "*100 s, 1.1 GiB*"]
    assert block["table"][1:] == [["`sts`", *cells, "1 s + 100 µs·N", "+0 %, +0 %"]]
    (block,) = growth_page.places(of)["encoders"]
    assert len(block["table"]) == 1  # nothing was measured
    assert growth_page.places(of)["versions"] == [{"line": "Measured 2026-01-01 with xlingual 0."}]


def test_numbers_are_short():
    seconds = (0.0123, 0.99999, 3.456, 61.2, 110, 600, 7_100, 7_300, 400_000)
    words = ["0.012 s", "1 s", "3.5 s", "61 s", "110 s", "10 min", "120 min", "2 h", "4.6 d"]
    assert [growth_page.duration(one) for one in seconds] == words
    assert growth_page.formula(Formula((1.0, 2.34e-5, 2e-9))) == "1 s + 23 µs·N + 2 ns·N²"
    assert growth_page.formula(Formula((0.0, 0.0, 4.56e-10))) == "460 ps·N²"
    assert [growth_page.size(mib) for mib in (312.2, 2_100)] == ["310 MiB", "2.1 GiB"]


def kept_in(folder, monkeypatch, seconds):
    """Let `growth_tasks` keep its figures in a folder, and take these seconds for n rows; return its runs."""
    runs = []

    def run(name, where):
        n = int((where / "n").read_text())
        runs.append((name, n))
        return seconds(n), 100.0

    monkeypatch.setattr(growth_tasks, "FILE", folder / "growth.json")
    monkeypatch.setattr(growth_tasks, "run", run)
    monkeypatch.setattr(growth_tasks, "fill", lambda name: [])
    monkeypatch.setattr(growth_tasks.growth_page, "draw", lambda of: None)
    monkeypatch.setattr(growth_data, "make", lambda where, n, kind: (where / "n").write_text(str(n)))
    return runs


def test_what_was_measured_is_kept_and_what_takes_long_is_left_to_the_formula(tmp_path, monkeypatch, capsys):
    runs = kept_in(tmp_path, monkeypatch, lambda n: 1e-2 * n)
    growth_tasks.main(("bm25",), most=1_000)
    growth_tasks.main(("bm25",), until=150)
    assert runs == [("bm25", 1_000), ("bm25", 10_000)]  # each once; 100,000 rows would take 1,000 s
    rows = json.loads((tmp_path / "growth.json").read_text())["measured"]["bm25"]
    assert {n: row["seconds"] for n, row in rows.items()} == {"1000": 10.0, "10000": 100.0}
    assert "bm25 100,000: by the formula, 1000 s" in capsys.readouterr().out
    growth_tasks.main(("bm25",), most=1_000, again=True)
    assert runs[2:] == [("bm25", 1_000)]


def test_a_run_that_was_stopped_leaves_what_it_measured(tmp_path, monkeypatch):
    def stopped(n):
        if n > 1_000:
            raise KeyboardInterrupt
        return 1.0

    runs = kept_in(tmp_path, monkeypatch, stopped)
    with pytest.raises(KeyboardInterrupt):
        growth_tasks.main(("bm25",), most=10_000)
    monkeypatch.setattr(growth_tasks, "run", lambda name, where: (2.0, 100.0))
    growth_tasks.main(("bm25",), most=10_000)
    rows = json.loads((tmp_path / "growth.json").read_text())["measured"]["bm25"]
    assert {n: row["seconds"] for n, row in rows.items()} == {"1000": 1.0, "10000": 2.0}
    assert runs.count(("bm25", 1_000)) == 2  # a short run is measured twice


@pytest.mark.slow  # matplotlib takes seconds to load
def test_the_chart_shows_each_name_and_opens_what_is_reckoned(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    of = content(sts={1_000: (1.1, 101), 10_000: (2, 110)}, bm25={1_000: (0.1, 90), 10_000: (0.2, 99)})
    growth_page.draw(of, tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text("utf-8")
    assert all(f">{word}<" in drawn for word in ("sts", "bm25", "1,000,000", "open: by the formula"))
    assert "fill: #ffffff; stroke: #08203f" in drawn
    growth_page.draw(of, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text("utf-8") == drawn


@pytest.mark.parametrize("name", ["chargram", "translate", "centre"])
def test_encoders_run_on_the_data_that_are_made(tmp_path, monkeypatch, capsys, name):
    for size, few in (("FITTED", 20), ("KNOWN", 100), ("WORDS", 300)):
        monkeypatch.setattr(growth_data, size, few)
    growth_data.make(tmp_path, 12, "manifest")
    monkeypatch.chdir(tmp_path)
    growth_data.encode(name)
    assert float(capsys.readouterr().out) > 0


def test_texts_are_translations_word_by_word():
    english, german = growth_data.texts(2, np.random.default_rng(0))
    number = {growth_data.word(row): row for row in range(growth_data.WORDS)}
    of = growth_data.translation()
    assert [growth_data.word(of[number[one]]) for one in english.split()] == german.split()
