"""`wordvec:`: files of word vectors in all their forms, and means by the formulas of their weights."""

import gzip
import math

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.records import Texts

EN = {"red": [1, 0, 0], "chair": [0, 1, 0], "the": [0, 0, 1], "Paris": [1, 1, 0], "paris": [5, 5, 5]}
DE = {"rot": [1, 0, 0], "Stuhl": [0, 1, 0], "der": [0, 0, 1]}
ZH = {"红色": [1, 0, 0], "椅子": [0, 1, 0], "的": [0, 0, 1], "椅": [9, 9, 9]}


def lines(words, end="\n"):
    return "".join(f"{word} {' '.join(map(str, vector))}{end}" for word, vector in words.items())


@pytest.fixture
def folder(tmp_path):
    for words, tag in ((EN, "en"), (DE, "de"), (ZH, "zh")):
        (tmp_path / f"vec.{tag}.vec").write_text(f"{len(words)} 3\n{lines(words)}", encoding="utf-8")
    return tmp_path


def texts(*rows, language="en"):
    return Texts(list(rows), [language] * len(rows), [str(i) for i in range(len(rows))])


def encoder(path, options="?weight=mean", languages=("en", "de", "zh"), fit=None):
    path = f"{path}/vec.{{lang}}.vec" if path.is_dir() else path
    return text_encoders([f"x=wordvec:{path}{options}"], languages=languages, fit_texts=lambda name: fit)["x"]


def test_the_mean_of_the_words_of_each_language(folder):
    batch = Texts(
        ["The chair", "Stuhl, rot!", "红色的椅子", "Paris xyz"], ["en", "de", "zh", "en"], list("abcd")
    )
    made = encoder(folder)
    expected = [[0, 0.5, 0.5], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [1, 1, 0]]
    np.testing.assert_allclose(made.encode(batch), expected, atol=1e-7)
    assert made.encode(texts("xyz", "")).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert made.encode(texts()).shape == (0, 3)
    (note,) = made.notes()
    assert "en 40 %" in note and "de" not in note.partition("left out")[2] and not made.notes()


@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", " \r\n"])
@pytest.mark.parametrize("form", ["header", "plain", "packed", "tabs"])
def test_forms_of_a_file(tmp_path, end, form):
    content = ("5 3" + end if form == "header" else "") + lines(EN, end).removesuffix("\n")
    content = content.replace(" ", "\t") if form == "tabs" else content
    path = tmp_path / ("v.vec.gz" if form == "packed" else "v.txt")
    path.write_bytes(gzip.compress(content.encode()) if form == "packed" else content.encode())
    made = encoder(path)
    found = made.encode(Texts(["paris", "RED blue"], ["en", "de"], ["0", "1"]))
    np.testing.assert_array_equal(found, [EN["paris"], EN["red"]])


def test_words_with_blanks_are_passed_over_and_the_first_of_two_counts(tmp_path):
    path = tmp_path / "glove.840B.txt"
    path.write_text("at 1 2 3\n. . . 4 5 6\nat name@domain.com 7 8 9\nat 0 0 0\n\nend 1 1 1\nbad 1 nan 3\n")
    found = encoder(path).encode(texts("at", "name@domain.com", "end"))
    np.testing.assert_array_equal(found, [[1, 2, 3], [0, 0, 0], [1, 1, 1]])
    with pytest.raises(InputError, match="'bad'"):
        encoder(path).encode(texts("bad"))


def test_weights_are_those_of_the_formulas(folder):
    batch = texts("the red chair", "the chair", "the the", "the the")
    vectors = encoder(folder, "").encode(batch)
    the, chair, red = (math.log(4 / (1 + df)) + 1 for df in (3, 2, 1))  # distinct texts
    np.testing.assert_allclose(vectors[0], np.array([red, chair, the]) / (red + chair + the), rtol=1e-6)
    np.testing.assert_array_equal(vectors[2:], [[0, 0, 1], [0, 0, 1]])
    fit = Texts(["the the the red", "der"], ["en", "de"], ["0", "1"])
    fitted = encoder(folder, "?fit=F", fit=fit)
    rare = math.log(2) + 1  # of the one text that is fitted on, the and red are in 1, chair in none
    expected = np.array([[1, rare, 1]]) / (2 + rare)
    np.testing.assert_allclose(fitted.encode(texts("red the chair")), expected, rtol=1e-6)
    assert fitted.fitted_on == fit.row_digests() and not fitted.depends_on_batch
    with pytest.raises(InputError, match="zh"):
        fitted.encode(texts("红色", language="zh"))


def test_identities_tell_files_and_options_apart(folder):
    options = ("?weight=mean", "?weight=tfidf")
    identities = {encoder(folder, option).identity for option in options} | {
        encoder(folder, languages=["en"]).identity
    }
    assert len(identities) == 3
    made = encoder(folder)
    assert made.identity in identities and made.encode(texts("red")).any()
    (folder / "vec.en.vec").write_text(lines(EN | {"red": [2, 0, 0]}))
    assert encoder(folder).identity not in identities
    with pytest.raises(InputError, match=r"vec\.en\.vec.*changed"):
        made.encode(texts("the red chair"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"3 3\nred 1 2 3\nchair 1 2\nthe 1 2 3\n", "'chair'.*2 numbers"),
        (b"red 1 two 3\n", "'red'"),
        (b"", "no word vectors"),
        (b"3 3\n", "no word vectors"),
        (b"\x00\x01\x02\n", "no word vectors"),
    ],
)
def test_broken_files(tmp_path, content, message):
    (tmp_path / "vec.en.vec").write_bytes(content)
    with pytest.raises(InputError, match=message):
        encoder(tmp_path, languages=["en"]).encode(texts("red chair the"))
