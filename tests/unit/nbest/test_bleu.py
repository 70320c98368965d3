"""BLEU from counts, against sacrebleu and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual import InputError
from xlingual.nbest.bleu import (
    check_references,
    corpus_bleu,
    counts,
    sentence_bleu,
)

sentences = st.lists(st.sampled_from(["a", "b", "C", "c", "Ä", "ß"]), max_size=9).map(" ".join)


def test_counts_by_hand():
    references = [["the cat sat on the mat"], ["a cat sat"]]
    found = counts(["the the the cat", "cat sat", ""], np.zeros(3, int), references)
    assert found[0].tolist() == [3, 1, 0, 0, 4, 3, 2, 1, 4, 3]  # 3 is as near to 4 as ... 6 is not
    assert found[1].tolist() == [2, 1, 0, 0, 2, 1, 0, 0, 2, 3]
    assert found[2].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 3]


def test_the_shorter_of_two_equally_close_lengths():
    found = counts(["a a a"], np.zeros(1, int), [["a a a a"], ["a a"]])
    assert found[0, 9] == 2


def test_no_match_no_bleu():
    found = counts(["", "x y z w v"], np.zeros(2, int), [["a b"]])
    for function in (corpus_bleu, sentence_bleu):
        assert function(found).tolist() == [0.0, 0.0]
    partly = counts(["a b"], np.zeros(1, int), [["a b"]])
    assert corpus_bleu(partly, smooth=False)[0] == 0 and sentence_bleu(partly)[0] == pytest.approx(100)


def test_numbers_of_lines_must_agree():
    with pytest.raises(InputError, match=r"the references have 2 lines for 3 lists: one line for each"):
        check_references(3, [["a", "b"]], "lists")
    with pytest.raises(InputError, match=r"file 2 of the references has 2 lines for 1 lists"):
        check_references(1, [["a"], ["a", "b"]], "lists")
    with pytest.raises(InputError, match="no references"):
        check_references(1, [], "lists")


@given(
    st.lists(st.tuples(sentences, sentences, sentences), min_size=1, max_size=6),
    st.booleans(),
    st.integers(1, 2),
)
def test_all_of_it_is_sacrebleus(rows, lowercase, n_references):
    metrics = pytest.importorskip("sacrebleu.metrics")
    hypotheses = [row[0] for row in rows]
    references = [[row[1 + i] for row in rows] for i in range(n_references)]
    found = counts(hypotheses, np.arange(len(rows)), references, lowercase=lowercase)
    theirs = metrics.BLEU(lowercase=lowercase, tokenize="none", force=True)
    statistics = np.array(theirs._extract_corpus_statistics(hypotheses, references))
    np.testing.assert_array_equal(found, np.roll(statistics, -2, axis=1))
    corpus = theirs.corpus_score(hypotheses, references).score
    assert corpus_bleu(found.sum(axis=0)) == pytest.approx(corpus, rel=1e-9, abs=1e-9)
    single = metrics.BLEU(lowercase=lowercase, tokenize="none", effective_order=True)
    expected = [
        single.sentence_score(row[0], [references[i][n] for i in range(n_references)]).score
        for n, row in enumerate(rows)
    ]
    np.testing.assert_allclose(sentence_bleu(found), expected, rtol=1e-9, atol=1e-9)
