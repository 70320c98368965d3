"""Scores of translations: sacrebleu's own numbers, METEOR by nltk, and what stands beside them."""

from __future__ import annotations

import numpy as np
import pytest

from xlingual.nbest.lists import NBestLists
from xlingual.nbest.score import score

sacrebleu = pytest.importorskip("sacrebleu")
meteor_score = pytest.importorskip("nltk.translate.meteor_score")

REFERENCE = [
    "ein Mann läuft durch den Park .",
    "zwei Hunde spielen im Schnee .",
    "eine Frau liest ein Buch .",
    "die Kinder essen Eis am Strand .",
]
GOOD = [REFERENCE[0], "zwei Hunde spielen im Gras .", REFERENCE[2], "Kinder essen Eis am Strand ."]
BAD = ["Mann läuft den Park .", "Hund spielt Schnee .", "Frau liest Bücher .", "Eis am Strand ."]


def lists():
    texts = [text for pair in zip(BAD, GOOD, strict=True) for text in pair]
    scores = np.tile([1.0, 0.0], 4)
    return NBestLists(texts, np.zeros((8, 1)), scores, np.arange(5) * 2, (("f", 1),))


def test_values_intervals_and_signatures_are_sacrebleus():
    found = score({"good": GOOD}, [REFERENCE])
    (system,) = found.systems
    expected = sacrebleu.corpus_bleu(GOOD, [REFERENCE], tokenize="none")
    assert system.scores["BLEU"].value == expected.score
    assert system.scores["chrF2"].value == sacrebleu.corpus_chrf(GOOD, [REFERENCE]).score
    ter = sacrebleu.metrics.TER(case_sensitive=True)
    assert system.scores["TER"].value == ter.corpus_score(GOOD, [REFERENCE]).score
    assert found.signatures["BLEU"].startswith("nrefs:1|bs:1000|seed:")
    ci = system.scores["BLEU"].ci
    assert ci.low < ci.high and ci.level == 0.95
    assert system.scores["BLEU"].p is None


def test_paired_tests_are_sacrebleus():
    found = score({"good": GOOD, "same": BAD}, [REFERENCE], baseline=("bad", BAD), samples=200)
    base, good, same = found.systems
    assert [one.kind for one in found.systems] == ["baseline", "system", "system"]
    assert base.scores["BLEU"].p is None and same.scores["BLEU"].p == 1
    assert 0 < good.scores["chrF2"].p < 0.3
    assert "bs:200" in found.signatures["TER"]
    direct = sacrebleu.significance.PairedTest(
        [("b", BAD), ("g", GOOD)],
        {"BLEU": sacrebleu.metrics.BLEU(tokenize="none", force=True)},
        [REFERENCE],
        "bs",
        200,
    )
    assert good.scores["BLEU"].p == direct()[1]["BLEU"][1].p_value
    assert found.mean["BLEU"].mean == pytest.approx(
        (good.scores["BLEU"].value + same.scores["BLEU"].value) / 2
    )


def test_meteor_is_nltks_with_a_stemmer_and_no_synonyms():
    from nltk.stem.snowball import SnowballStemmer

    found = score({"bad": BAD}, [REFERENCE, GOOD], language="de")
    (system,) = found.systems
    value = system.scores["METEOR (exact + stem)"].value
    none = type("None", (), {"synsets": lambda self, word: []})()
    expected = [
        meteor_score.meteor_score(
            [one.split(), two.split()], text.split(), stemmer=SnowballStemmer("german"), wordnet=none
        )
        for text, one, two in zip(BAD, REFERENCE, GOOD, strict=True)
    ]
    assert value == pytest.approx(100 * np.mean(expected))
    exact = score({"x": ["Hunde"] * 4}, [["Hundes"] * 4], language="de-AT").systems[0].scores
    assert exact["METEOR (exact + stem)"].value > 0 == exact["BLEU"].value


def test_bounds_stand_beside_the_systems():
    found = score({"good": GOOD}, [REFERENCE], baseline=("bad", BAD), lists=lists(), samples=50)
    by_name = {one.name: one for one in found.systems}
    assert list(by_name) == [
        "bad",
        "good",
        "decoder's choice",
        "oracle",
        "anti-oracle",
        "random choice (mean of 3)",
    ]
    for name in ("BLEU", "chrF2", "TER"):
        assert by_name["oracle"].scores[name].value == by_name["good"].scores[name].value
        assert by_name["decoder's choice"].scores[name].value == by_name["bad"].scores[name].value
        assert by_name["anti-oracle"].scores[name].value == by_name["bad"].scores[name].value
    drawn = by_name["random choice (mean of 3)"].scores["BLEU"]
    assert by_name["bad"].scores["BLEU"].value < drawn.value < by_name["good"].scores["BLEU"].value
    assert drawn.ci is drawn.p is by_name["oracle"].scores["BLEU"].p is None
