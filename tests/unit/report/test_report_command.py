import json

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


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("study", "xlingual study analyse"),
    ],
)
def test_what_has_no_page_is_named_with_its_use(tmp_path, kind, remedy):
    file = tmp_path / "any.json"
    file.write_text(json.dumps({"schema": f"xlingual/{kind}/1"}), encoding="utf-8")
    for given in (tmp_path, file):
        said = str(run(given, "--out", tmp_path / "page.html").exception)
        assert f"a {kind}" in said and "has no page" in said and remedy in said and "\n" not in said
    assert not (tmp_path / "page.html").exists()


def test_a_file_of_another_name_is_known_by_its_schema(tmp_path):
    made().write(tmp_path / "cmp")
    file = (tmp_path / "cmp" / "comparison.json").rename(tmp_path / "ours.json")
    assert run(file, "--out", tmp_path / "page.html").exit_code == 0
    assert "Comparison of 2 encoders" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_renamed_file_and_a_folder_without_anything_known(tmp_path):
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    assert "results.json is missing" in str(run(tmp_path, "--out", tmp_path / "p.html").exception)
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"schema": "xlingual/results/1"}), encoding="utf-8")
    assert f"rename {file} to results.json" in str(run(tmp_path, "--out", tmp_path / "p.html").exception)
    other = tmp_path / "broken.json"
    assert "is a file: give the folder" in str(run(other, "--out", tmp_path / "p.html").exception)


def test_results_of_another_name_are_read_with_what_lies_beside_them(made, tmp_path):
    made.synthetic(2, ["en", "de"]).write(tmp_path)
    file = (tmp_path / "results.json").rename(tmp_path / "ours.json")
    done = run(file, "--out", tmp_path / "page.html")
    assert done.exit_code == 0, done.exception
    file = file.rename(tmp_path.parent / "alone.json")
    assert "per_query.parquet" in str(run(file, "--out", tmp_path / "page.html").exception)
