"""`translate:` with a dictionary: words are found and replaced, and the encoder below gets one language."""

import numpy as np
import pytest

from xlingual.encoders import adopt
from xlingual.encoders.translate import TranslatingEncoder
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

DE = "Haus\thouse\nrot\tred\nrot\tcrimson\ndas\tthe\n"


class Recorder:
    """An encoder that keeps what it is given."""

    identity = "recorder"
    content = ("text",)

    def encode(self, batch):
        self.batch = batch
        return np.ones((len(batch), 1), dtype=np.float32)


def batch(*rows, **more):
    text, language = [text for _, text in rows], [tag for tag, _ in rows]
    return Texts(text, language, [str(i) for i in range(len(rows))], **more)


@pytest.fixture
def translating(tmp_path):
    def make(text=DE, base=None, to="en", unknown="keep", name="d.tsv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        languages = [tag for tag in ("de", "fr", "ja") if tag != to]
        return TranslatingEncoder(adopt(base or Recorder()), f"{tmp_path}/{name}", languages, to, unknown)

    return make


@pytest.mark.parametrize(
    ("text", "entries", "expected"),
    [
        ("Das Haus!", "das Haus", "(das) (Haus)"),
        ("Haus haus", "Haus haus", "(Haus) (haus)"),
        ("HAUS Baum ＡＢＣ", "haus abc", "(haus) Baum (abc)"),
        ("don't …!?", "don t", "(don) (t)"),
        ("e\u0301t\u00e9", "été", "(été)"),  # a decomposed letter
        ("红色的椅子", "红 红色 的 椅子", "(红色) (的) (椅子)"),
        ("赤い椅子です", "赤い 椅子 椅", "(赤い) (椅子) です"),
        ("น้ำสะอาด", "น้ำ สะอาด", "(น้ำ) (สะอาด)"),  # a vowel that NFKC would take apart
        ("新iPhone手机", "新 iphone 手机 手 i", "(新) (iphone) (手机)"),
        ("我不知道他", "我 他", "(我) 不知道 (他)"),
    ],
)
def test_words_are_found_in_any_script(translating, text, entries, expected):
    encoder = translating("".join(f"{word}\t({word})\n" for word in entries.split()))
    encoder.encode(batch(("ja", text)))
    assert encoder.base.target.batch.text == [expected]


def test_the_target_language_passes_through_and_unknown_words_are_counted(translating):
    rows = batch(("de", "DAS rot, Xyz Haus!"), ("en", "The House."), ("en-GB", "A rot."))
    for unknown, expected in (("keep", "the red Xyz house"), ("drop", "the red house")):
        encoder = translating(unknown=unknown)
        encoder.encode(rows)
        assert encoder.base.target.batch.text == [expected, "The House.", "A rot."]
        assert encoder.base.target.batch.language == ["en"] * 3
        assert "de 25 %" in encoder.notes()[0] and not encoder.notes()
    assert encoder.encode(batch()).shape == (0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "Haus\thouse\tde\nmaison\thouse\tfr\nHaus\tcottage\tnl\n",
        "\ufeffHaus\thouse\r\nmaison\thouse\r\n\r\n",
        "Haus house\nmaison house\n",
    ],
)
def test_forms_of_a_dictionary(translating, text):
    encoder = translating(text)
    encoder.encode(batch(("de", "Haus"), ("fr", "maison")))
    assert encoder.base.target.batch.text == ["house", "house"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Haus\thouse\nrot\n", "line 2"),
        ("a\tb\tc\td\n", "line 1"),
        ("a\t\n", "line 1"),
        ("one two three\n", "line 1"),
        ("\n", "empty"),
        ("maison\thouse\tfr\n", "no words of the language de.*fr"),
    ],
)
def test_broken_dictionaries(translating, text, message):
    with pytest.raises(InputError, match=message):
        translating(text).encode(batch(("de", "rot")))


def test_contexts_roles_and_what_the_encoder_below_says_hold(translating):
    class Reader(Recorder):
        content = ("text", "context", "role")
        fitted_on = frozenset({b"x"})

        def encode(self, batch):
            return Encoded(super().encode(batch), np.array([False, True]))

    rows = batch(("de", "rot"), ("en", "red"), role="query", context=["das Haus", "it is"], items=["1", "2"])
    encoder = translating(base=Reader())
    assert encoder.encode_noting(rows).truncated.tolist() == [False, True]
    seen = encoder.base.target.batch
    assert (seen.role, seen.items, seen.context) == ("query", ["1", "2"], ["the house", "it is"])
    assert encoder.content == ("text", "language", "context", "role") and encoder.fitted_on == {b"x"}
    encoder = translating()
    encoder.encode(rows)
    assert encoder.base.target.batch.context == () and encoder.content == ("text", "language")


def test_identity_has_all_that_changes_vectors(translating):
    made = translating()
    identities = {made.identity, translating(unknown="drop").identity, translating(to="fr").identity}
    assert len(identities | {translating(DE + "Stuhl\tchair\n").identity}) == 4
    with pytest.raises(InputError, match=r"d\.tsv.*changed"):
        made.encode(batch(("de", "Stuhl")))
