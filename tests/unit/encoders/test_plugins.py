"""Schemes of other packages, through the entry-point group `xlingual.encoders`."""

import sys

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.records import Texts

MODULE = """
import numpy as np
from xlingual.encoders import Option, Scheme
from xlingual.encoders.scheme import whole_number

class Encoder:
    def __init__(self, identity, dim):
        self.identity, self.dim = identity, dim
    def encode(self, batch):
        return np.ones((len(batch), self.dim), np.float32)

class Doubled:
    def __init__(self, base):
        self.base, self.identity = base, f"twice {base.identity}"
    def encode(self, batch):
        return 2 * self.base.encode(batch)

def build(argument, options, context):
    if argument == "nothing":
        return object()
    if argument == "raises":
        raise KeyError("model")
    return Doubled(context.base) if context.base else Encoder(f"xlgood:{argument}", options["dim"])

DIM = (Option("dim", whole_number(1), 2, "how many"),)
GOOD = Scheme("xlgood", ("texts",), "counts letters", "xl_plugin", argument="LETTERS", options=DIM)
BELOW = Scheme("xlbelow", ("texts",), "doubles", "xl_plugin", over="must")
"""
ENTRIES = """[xlingual.encoders]
xlgood = xl_plugin:GOOD
xlbelow = xl_plugin:BELOW
xlother = xl_plugin:GOOD
xlgone = xl_no_such_module:x
random = xl_plugin:GOOD
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put a package with plug-ins on the import path."""
    info = tmp_path / "xl_package-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xl-package\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "xl_plugin.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("xl_plugin", None)


def test_a_scheme_of_another_package_works_like_any_other(installed):
    found = text_encoders(["mine=xlgood:abc?dim=3", "xlbelow::xlgood:x"], languages=["en"])
    text = Texts(["a"], ["en"], ["1"])
    assert found["mine"].identity == "xlgood:abc" and found["mine"].encode(text).tolist() == [[1, 1, 1]]
    assert found["xlbelow"].identity == "twice xlgood:x"
    np.testing.assert_array_equal(found["xlbelow"].encode(text), [[2, 2]])


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("xlgood:abc?dmi=3", r"no option 'dmi'\. Did you mean 'dim'"),
        ("xlgood", "needs an argument: xlgood:LETTERS"),
        ("xlgod:x", r"unknown scheme 'xlgod'\. Did you mean 'xlgood'"),
        ("xlother:x", "is no xlingual.encoders.Scheme of that name"),
        ("xlgone:x", "loading the plug-in xl_no_such_module:x failed: ModuleNotFoundError"),
        ("xlgood:nothing", "found a value of the type object"),
        ("xlgood:raises", "KeyError: 'model'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(installed, spec, says):
    with pytest.raises(InputError, match=says) as error:
        text_encoders([spec], languages=["en"])
    assert "\n" not in str(error.value)


def test_packages_are_looked_at_only_for_unknown_words(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    np.save(tmp_path / "m.en.npy", np.ones((1, 2)))
    assert text_encoders(["random", f"{tmp_path}/m.{{lang}}.npy"], languages=["en"])
    with pytest.raises(TypeError):
        text_encoders(["xlgood:abc"], languages=["en"])
