"""Sparse and token vectors on back ends that are made for dense ones: the processor ranks, exactly."""

import numpy as np
import pytest
from tests import scored

from xlingual.ranking import Counts, reference, rows_of, similarity_of
from xlingual.ranking.resume import Kept

MAKERS = {"dot": scored.sparse, "maxsim": scored.tokens}


def counted(ranker, form):
    rng = np.random.default_rng(8)
    queries, candidates = (MAKERS[form]("integers", rng, size, 6, form) for size in (12, 20))
    similarity, match = similarity_of(rows_of(queries), rows_of(candidates)), np.arange(12)
    counts = Counts.of(similarity, match, match)
    ranker.scan(similarity, [counts])
    wanted = reference.counts(scored.naive_keys(queries, candidates), match, match)
    assert counts.above.tolist() == wanted[0].tolist()
    assert counts.tied.tolist() == wanted[1].tolist()


@pytest.mark.parametrize("form", MAKERS)
def test_a_ranker_that_keeps_parts_hands_them_on(form, tmp_path):
    from xlingual.ranking import Cpu

    counted(Kept(Cpu(), tmp_path, least=1), form)
    assert not list(tmp_path.iterdir())
