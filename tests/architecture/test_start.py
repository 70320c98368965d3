"""An evaluation imports nothing that it does not need and that takes long to import.

pyarrow imports pandas for many conversions where that is installed. scipy.stats and scipy.linalg are large;
the latter comes with scipy.sparse.csgraph, too, which is needed where texts or images are near-equal.
"""

import json
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
from tests.planted import rows_of, write

HEAVY = ("pandas", "scipy.linalg", "scipy.stats")
OTHERS = (
    "xlingual.data.pools",
    "xlingual.cluster",
    "xlingual.ranking.ray",
    "xlingual.report",
)
LOADED = f"""
import sys
from xlingual.cli.main import run
assert run(sys.argv[1:]) == 0
print("loaded:", *[name for name in {(*HEAVY, *OTHERS)} if name in sys.modules])
"""


def loaded(*arguments, before=""):
    """Return which of the packages above a fresh interpreter has after a command."""
    command = [sys.executable, "-c", before + LOADED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].removeprefix("loaded:").split()


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return the data, the texts' vectors and the images' vectors of 60 items in two languages."""
    return write(tmp_path_factory.mktemp("planted"), rows_of(60), things=60)


def test_what_is_loaded_is_seen():
    pytest.importorskip("pandas")
    needed = f"import pandas, scipy.stats, {', '.join(OTHERS)}"
    assert loaded("encoders", before=needed) == [*HEAVY, *OTHERS]


@pytest.mark.parametrize("task", ["bkr", "xlr", "corr"])
def test_items_unlike_each_other_are_evaluated_without_them(planted, tmp_path, task):
    data, texts, images = planted
    seen = [] if task == "xlr" else ["--image-encoder", images]
    given = ("--pairs", "en-de", "--text-encoder", texts, *seen, "--out", tmp_path / "out")
    assert loaded("evaluate", task, data, *given, "--quiet") == []


def test_of_images_with_several_sentences_only_clusters_need_one(planted, tmp_path):
    data, texts, images = planted
    given = ("--text-encoder", texts, "--image-encoder", images, "--out", tmp_path / "out")
    assert {*HEAVY}.intersection(loaded("evaluate", "image-sentence", data, *given)) <= {"scipy.linalg"}


def test_of_scored_pairs_only_clusters_need_one(tmp_path):
    rows = [{"sentence1": f"{i % 9} a", "sentence2": f"{i} b", "score": i % 6} for i in range(60)]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    given = ("--lang", "en", "--text-encoder", "random", "--out", tmp_path / "out")
    found = loaded("evaluate", "sts", tmp_path / "pairs.jsonl", *given)
    assert {*HEAVY}.intersection(found) <= {"scipy.linalg"}


def test_of_pools_only_models_of_languages_need_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    squads = run_path(str(Path(__file__).parents[1] / "e2e" / "squads.py"))
    squads["write_squad"](n=24, languages=("de", "en"))
    given = ("--picture", "de,en", "--text-encoder", "random", "--out", "out")
    assert {*HEAVY}.intersection(loaded("evaluate", "lareqa", "squad", *given)) <= {"scipy.linalg"}
