"""An evaluation does not import pandas, which pyarrow imports for many conversions where it is installed."""

import subprocess
import sys

import pytest
from tests.planted import rows_of, write

LOADED = """
import sys
from xlingual.cli.main import run
assert run(sys.argv[1:]) == 0
print("loaded:", *sorted({"pandas", "scipy.stats"} & sys.modules.keys()))
"""


def loaded(*arguments):
    """Return which of the two packages a fresh interpreter has after a command."""
    command = [sys.executable, "-c", LOADED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].removeprefix("loaded:").split())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return the data, the texts' vectors and the images' vectors of 60 items in two languages."""
    return write(tmp_path_factory.mktemp("planted"), rows_of(60))


def test_what_is_loaded_is_seen():
    pytest.importorskip("pandas")
    code = f"import pandas, scipy.stats\n{LOADED}"
    done = subprocess.run(
        [sys.executable, "-c", code, "encoders"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded: pandas scipy.stats"


@pytest.mark.parametrize("task", ["bkr", "xlr", "corr"])
def test_an_evaluation_does_not_import_pandas(planted, tmp_path, task):
    pytest.importorskip("pandas")
    data, texts, images = planted
    seen = [] if task == "xlr" else ["--image-encoder", images]
    found = loaded(
        "evaluate", task, data, "--pairs", "en-de", "--text-encoder", texts, *seen, "--out", tmp_path / "out"
    )
    assert "pandas" not in found


def test_a_correlation_does_not_import_scipy_stats(planted, tmp_path):
    data, texts, images = planted
    options = ("--pairs", "en-de", "--text-encoder", texts, "--image-encoder", images)
    assert "scipy.stats" not in loaded("evaluate", "corr", data, *options, "--out", tmp_path / "out")
