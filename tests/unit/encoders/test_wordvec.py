import gzip
import math

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.wordfile import WordFile
from xlingual.encoders.wordvec import SIF
from xlingual.errors import InputError
from xlingual.records import Texts

EN = {"red": [1, 0, 0], "chair": [0, 1, 0], "the": [0, 0, 1], "Paris": [1, 1, 0], "paris": [5, 5, 5]}
DE = {"rot": [1, 0, 0], "Stuhl": [0, 1, 0], "der": [0, 0, 1]}
ZH = {"红色": [1, 0, 0], "椅子": [0, 1, 0], "的": [0, 0, 1], "椅": [9, 9, 9]}


def lines(words, end="\n"):
    return "".join(f"{word} {' '.join(map(str, vector))}{end}" for word, vector in words.items())


def write(folder, words, tag, header=True):
    path = folder / f"vec.{tag}.vec"
    dim = len(next(iter(words.values())))
    path.write_text((f"{len(words)} {dim}\n" if header else "") + lines(words), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    for words, tag in ((EN, "en"), (DE, "de"), (ZH, "zh")):
        write(tmp_path, words, tag)
    return tmp_path


def texts(*rows, language="en"):
    return Texts(list(rows), [language] * len(rows), [str(i) for i in range(len(rows))])


def encoder(folder, options="?weight=mean", languages=("en", "de", "zh"), **more):
    spec = f"wordvec:{folder}/vec.{{lang}}.vec{options}"
    return text_encoders([spec], languages=languages, **more)["wordvec"]


def test_the_mean_of_the_words_of_each_language(folder):
    batch = Texts(["The chair", "Stuhl, rot!", "红色的椅子", "Paris"], ["en", "de", "zh", "en"], list("abcd"))
    vectors = encoder(folder).encode(batch)
    third = 1 / 3
    expected = [[0, 0.5, 0.5], [0.5, 0.5, 0], [third, third, third], [1, 1, 0]]
    np.testing.assert_allclose(vectors, expected, atol=1e-7)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", " \r\n"])
@pytest.mark.parametrize("header", [True, False])
def test_forms_of_a_file(tmp_path, end, header):
    path = tmp_path / "glove.txt"
    text = (f"5 3{end}" if header else "") + lines(EN, end)
    path.write_bytes(text.removesuffix("\n").encode())
    file = WordFile(path)
    assert file.dim == 3
    assert file.known({"red", "paris", "blue", ""}) == {"red", "paris"}
    np.testing.assert_array_equal(file.vectors(["paris", "red"]), [EN["paris"], EN["red"]])


def test_packed_and_tabbed_files(tmp_path):
    packed, tabbed = tmp_path / "v.vec.gz", tmp_path / "v.txt"
    packed.write_bytes(gzip.compress(lines(EN).encode()))
    tabbed.write_text(lines(EN).replace(" ", "\t"))
    for path in (packed, tabbed):
        np.testing.assert_array_equal(WordFile(path).vectors(["the", "red"]), [EN["the"], EN["red"]])


def test_words_with_blanks_are_passed_over_and_the_first_of_two_counts(tmp_path):
    path = tmp_path / "glove.840B.txt"
    path.write_text("at 1 2 3\n. . . 4 5 6\nat name@domain.com 7 8 9\nat 0 0 0\n\nend 1 1 1\n")
    file = WordFile(path)
    assert file.known(["at", ".", "name@domain.com", "end"]) == {"at", "end"}
    np.testing.assert_array_equal(file.vectors(["end", "at"]), [[1, 1, 1], [1, 2, 3]])


def test_only_the_first_words_are_read(folder):
    some = encoder(folder, "?weight=mean&words=2")
    np.testing.assert_array_equal(some.encode(texts("the red chair"))[0], [0.5, 0.5, 0])
    assert some.notes()[0].endswith("left out: en 33 %")
    assert some.identity != encoder(folder).identity


def test_tfidf_of_the_batch_counts_distinct_texts(folder):
    batch = texts("the red chair", "the chair", "the the", "the the")
    vectors = encoder(folder, "").encode(batch)
    the, chair, red = (math.log(4 / (1 + df)) + 1 for df in (3, 2, 1))
    np.testing.assert_allclose(vectors[0], np.array([red, chair, the]) / (red + chair + the), rtol=1e-6)
    np.testing.assert_allclose(vectors[1], np.array([0, chair, the]) / (chair + the), rtol=1e-6)
    np.testing.assert_array_equal(vectors[2], [0, 0, 1])
    np.testing.assert_array_equal(vectors[2], vectors[3])


def test_sif_of_fitted_texts(folder):
    fit = Texts(["the the the red", "der"], ["en", "de"], ["0", "1"])
    fitted = encoder(folder, "?weight=sif&fit=F", fit_texts=lambda name: fit)
    the, red = SIF / (SIF + 0.75), SIF / (SIF + 0.25)
    np.testing.assert_allclose(
        fitted.encode(texts("red the chair"))[0], np.array([red, 1, the]) / (red + 1 + the), rtol=1e-6
    )
    assert fitted.fitted_on == fit.row_digests()
    assert not fitted.depends_on_batch
    with pytest.raises(InputError, match="no texts of the language zh"):
        fitted.encode(texts("红色", language="zh"))


def test_what_a_vector_depends_on(folder):
    mean, batch = encoder(folder), encoder(folder, "")
    assert mean.content == ("text", "language") and not mean.depends_on_batch
    assert batch.content is None and batch.depends_on_batch
    together = mean.encode(texts("red chair", "the chair", "Paris"))
    for row, text in enumerate(("red chair", "the chair", "Paris")):
        np.testing.assert_array_equal(mean.encode(texts(text))[0], together[row])


def test_unknown_words_are_counted_and_a_text_of_nothing_else_is_zero(folder):
    batch = Texts(["red xyz", "xyz", "", "der"], ["en", "en", "en", "de"], list("abcd"))
    mean = encoder(folder)
    vectors = mean.encode(batch)
    mean.encode(texts("red", "xyz"))  # a second piece of the run
    (note,) = mean.notes()
    assert note.endswith(": words without a vector, which are left out: en 60 %")
    assert mean.notes() == []
    np.testing.assert_array_equal(vectors, [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]])


def test_an_empty_batch_has_the_dimensions_of_the_files(folder):
    assert encoder(folder).encode(texts()).shape == (0, 3)


def test_one_file_for_all_languages(tmp_path):
    path = write(tmp_path, EN, "all")
    (one,) = text_encoders([f"wordvec:{path}?weight=mean"], languages=["en", "de"]).values()
    vectors = one.encode(Texts(["red", "chair"], ["en", "de"], ["0", "1"]))
    np.testing.assert_array_equal(vectors, [[1, 0, 0], [0, 1, 0]])


def test_identity_follows_the_bytes_of_the_files(folder):
    before = encoder(folder).identity
    assert before == encoder(folder).identity
    assert before != encoder(folder, languages=["en"]).identity
    assert len({encoder(folder, f"?weight={w}").identity for w in ("mean", "sif", "tfidf")}) == 3
    write(folder, {**DE, "der": [0, 0, 2]}, "de")
    assert encoder(folder).identity != before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"3 3\nred 1 2 3\nchair 1 2\nthe 1 2 3\n", r"line 3 has 2 numbers where 3 are expected"),
        (b"red 1 2 3\nchair 1 2 3 4\n", r"line 2 has 4 numbers where 3 are expected"),
        (b"red 1 nan 3\n", r"line 1 \('red'\) holds NaN"),
        (b"red 1 two 3\n", r"line 1 \('red'\) holds NaN, infinity or something that is no number"),
        (b"", "has no word vectors"),
        (b"3 3\n", "has no word vectors"),
        (b"\x00\x01\x02\n", "is no text"),
    ],
)
def test_broken_files(tmp_path, content, message):
    (tmp_path / "vec.en.vec").write_bytes(content)
    with pytest.raises(InputError, match=message):
        encoder(tmp_path, languages=["en"]).encode(texts("red chair the"))


def test_a_broken_line_that_is_not_needed_does_no_harm(tmp_path):
    (tmp_path / "vec.en.vec").write_text("red 1 nan 3\nchair 1 2 3\n")
    vectors = encoder(tmp_path, languages=["en"]).encode(texts("chair"))
    np.testing.assert_array_equal(vectors, [[1, 2, 3]])


def test_blocks_give_the_same_vectors(folder, monkeypatch):
    batch = texts("the red chair", "chair", "Paris the", "red")
    whole = encoder(folder, "").encode(batch)
    monkeypatch.setattr("xlingual.encoders.wordvec._BLOCK", 1)
    np.testing.assert_array_equal(encoder(folder, "").encode(batch), whole)


@pytest.mark.parametrize("loaded", [False, True])
def test_files_that_change_after_the_identity(folder, loaded):
    made = encoder(folder)
    assert made.identity
    if loaded:  # numbers are read from the file whenever they are needed
        made.encode(texts("red"))
    write(folder, EN | {"red": [2, 0, 0]}, "en")
    with pytest.raises(InputError, match=r"vec\.en\.vec: the file of word vectors changed while it was read"):
        made.encode(texts("the red chair"))
