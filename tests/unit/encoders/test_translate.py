import numpy as np
import pytest

from xlingual.encoders import adopt, text_encoders
from xlingual.encoders.translation_model import code_of
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

DE = "Haus\thouse\nrot\tred\nrot\tcrimson\ndas\tthe\n"


class Recorder:
    """An encoder that keeps what it is given and says how long the texts are."""

    identity = "recorder"
    content = ("text",)

    def encode(self, batch):
        self.batch = batch
        return np.array([[len(text)] for text in batch.text], dtype=np.float32).reshape(-1, 1)


def batch(*rows, **more):
    text, language = [text for _, text in rows], [tag for tag, _ in rows]
    return Texts(text, language, [str(i) for i in range(len(rows))], **more)


@pytest.fixture
def translating(tmp_path):
    """Return a function that makes a translating encoder over a base, from the text of a dictionary."""
    from xlingual.encoders.scheme import Context
    from xlingual.encoders.schemes import SCHEMES
    from xlingual.encoders.spec import parse, read_options
    from xlingual.encoders.translate import build

    def make(text=DE, base=None, options="", languages=("en", "de"), name="d.tsv"):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        spec = parse(f"translate:{tmp_path}/{name}{options}::random:")
        values = read_options(spec, SCHEMES["translate"])
        return build(spec.argument, values, Context(languages, base=adopt(base or Recorder())))

    return make


def test_words_are_replaced_and_the_target_language_passes_through(translating):
    encoder = translating()
    rows = batch(("de", "DAS rot, Haus!"), ("en", "The House."), ("en-GB", "A rot."))
    vectors = encoder.encode(rows)
    assert encoder.base.target.batch.text == ["the red house", "The House.", "A rot."]
    assert encoder.base.target.batch.language == ["en"] * 3
    assert vectors.tolist() == [[len(text)] for text in encoder.base.target.batch.text]


@pytest.mark.parametrize(
    ("options", "expected"), [("", "the red Xyz house"), ("?unknown=drop", "the red house")]
)
def test_unknown_words_are_kept_or_dropped_and_counted(translating, options, expected):
    encoder = translating(options=options)
    encoder.encode(batch(("de", "das ROT Xyz Haus")))
    (note,) = encoder.notes()
    assert note.endswith("words that the dictionary does not have: de 25 %")
    assert encoder.base.target.batch.text == [expected]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Haus\thouse\tde\nmaison\thouse\tfr\nHaus\tcottage\tnl\n", "d.tsv"),
        ("﻿Haus\thouse\r\nmaison\thouse\r\n\r\n", "bom.tsv"),
        ("Haus house\nmaison house\n", "muse.txt"),
    ],
)
def test_forms_of_a_dictionary(translating, text, name):
    encoder = translating(text, name=name, languages=("en", "de", "fr"))
    encoder.encode(batch(("de", "Haus"), ("fr", "maison")))
    assert encoder.base.target.batch.text == ["house", "house"]


def test_roles_items_and_contexts_are_passed_on(translating):
    class Reader(Recorder):
        content = ("text", "context", "role")

    rows = batch(("de", "rot"), ("en", "red"), role="query", context=["das Haus", "it is"], items=["1", "2"])
    encoder = translating(base=Reader())
    encoder.encode(rows)
    seen = encoder.base.target.batch
    assert (seen.role, seen.items, seen.context) == ("query", ["1", "2"], ["the house", "it is"])
    assert encoder.content == ("text", "language", "context", "role")
    encoder = translating()
    encoder.encode(rows)
    assert encoder.base.target.batch.context == ()
    assert encoder.content == ("text", "language")


def test_what_the_encoder_below_says_holds(translating):
    class Fitted(Recorder):
        fitted_on = frozenset({b"x"})
        depends_on_batch = True
        content = None

        def encode(self, batch):
            return Encoded(super().encode(batch), np.array([False, True]))

    encoder = translating(base=Fitted())
    assert encoder.fitted_on == {b"x"} and encoder.depends_on_batch and encoder.content is None
    rows = batch(("de", "rot"), ("en", "a"))
    assert encoder.encode_noting(rows).truncated.tolist() == [False, True]
    plain = translating()
    assert not plain.depends_on_batch and plain.fitted_on == frozenset()
    assert plain.encode_noting(rows).truncated.tolist() == [False, False]


def test_identity_has_all_that_changes_vectors(translating):
    identities = [
        translating().identity,
        translating(options="?unknown=drop").identity,
        translating(options="?to=fr").identity,
        translating(DE + "Stuhl\tchair\n").identity,
    ]
    assert len(set(identities)) == 4
    assert identities[0].endswith("::recorder")


def test_an_empty_batch(translating):
    assert translating().encode(batch()).shape == (0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Haus\thouse\nrot\n", "line 2 is 'rot'"),
        ("Haus\n", "line 1 is 'Haus'"),
        ("a\tb\tc\td\n", "line 1"),
        ("a\t\n", "line 1"),
        ("one two three\n", "line 1"),
        ("\n", "is empty"),
        ("maison\thouse\tfr\n", "has no words of the language de; its third column has fr"),
    ],
)
def test_broken_dictionaries(translating, text, message):
    with pytest.raises(InputError, match=message):
        translating(text).encode(batch(("de", "rot")))


def test_a_spec_end_to_end(tmp_path):
    (tmp_path / "d.tsv").write_text(DE)
    (tmp_path / "glove.en.txt").write_text("the 0 0 1\nred 1 0 0\nhouse 0 1 0\n")
    spec = f"glove=translate:{tmp_path}/d.tsv?to=en::wordvec:{tmp_path}/glove.{{lang}}.txt?weight=sif"
    encoder = text_encoders([spec], languages=["de", "en"])["glove"]
    vectors = encoder.encode(batch(("de", "das rot Haus"), ("en", "the red house"), ("de", "Haus")))
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[2], [0, 1, 0])
    assert encoder.depends_on_batch
    mean = text_encoders([spec.replace("sif", "mean")], languages=["de", "en"])["glove"]
    assert mean.content == ("text", "language")


def test_weights_of_the_encoder_below_are_counted_in_its_language(tmp_path):
    (tmp_path / "d.tsv").write_text(DE)
    (tmp_path / "glove.txt").write_text("the 0 0 1\nred 1 0 0\nhouse 0 1 0\n")
    fit = batch(("en", "the red"), ("de", "das Haus"))
    spec = f"translate:{tmp_path}/d.tsv::wordvec:{tmp_path}/glove.txt?weight=tfidf&fit=F"
    (encoder,) = text_encoders([spec], languages=["de", "en"], fit_texts=lambda name: fit).values()
    assert encoder.fitted_on == fit.take(np.array([0])).row_digests()
    alone = encoder.encode(batch(("de", "rot Haus")))
    together = encoder.encode(batch(("de", "das"), ("de", "rot Haus"), ("en", "red red red")))
    np.testing.assert_array_equal(alone[0], together[1])


@pytest.mark.parametrize(
    ("tag", "codes", "expected"),
    [
        ("de", ["en", "de"], "de"),
        ("de", ["deu_Latn", "eng_Latn"], "deu_Latn"),
        ("deu_Latn", ["deu_Latn"], "deu_Latn"),
        ("ar", ["arb_Arab", "ary_Arab"], "arb_Arab"),
        ("zh", ["zho_Hans", "zho_Hant"], "zho_Hans"),
        ("zh-Hant", ["zho_Hans", "zho_Hant"], "zho_Hant"),
        ("pt-BR", ["pt_XX"], "pt_XX"),
        ("fr", [">>fra<<", ">>deu<<"], ">>fra<<"),
        ("xx", ["de", "en"], None),
    ],
)
def test_codes_of_languages(tag, codes, expected):
    assert code_of(tag, codes) == expected


def test_a_dictionary_that_changes_after_the_identity(translating, tmp_path):
    made = translating()
    assert made.identity
    (tmp_path / "d.tsv").write_text(DE + "neu\tnew\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"d\.tsv: the dictionary changed while it was read: start again$"):
        made.encode(Texts(["neu"], ["de"], ["0"]))
