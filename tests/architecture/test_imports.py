"""Importing is cheap, contracts hold, and every extra that an error names exists."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from xlingual.encoders import SCHEMES
from xlingual.extras import EXTRAS, packages

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "PIL",
    "filelock",
    "jinja2",
    "nltk",
    "numpy",
    "pandas",
    "platformdirs",
    "pyarrow",
    "rich",
    "sacrebleu",
    "safetensors",
    "scipy",
    "sklearn",
    "threadpoolctl",
    "torch",
}


def modules_after(code):
    """Return the top-level modules that are loaded after some code ran in a fresh interpreter."""
    script = f"{code}\nimport sys; print('|'.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split("|"))


def test_import_loads_no_third_party_package():
    bare = modules_after("pass")
    loaded = modules_after("import xlingual") - bare
    third_party = {name for name in loaded if name not in sys.stdlib_module_names} - {"xlingual"}
    assert third_party == set()


def test_an_evaluation_loads_little():
    loaded = modules_after("from xlingual import backretrieval") - modules_after("pass")
    third_party = {name for name in loaded if name not in sys.stdlib_module_names} - {"xlingual"}
    # msgspec takes typing_extensions where it is installed
    assert third_party - {"typing_extensions"} == {"msgspec", "numpy", "threadpoolctl"}


def test_models_can_be_described_without_torch():
    names = ("folder", "texts", "words", "configs", "card")
    code = "; ".join(f"import xlingual.models.{name}" for name in names)
    encoders = "import xlingual.encoders.trained, xlingual.encoders.trained"
    assert modules_after(f"{code}; {encoders}") & {"torch", "safetensors"} == set()
    assert modules_after(code) & HEAVY <= {"numpy"}


HELP = (
    "--help",
    "--version",
    "evaluate --help",
    "evaluate backretrieval --help",
    "evaluate lareqa --help",
    "evaluate multilingual-pool --help",
    "evaluate sts --help",
    "papers --help",
    "papers backretrieval --help",
    "papers lareqa --help",
    "papers backretrieval validate --help",
    "papers backretrieval table1 --help",
    "compare --help",
    "leaderboard --help",
    "gate --help",
    "plan --help",
    "embed --help",
    "store --help",
    "store clean --help",
    "encoders --help",
    "data mix-pool --help",
    "data squad-to-pool --help",
    "rerank --help",
    "rerank tune --help",
    "rerank score --help",
    "train export --help",
    "study sheets --help",
)


@pytest.fixture(scope="module")
def loaded_by_help():
    """Return the modules that each help loads after those before it: one interpreter shows them all."""
    code = f"""
import contextlib, io, json, sys
from xlingual.cli.main import run
found, before = {{}}, set()
for line in {HELP!r}:
    with contextlib.redirect_stdout(io.StringIO()):
        assert run(line.split()) == 0, line
    now = {{name.split(".")[0] for name in sys.modules}}
    found[line], before = sorted(now - before), now
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("arguments", HELP)
def test_help_loads_nothing_heavy(loaded_by_help, arguments):
    assert set(loaded_by_help[arguments]) & HEAVY == set()


def test_public_names_exist_and_are_documented():
    import xlingual

    assert set(xlingual.__all__) == set(xlingual._HOMES)
    for name in xlingual.__all__:
        assert getattr(xlingual, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        xlingual.nonsense  # noqa: B018


def test_import_contracts_hold():
    script = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(is_debug_mode=False))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_extra_named_in_an_error_exists():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r"xlingual\[(\w+)\]", text))
        for node in ast.walk(ast.parse(text)) if "MissingExtraError(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MissingExtraError":
                named |= {a.value for a in node.args[1:] if isinstance(a, ast.Constant)}
    assert named, "no extra is named anywhere: has the pattern changed?"
    assert named <= extras


def test_the_table_of_extras_is_that_of_the_installation():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    of_all = declared.pop("all")[0].removeprefix("xlingual[").removesuffix("]").split(",")
    assert {
        name: tuple(lines) for name, lines in declared.items() if name not in ("dev", "docs", "interop")
    } == dict(EXTRAS)
    assert set(of_all) == set(EXTRAS)
    for extra in EXTRAS:
        assert all(re.fullmatch(r"[a-z0-9-]+", package) for package in packages(extra)), extra


def test_every_extra_of_a_scheme_exists():
    assert {scheme.extra for scheme in SCHEMES.values() if scheme.extra} <= set(EXTRAS)


def test_files_stay_small():
    long = {
        str(path.relative_to(ROOT)): count
        for path in (ROOT / "src").rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 450
    }
    assert long == {}


def test_no_random_state_is_global():
    """Randomness comes from an explicit Generator, never from numpy's or Python's global state."""
    pattern = re.compile(r"\bnp\.random\.(?!Generator|default_rng|SeedSequence|PCG64)\w+\(|\brandom\.seed\(")
    found = {
        str(path.relative_to(ROOT)): pattern.findall(path.read_text(encoding="utf-8"))
        for path in (ROOT / "src").rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8"))
    }
    assert found == {}
