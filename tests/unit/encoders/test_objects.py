"""Users' functions and objects as encoders: in memory, and by `python:`."""

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import backretrieval, encoder
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import Encoder, image_encoder, text_encoders
from xlingual.errors import InputError
from xlingual.records import Encoded, Images, Numbering, Texts

WORDS = ["a", "bb", "ccc", "a"]
LINES = (Numbering("items", np.array([0, 0, 1, 1]), {"en": 2, "de": 2, None: 4}),)
BATCH = Texts(WORDS, ["en", "de", "en", "de"], ["1", "2", "3", "4"], numberings=LINES)
LENGTHS = [[1.0], [2.0], [3.0], [1.0]]
MODULE = """
import json

SIZES = []

def lengths(texts):
    assert type(texts) is list
    return [[len(text), text.count("a")] for text in texts]

def sizes(images):
    SIZES.append(len(images))
    return [[len(image)] for image in images]

def of_batch(batch: "Texts | None"):
    return [[len(language)] for language in batch.language]

def optional(texts, scale=2.0, *more, **others):
    return [[scale] for _ in texts]

def fails(texts):
    return json.loads("{")

def leaves(texts):
    raise SystemExit(3)

def long(texts):
    raise ValueError("x\\n" * 999)

class Model:
    identity = "model:3|x"
    fitted_on = frozenset({b"row"})
    def encode(self, batch):
        return [[len(text), len(tag)] for text, tag in zip(batch.text, batch.language)]

class Fails:
    def __init__(self):
        raise RuntimeError("no weights")

number = 3
"""


def by_length(texts):
    return [[float(len(text))] for text in texts]


def broken(texts):
    raise ZeroDivisionError("by nought")


def taken(entry):
    return text_encoders({"mine": entry}, languages=["en", "de"])["mine"]


def in_role(role):
    return Texts(BATCH.text, BATCH.language, BATCH.ids, role=role)


class Library:
    def encode(self, sentences: list[str]):
        assert type(sentences) is list
        return by_length(sentences)


class Ours:
    identity, content, languages, notes = "ours", ("text",), ["en"], "of a conference"

    def encode(self, batch):
        return Encoded(by_length(batch.text), np.array([len(text) > 2 for text in batch.text]))


def test_objects_get_the_batch_or_a_list_by_their_annotation():
    for entry in (Library(), by_length, Ours(), SimpleNamespace(encode=lambda batch: by_length(batch.text))):
        made = taken(entry)
        assert isinstance(made, Encoder) and made.encode(BATCH).tolist() == LENGTHS
        assert made.encode(BATCH.take(np.array([], dtype=int))).shape == (0, 1)
    ours = taken(Ours())
    assert (ours.identity, ours.content, ours.languages) == ("ours", ("text",), ["en"])
    assert ours.encode_noting(BATCH).truncated.tolist() == [False, False, True, False] and ours.notes() == []


def test_arrays_by_language_are_read_by_line():
    tables = {"en": np.array([[1.0, 2], [3, 4]]), "de": np.array([[5.0, 6], [7, 8]])}
    made = taken(tables)
    assert made.encode(BATCH).tolist() == [[1, 2], [5, 6], [3, 4], [7, 8]]
    assert list(text_encoders(tables, languages=["en", "de"])) == [
        "vectors"
    ]  # the languages name no encoders
    assert made.identity == taken({tag: table.copy() for tag, table in tables.items()}).identity
    assert made.identity != taken({**tables, "de": tables["en"]}).identity
    with pytest.raises(InputError, match="array of en has 3 lines, but the data have 2"):
        taken({**tables, "en": np.ones((3, 2))}).encode(BATCH)


def test_tensors_are_taken():
    torch = pytest.importorskip("torch")
    for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.int8):
        for entry in (
            lambda texts, dtype=dtype: torch.tensor(by_length(texts), dtype=dtype),
            lambda texts, dtype=dtype: [torch.tensor(one, dtype=dtype) for one in by_length(texts)],
        ):
            assert taken(entry).encode(BATCH).tolist() == LENGTHS
    tokens = taken(lambda texts: [torch.ones((2, 3), dtype=torch.bfloat16) for _ in texts]).encode(BATCH)
    assert tokens.shape == (4, 3) and tokens.sizes.tolist() == [2] * 4


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (Library, "Library is a class"),
        (7, "found a value of the type int"),
        ({}, "type dict"),
        ({"en": by_length}, "type dict"),
        ({"en": np.array([[1.0, 2]], dtype=object)}, "array of en holds object"),
        (SimpleNamespace(encode=len, identity=7), "non-empty str, found 7"),
        (lambda a, b: a, "must take one thing"),
        (encoder({"en": np.ones((2, 2))}, dim=1), "takes no options"),
        (broken, r"test_objects.py:[0-9]+: ZeroDivisionError: by nought"),
        (lambda texts: [[1.0]], r"shape \(1, 1\) for 4 texts; expected numbers of shape \(4, d\)"),
        (lambda texts: [[1], [2, 3], [1], [1]], "making numbers"),
        (lambda texts: None, "NoneType"),
        (lambda texts: np.array(texts), "<U3"),
        (lambda texts: np.array(by_length(texts), dtype=np.uint8), "uint8"),
        (lambda texts: [np.ones((2, 3), dtype=np.uint8) for _ in texts], "uint8"),
        ({tag: np.ones((2, 4), dtype=np.uint8) for tag in ("en", "de")}, "uint8"),
        (encoder(by_length, dim=9), "dim=9: vectors have 1 dimensions"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_with_the_name(entry, says):
    with pytest.raises(InputError, match=says) as caught:
        encode(taken(entry), BATCH, VectorSource("text encoder 'mine'", ""))
    assert "\n" not in str(caught.value) and ("mine" in str(caught.value) or "array" in str(caught.value))


def test_options_put_prompts_before_texts_and_cut_vectors():
    made = taken(encoder(by_length, query_prompt="query: ", candidate_prompt="p: "))
    assert made.by_role and made.encode(in_role("query"))[:, 0].tolist() == [8, 9, 10, 8]
    assert made.encode(in_role("candidate"))[:, 0].tolist() == [4, 5, 6, 4]
    wide = taken(encoder(encoder(lambda texts: np.ones((len(texts), 8)), dim=3), identity="wide@1"))
    assert wide.encode(BATCH).shape == (4, 3) and wide.content == ("text",) and wide.has_own_identity
    assert wide.identity == "named:wide@1#dim=3"
    for model, options in (("st:LaBSE", {"dim": 3}), (by_length, {"dim": 0})):
        with pytest.raises(InputError):
            encoder(model, **options)
    with pytest.raises(InputError, match="is for texts"):
        image_encoder(encoder(by_length, prompt="q"))


def test_images_come_as_bytes_and_are_kept_by_an_identity(images, tmp_path):
    calls = []

    def sizes(content):
        calls.append(len(content))
        return np.array([[np.cos(sum(one)), np.sin(sum(one)), 1.0] for one in content])

    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "image": one}
        for i, one in enumerate(images)
        for tag in ("en", "de")
    ]
    done = []
    for _ in range(2):  # the second time the vectors come from the store
        named = encoder(sizes, identity="sizes@1", dim=2)
        backretrieval(rows, "chargram", image_encoder=named, pairs="en-de", measures="R@2", store=tmp_path)
        done.append(sum(calls))
    assert done[0] == done[1] > 0


@pytest.fixture
def images():
    import io

    from PIL import Image

    found = []
    for i in range(6):
        Image.new("RGB", (4, 4), (40 * i, 0, 0)).save(out := io.BytesIO(), "PNG")
        found.append(out.getvalue())
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "path").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    for name in ("mine.py", "path/xl_models.py"):
        Path(name).write_text(MODULE, encoding="utf-8")
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("xl_", "xlingual_user_")):
            del sys.modules[name]


def test_python_names_a_function_or_a_class_of_a_file_or_module(folder, images):
    lengths = taken("python:mine.py:lengths")
    assert lengths.encode(BATCH).tolist() == [[1, 1], [2, 0], [3, 0], [1, 1]]
    assert pickle.loads(pickle.dumps(lengths)).encode(BATCH).shape == (4, 2)
    model = taken(f"python:{folder}/mine.py:Model")
    assert model.encode(BATCH).tolist() == [[1, 2], [2, 2], [3, 2], [1, 2]]
    assert model.fitted_on == {b"row"} and model.identity.endswith("&own=model:3%7Cx")
    assert taken("python:xl_models:of_batch").encode(BATCH).tolist() == [[2]] * 4
    assert taken("python:xl_models:optional").encode(BATCH).tolist() == [[2]] * 4
    many = Images((images * 50), ["en"] * 300, [str(i) for i in range(300)])
    name, sizes = image_encoder("python:xl_models:sizes")
    assert name == "sizes" and sizes.encode(many).tolist() == [[len(one)] for one in images] * 50
    assert sys.modules["xl_models"].SIZES == [256, 44]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mine.py:fails", r"at mine.py:21: JSONDecodeError: "),
        ("mine.py:leaves", r"at mine.py:24: SystemExit: 3"),
        ("mine.py:long", r"at mine.py:27: ValueError: x x .{0,300}…$"),
        ("mine.py:Fails", "RuntimeError: no weights"),
        ("mine.py:number", "type int"),
        ("mine.py:length", "Did you mean 'lengths'"),
        ("mine.py", "MODULE:FUNCTION"),
        ("min.py:lengths", "no such file 'min.py'. Did you mean 'mine.py'"),
        ("xl_nothing:f", "no module 'xl_nothing' on the import path"),
        ("xl_syntax:f", r"at path/xl_syntax.py:1: SyntaxError"),
        ("raises.py:f", "at raises.py:2: ModuleNotFoundError: No module named 'xl_nothing_"),
        ("notes.txt/:f", "no such file"),
    ],
)
def test_errors_of_users_code_are_one_line_with_the_place(folder, name, says):
    Path("path/xl_syntax.py").write_text("def f(:\n")
    Path("raises.py").write_text("\nimport xl_nothing_of_that_name\n")
    with pytest.raises(InputError, match=f"^(text encoder 'mine': )?python:.*{says}") as caught:
        taken(f"python:{name}").encode(BATCH)
    assert "\n" not in str(caught.value)
