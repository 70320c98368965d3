"""BLEU from counts, against sacrebleu and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual import InputError
from xlingual.nbest.bleu import corpus_bleu, list_counts, sentence_bleu
from xlingual.nbest.lists import NBestLists

metrics = pytest.importorskip("sacrebleu.metrics")
sentences = st.lists(st.sampled_from(["a", "b", "C", "c", "Ä", "ß"]), max_size=9).map(" ".join)


def counts(hypotheses, references, **options):
    """Return the counts of the hypotheses of one list for each reference."""
    lists = len(references[0])
    offsets = np.linspace(0, len(hypotheses), lists + 1).astype(int)
    n = len(hypotheses)
    return list_counts(
        NBestLists(hypotheses, np.zeros((n, 1)), np.zeros(n), offsets, (("f", 1),)), references, **options
    )


def test_counts_by_hand():
    found = counts(["the the the cat", "cat sat", ""], [["the cat sat on the mat"], ["a cat sat"]])
    assert found[0].tolist() == [3, 1, 0, 0, 4, 3, 2, 1, 4, 3]  # 3 is as near to 4 as ... 6 is not
    assert found[1].tolist() == [2, 1, 0, 0, 2, 1, 0, 0, 2, 3]
    assert found[2].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 3]
    assert counts(["a a a"], [["a a a a"], ["a a"]])[0, 9] == 2  # the shorter of two equally close


def test_no_match_no_bleu():
    found = counts(["", "x y z w v"], [["a b"]])
    for function in (corpus_bleu, sentence_bleu):
        assert function(found).tolist() == [0.0, 0.0]
    partly = counts(["a b"], [["a b"]])
    assert corpus_bleu(partly, smooth=False)[0] == 0 and sentence_bleu(partly)[0] == pytest.approx(100)


def test_numbers_of_lines_must_agree():
    with pytest.raises(InputError, match=r"file 2 of the references has 2 lines for 1 sentences"):
        counts(["a"], [["a"], ["a", "b"]])


@given(
    st.lists(st.tuples(sentences, sentences, sentences), min_size=1, max_size=6),
    st.booleans(),
    st.integers(1, 2),
)
def test_scores_are_sacrebleus(rows, lowercase, n_references):
    hypotheses = [row[0] for row in rows]
    references = [[row[1 + i] for row in rows] for i in range(n_references)]
    found = counts(hypotheses, references, lowercase=lowercase)
    theirs = metrics.BLEU(lowercase=lowercase, tokenize="none", force=True)
    corpus = theirs.corpus_score(hypotheses, references).score
    assert corpus_bleu(found.sum(axis=0)) == pytest.approx(corpus, rel=1e-9, abs=1e-9)
    single = metrics.BLEU(lowercase=lowercase, tokenize="none", effective_order=True)
    expected = [
        single.sentence_score(row[0], [references[i][n] for i in range(n_references)]).score
        for n, row in enumerate(rows)
    ]
    np.testing.assert_allclose(sentence_bleu(found), expected, rtol=1e-9, atol=1e-9)
