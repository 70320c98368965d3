import copy
import io
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from xlingual.encoders import image_encoder, text_encoders
from xlingual.encoders.python_function import load_function
from xlingual.errors import InputError
from xlingual.records import Encoded, Images, Texts

LENGTHS = """
import numpy as np

def encode(texts):
    assert type(texts) is list
    return [[len(text), text.count("a")] for text in texts]
"""
MODEL = """
import numpy as np
from xlingual.records import Encoded, Texts, Images

class Model:
    identity = "model:3|x"
    fitted_on = frozenset({b"row"})

    def encode(self, batch):
        return np.array([[len(t), len(l)] for t, l in zip(batch.text, batch.language)]).reshape(-1, 2)

    def encode_noting(self, batch):
        return Encoded(self.encode(batch), np.array([len(t) > 3 for t in batch.text]))

class Collection(Model):
    depends_on_batch = True

class Needs:
    def __init__(self, path):
        pass

class Fails:
    def __init__(self):
        raise RuntimeError("no weights")

def of_batch(batch: Texts):
    return [[len(language)] for language in batch.language]

def of_quoted(batch: "Images | None"):
    return [[len(row)] for row in batch.ids]

def of_attribute(batch):
    return [[len(row)] for row in batch.ids]
of_attribute.takes_batch = True

def optional(texts, scale=2.0, *more, **others):
    return [[scale] for _ in texts]

async_like = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    (tmp_path / "path").mkdir()
    before = set(sys.modules)
    write("mine.py", LENGTHS)
    write("path/xl_models.py", MODEL)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("xl_", "xlingual_user_")):
            del sys.modules[name]


def write(name, text):
    Path(name).parent.mkdir(exist_ok=True, parents=True)
    Path(name).write_text(text, encoding="utf-8")


def texts(*words):
    return Texts(list(words), ["en", "deu", "en", "de"][: len(words)], [str(i) for i in range(len(words))])


def made(spec):
    (encoder,) = text_encoders([spec], languages=["en"]).values()
    return encoder


def refused(spec, *words, batch=None):
    with pytest.raises(InputError) as caught:
        made(spec).encode(batch or texts("a", "b"))
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"
    return caught.value


def test_a_function_of_a_file_gets_a_list_of_texts(folder):
    found = made("python:mine.py:encode").encode(texts("banana", "", "a"))
    assert found.dtype == np.float32
    assert found.tolist() == [[6, 3], [0, 0], [1, 1]]
    assert made(f"python:{folder / 'mine.py'}:encode").encode(texts("a")).tolist() == [[1, 1]]


def test_a_class_is_made_and_gets_the_batch(folder):
    encoder = made("python:xl_models:Model")
    assert encoder.encode(texts("abc", "de")).tolist() == [[3, 2], [2, 3]]
    assert encoder.fitted_on == {b"row"}
    noted = encoder.encode_noting(texts("abc", "abcd"))
    assert isinstance(noted, Encoded)
    assert noted.truncated.tolist() == [False, True]
    assert noted.vectors.dtype == np.float32
    plain = made("python:mine.py:encode")
    assert plain.encode_noting(texts("abc")).truncated is None
    assert plain.fitted_on == frozenset()


def test_images_come_as_bytes(folder):
    write(
        "p.py",
        "sizes = []\ndef f(images):\n    sizes.append(len(images))\n    return [[len(b)] for b in images]\n",
    )
    raw = io.BytesIO()
    Image.new("RGB", (3, 2)).save(raw, "PNG")
    Path("a.png").write_bytes(raw.getvalue())
    many = [Path("a.png"), b"12"] * 150
    batch = Images(many, ["en"] * 300, [str(i) for i in range(300)])
    name, encoder = image_encoder("python:p.py:f")
    assert encoder.encode(batch).tolist() == [[len(raw.getvalue())], [2]] * 150
    assert load_function("p.py:sizes") == [256, 44]
    assert name == "f"
    assert encoder.encode(batch.take(np.array([], dtype=np.int64))).shape == (0, 1)
    assert image_encoder("python:xl_models:of_quoted")[1].encode(batch)[:2].tolist() == [[1], [1]]
    with pytest.raises(InputError, match="row 'x' has no image"):
        encoder.encode(Images([None], ["en"], ["x"]))


def test_identity_is_the_source_the_revision_and_what_the_object_says(folder):
    plain = made("python:mine.py:encode").identity
    assert plain.startswith("python:mine.py:encode?source=")
    write("elsewhere/mine.py", LENGTHS)
    assert made("python:elsewhere/mine.py:encode").identity == plain
    write("elsewhere/mine.py", LENGTHS + "# changed\n")
    changed = made("python:elsewhere/mine.py:encode").identity
    revised = made("python:mine.py:encode?revision=a|b").identity
    assert len({plain, changed, revised}) == 3
    assert revised == f"{plain}&revision=a%7Cb"
    assert made("python:xl_models:Model").identity.endswith("&own=model:3%7Cx")
    assert "source=" not in made("python:builtins:len").identity


def test_a_file_imports_its_neighbours_and_the_path_stays_as_it_was(folder):
    write("sub/xl_neighbour.py", "def f(texts):\n    return [[1.0]] * len(texts)\n")
    write("sub/main.py", "from xl_neighbour import f\n")
    before = list(sys.path)
    assert made("python:sub/main.py:f").encode(texts("a")).tolist() == [[1]]
    assert sys.path == before


def test_a_dotted_name_reaches_into_a_class(folder):
    write("s.py", "class A:\n    @staticmethod\n    def f(texts):\n        return [[2.0] for _ in texts]\n")
    assert made("python:s.py:A.f").encode(texts("a")).tolist() == [[2]]


def test_tensors_are_numbers(folder):
    pytest.importorskip("torch")
    write("t.py", "import torch\ndef f(texts):\n    return torch.ones(len(texts), 2, requires_grad=True)\n")
    assert made("python:t.py:f").encode(texts("a")).tolist() == [[1, 1]]


BROKEN = """
import json

def inner(texts):
    return json.loads("{" + texts[0])

def fails(texts):
    return inner(texts)

def silent(texts):
    raise KeyError

def long(texts):
    raise ValueError("x\\n" * 999)

def leaves(texts):
    raise SystemExit(3)
"""


def test_errors_of_the_user_are_one_line_with_the_place(folder):
    write("broken.py", BROKEN)
    error = refused("python:broken.py:fails", "the function failed at broken.py:5: JSONDecodeError: ")
    assert type(error.__cause__).__name__ == "JSONDecodeError"
    refused("python:broken.py:silent", "failed at broken.py:11: KeyError")
    refused("python:broken.py:leaves", "failed at broken.py:17: SystemExit: 3")
    assert len(str(refused("python:broken.py:long", "broken.py:14: ValueError: x x x"))) < 400
    write("outside/../elsewhere/far.py", "def f(texts):\n    1/0\n")
    os.chdir("path")
    far = folder / "elsewhere" / "far.py"
    refused(f"python:{far}:f", f"at {far}:2: ZeroDivisionError: division by zero")


def test_files_that_do_not_run(folder):
    write("syntax.py", "def f(:\n")
    write("raises.py", "\nimport xl_nothing_of_that_name\n")
    write("exits.py", "import sys\nsys.exit('usage: me')\n")
    write("path/xl_broken.py", "x = 1\nraise OSError('no disk')\n")
    write("notes.txt/x", "")
    before = set(sys.modules)
    refused("python:syntax.py:f", "running syntax.py failed at syntax.py:1: SyntaxError: ")
    refused("python:raises.py:f", "at raises.py:2: ModuleNotFoundError: No module named 'xl_nothing_of_that_")
    refused("python:exits.py:f", "at exits.py:2: SystemExit: usage: me")
    refused("python:xl_broken:f", "importing xl_broken failed at path/xl_broken.py:2: OSError: no disk")
    refused("python:./notes.txt:f", "no such file")
    assert not [name for name in set(sys.modules) - before if name.startswith("xlingual_user_")]


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        ("None", "a value of the type NoneType for 2 texts"),
        ("'ab'", "a value of the type str"),
        ("[1.0, 2.0]", "shape (2,) for 2 texts; expected numbers of shape (2, d)"),
        ("[[1.0]]", "shape (1, 1)"),
        ("[[1.0], [1.0, 2.0]]", "making numbers of what it returned failed"),
        ("[['1'], ['2']]", "a value of the type list"),
        ("[[1j], [2j]]", "a value of the type list"),
    ],
)
def test_what_is_returned_is_checked(folder, returns, says):
    write("r.py", f"def f(texts):\n    return {returns}\n")
    refused("python:r.py:f", says)


def test_it_can_be_copied_and_pickled(folder):
    encoder = made("python:mine.py:encode")
    for other in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        assert other.encode(texts("a")).tolist() == [[1, 1]]
