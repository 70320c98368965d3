import pytest
from click.testing import CliRunner

from xlingual.cli.report import report
from xlingual.errors import InputError
from xlingual.report import as_html
from xlingual.results.comparison import Board, Compared, Comparison


def made():
    first = Compared("good", 0.5, None, None, None, None, None, "baseline", 1, 1)
    second = Compared("bad", 0.3, -0.2, None, None, None, None, "cannot tell", 1, 2, "too few queries")
    board = Board(
        task="backretrieval",
        measure="R@10",
        source=None,
        target=None,
        column=None,
        label=None,
        baseline="good",
        n_queries=20,
        n_clusters=20,
        n_pairs=1,
        n_seeds=1,
        chance=0.1,
        replicates=199,
        n_tests=1,
        n_rank_tests=1,
        rows=[first, second],
    )
    return Comparison(["ikea"], False, "holm", 0.05, None, 0, {}, [board])


def run(*arguments):
    return CliRunner().invoke(report, [str(argument) for argument in arguments])


@pytest.mark.parametrize("given", ["cmp", "cmp/comparison.json"])
def test_a_comparison_becomes_its_page(tmp_path, given):
    made().write(tmp_path / "cmp")
    out = tmp_path / "page.html"
    done = run(tmp_path / given, "--out", out, "--title", "Ours")
    assert done.exit_code == 0, done.output
    assert out.read_text(encoding="utf-8") == as_html(made(), title="Ours")
    both = run(tmp_path / given, tmp_path, "--out", out)
    assert isinstance(both.exception, InputError) and "holds a comparison" in str(both.exception)
