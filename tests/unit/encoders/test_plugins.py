import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.plugins import Known, plugins
from xlingual.errors import DataWarning, InputError
from xlingual.records import Texts

MODULE = """
import numpy as np
from xlingual.encoders import Option, Scheme
from xlingual.encoders.options import whole_number

GOOD = Scheme(
    "xlgood", ("texts",), "counts letters", "xl_plugin", argument="LETTERS",
    options=(Option("dim", whole_number(1), 2, "how many"),),
)

def made():
    return Scheme("xlmade", ("texts", "images"), "made by a function", "xl_plugin")

def fails():
    raise RuntimeError("no\\nlicence")

def leaves():
    raise SystemExit(1)

def number():
    return 7

other_name = Scheme("another", ("texts",), "has another name", "xl_plugin")
takes_none = Scheme("xltakes", ("sounds",), "takes nothing", "xl_plugin")
extra = Scheme("xlextra", ("texts",), "needs nothing known", "xl_plugin", extra="nonsense")
st = Scheme("st", ("texts",), "takes a name that is taken", "xl_plugin")
no_build = Scheme("xlnobuild", ("texts",), "has no build", "xl_plugin_empty")
no_encoder = Scheme("xlnoencoder", ("texts",), "builds nothing", "xl_plugin_nothing")
raises = Scheme("xlraises", ("texts",), "raises", "xl_plugin_raises")
below = Scheme("xlbelow", ("texts",), "doubles", "xl_plugin_below", over="must")

class Encoder:
    def __init__(self, identity, dim):
        self.identity, self.dim = identity, dim
    def encode(self, batch):
        return np.ones((len(batch), self.dim), np.float32)

def build(argument, options, context):
    return Encoder(f"xlgood:{argument}", options["dim"])
"""
BELOW = """
class Doubled:
    def __init__(self, base):
        self.base, self.identity = base, f"twice {base.identity}"
    def encode(self, batch):
        return 2 * self.base.encode(batch)

def build(argument, options, context):
    return Doubled(context.base)
"""
NAMES = {
    "xlgood": "GOOD",
    "xlmade": "made",
    "xlfails": "fails",
    "xlleaves": "leaves",
    "xlnumber": "number",
    "xlname": "other_name",
    "xltakes": "takes_none",
    "xlextra": "extra",
    "st": "st",
    "xlnobuild": "no_build",
    "xlnoencoder": "no_encoder",
    "xlraises": "raises",
    "xlbelow": "below",
    "xlabsent": "nothing_of_that_name",
    "x": "GOOD",
}


def offer(folder, package, entries, version="1.2"):
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(entries)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put a package with good and bad plug-ins on the import path; give the path."""
    entries = "".join(f"{name} = xl_plugin:{what}\n" for name, what in NAMES.items())
    offer(tmp_path, "xl-package", f"[xlingual.encoders]\n{entries}xlgone = xl_no_such_module:x\n")
    (tmp_path / "xl_plugin.py").write_text(MODULE)
    (tmp_path / "xl_plugin_empty.py").write_text("")
    (tmp_path / "xl_plugin_nothing.py").write_text("def build(*_):\n    return object()\n")
    (tmp_path / "xl_plugin_raises.py").write_text("def build(*_):\n    raise KeyError('model')\n")
    (tmp_path / "xl_plugin_below.py").write_text(BELOW)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("xl_plugin")]:
        del sys.modules[name]


def made(spec):
    return text_encoders([spec], languages=["en"])


def refused(spec):
    with pytest.raises(InputError) as caught:
        made(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_scheme_of_another_package_works_like_any_other(installed):
    found = made("mine=xlgood:abc?dim=3")
    assert list(found) == ["mine"]
    assert found["mine"].identity == "xlgood:abc"
    assert found["mine"].encode(Texts(["a"], ["en"], ["1"])).tolist() == [[1, 1, 1]]
    assert "no option 'dmi'. Did you mean 'dim'?" in refused("xlgood:abc?dmi=3")
    assert "needs an argument: xlgood:LETTERS" in refused("xlgood")


def test_it_may_stand_on_another_encoder(installed):
    found = made("xlbelow::xlgood:abc?dim=3")["xlbelow"]
    assert found.identity == "twice xlgood:abc"
    np.testing.assert_array_equal(found.encode(Texts(["a"], ["en"], ["1"])), [[2, 2, 2]])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("xlfails", "loading it failed: RuntimeError: no licence"),
        ("xlleaves", "loading it failed: SystemExit: 1"),
        ("xlnumber", "its entry point names int, not an xlingual.encoders.Scheme"),
        ("xlname", "its entry point names the scheme 'another': both names must be the same"),
        ("xltakes", "its `takes` is ('sounds',)"),
        ("xlextra", "its `extra` is 'nonsense'"),
        ("xlabsent", "loading it failed: AttributeError"),
        ("xlgone", "loading it failed: ModuleNotFoundError: No module named 'xl_no_such_module'"),
    ],
)
def test_a_broken_one_says_why_and_whose_it_is(installed, name, says):
    message = refused(f"{name}:x")
    assert message.startswith(f"{name}: is a scheme of xl-package 1.2, but ")
    assert says in message
    assert made("random")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("xlnobuild", "failed: AttributeError"),
        ("xlnoencoder", "returned a value of the type object; expected an encoder"),
        ("xlraises", "failed: KeyError: 'model'"),
    ],
)
def test_one_that_builds_no_encoder(installed, name, says):
    message = refused(name)
    assert message.startswith(f"{name}: the plug-in of xl-package 1.2 {says.split()[0]}")
    assert says in message


def test_a_built_in_name_stays_what_it_is(installed):
    problems = {plugin.name: plugin.problem for plugin in plugins() if plugin.problem}
    assert "a built-in scheme has this name" in problems["st"]
    assert "no spec can name it" in problems["x"]
    assert list(Known()).count("st") == 1
    assert "x" not in Known()
    assert {plugin.name for plugin in plugins() if plugin.scheme} == {
        *("xlgood", "xlmade", "xlbelow", "xlnobuild", "xlnoencoder", "xlraises")
    }


def test_two_packages_may_not_offer_one_name(installed):
    offer(installed, "xl-second", "[xlingual.encoders]\nxlgood = xl_plugin:made\n", "3")
    message = refused("xlgood:a")
    assert "xl-package 1.2" in message
    assert "xl-second 3" in message
    assert "uninstall all but one" in message
    assert made("xlbelow::random")


def test_a_mistyped_name_finds_them(installed):
    assert "unknown scheme 'xlgod'. Did you mean 'xlgood'?" in refused("xlgod:x")


def test_a_package_with_a_damaged_list_spoils_no_other(installed):
    offer(installed, "xl-damaged", "no section\n[xlingual.encoders]\nno equals sign\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "xlgood" in made("xlgood:abc")
    messages = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    assert messages
    assert all("xl-damaged cannot be read" in one for one in messages)


def test_packages_are_looked_at_only_for_unknown_words(installed, monkeypatch):
    import importlib.metadata

    def never(**_):
        raise AssertionError("looked")

    monkeypatch.setattr(importlib.metadata, "entry_points", never)
    monkeypatch.setattr(importlib.metadata, "distributions", never)
    np.save(installed / "m.en.npy", np.ones((1, 2)))
    assert made("random")
    assert made(f"{installed}/m.{{lang}}.npy")
    assert made(f"a=vectors:{installed}/m.en.npy")
    monkeypatch.chdir(installed)
    assert made("m.{lang}.npy")
    assert made("./m.en.npy")
    with pytest.raises(AssertionError, match="looked"):
        made("xlgood:abc")


def test_importing_and_help_look_at_no_package():
    code = (
        "import sys\nimport xlingual, xlingual.encoders\n"
        "from xlingual.cli.main import run\nrun(['--help'])\nrun(['encoders', '--help'])\n"
        "from xlingual.encoders import plugins\n"
        "print(plugins.Known.__contains__(plugins.Known(), 'random'))\n"
    )
    script = f"import importlib.metadata as m\nm.entry_points = None\n{code}"
    source = str(Path(__file__).parents[3] / "src")
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("True\n")
