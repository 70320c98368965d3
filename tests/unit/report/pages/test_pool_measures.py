"""The page of a multilingual pool without AP: what is found at a cut, for a search engine and an encoder."""

from io import StringIO
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from xlingual import multilingual_pool
from xlingual.data.runs import SearchRun
from xlingual.report import page_of, verdict
from xlingual.report.render import html, terminal, text

UNIT = Path(__file__).parents[2] / "evaluation" / "multilingual_pool"
made = SimpleNamespace(**run_path(str(UNIT / "drawn.py")))


@pytest.fixture(scope="module")
def results():
    """A run of 30 results that has the questions' own language first, and vectors at random."""
    rng = np.random.default_rng(2)
    n, m = 60, 150
    pool, *vectors = made.drawn(rng, n, m, n_keys=30, levels=900, dim=4, repeats=0.0)
    asked, language = pool.questions.language, pool.candidates.language
    lists = {}
    for q in range(n):
        right = np.array([pool.questions.key[q] in keys for keys in pool.candidates.keys])
        score = 4.0 * (language == asked[q]) + 2.0 * right + rng.random(m)
        best = np.argsort(-score)[:30]
        name = f"{pool.languages[asked[q]]}:{pool.questions.ids[q]}"
        lists[name] = {f"{pool.languages[language[c]]}:{pool.candidates.ids[c]}": score[c] for c in best}
    systems = {"engine": SearchRun.of(lists), "vectors": made.Given(*vectors)}
    with pytest.warns(match="too early for shares, monolingual pool"):
        return multilingual_pool(pool, systems, measures=["nDCG@10", "R@5"], store=None)


def test_the_verdict_says_whose_answers_are_among_the_first(results):
    sentences = verdict(results)
    (sentence,) = [one for one in sentences if "prefers the question's own language" in str(one)]
    own, other = (results.entries[0].views.found_summary[name] for name in ("own", "other"))
    assert f"among the first 10 candidates are {own:.3f} of a question's answers" in str(sentence)
    assert f"and {other:.3f} of those in others (gap " in str(sentence)


def test_the_page_shows_what_is_found_by_language(results):
    page = html.render(page_of(results))
    for shown in (
        "Found among the first 10",
        "share of the answers among the first 10",
        "nDCG@10 with candidates of the question",
        "nDCG@k",
        "The worst questions",
    ):
        assert shown in page, shown
    assert "mAP" not in page
    assert "None" not in text.as_text(page_of(results), "markdown")


def test_a_terminal_shows_own_and_other_answers(results):
    screen = Console(file=StringIO(), width=100, highlight=False)
    for section in page_of(results).sections:
        terminal.show_section(screen, section)
    shown = screen.file.getvalue()
    own, other = (results.entries[0].views.found_summary[name] for name in ("own", "other"))
    (line,) = [line for line in shown.splitlines() if "engine" in line][:1]
    assert f"{own:.3f}  {other:.3f}" in line
    assert "share of the answers among the first 5" in shown.replace("\n ", " ")
