"""Corrections of hubs by a bank equal their definitions written out, by every ranker and for any vectors."""

import math

import numpy as np
import pytest
from tests.conformance.test_rankers import RANKERS, SLOW
from tests.rankings import KINDS, Questions, setting

from xlingual.errors import InputError
from xlingual.ranking import (
    CPU,
    Bank,
    Banked,
    Corrected,
    Csls,
    InvertedSoftmax,
    hubs,
    reference,
    rows_of,
    similarity_of,
)


def plain_csls(bank, k):
    nearest = np.sort(bank, axis=0)[::-1][:k]
    return 2, np.rint(nearest.sum(axis=0) / len(nearest)).astype(np.int64)


def plain_softmax(bank, beta):
    """Give (1/β)·log mean exp(β·cos) of each column, summed without an error."""
    most = bank.max(axis=0)
    means = [math.fsum(column) / len(column) for column in np.exp(beta * 1e-9 * (bank - most)).T]
    return 1, np.rint(most + np.log(means) / (beta * 1e-9)).astype(np.int64)


CORRECTIONS = {
    "csls": (Csls(4), plain_csls, 4),
    "csls, nearest": (Csls(1), plain_csls, 1),
    "csls of all": (Csls(50), plain_csls, 50),
    "inverted-softmax": (InvertedSoftmax(9.0), plain_softmax, 9.0),
    "sharp softmax": (InvertedSoftmax(10_000.0), plain_softmax, 10_000.0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CORRECTIONS)
@pytest.mark.parametrize("ranker", SLOW)
@pytest.mark.cases(40)
def test_offsets_and_answers_are_those_of_the_definitions(ranker, name, kind, monkeypatch):
    monkeypatch.setattr(hubs, "_BUDGET", 2000)
    monkeypatch.setattr(hubs, "_QUERIES", 5)
    rng, (correction, plain, parameter) = np.random.default_rng(len(kind)), CORRECTIONS[name]
    queries, candidates, bank = (KINDS[kind](rng, size, 6).astype(np.float32) for size in (17, 29, 23))
    bank = np.concatenate([bank, bank[:7]])
    similarity = similarity_of(rows_of(queries), rows_of(candidates))
    steps = []
    with setting(**({} if ranker == "ray" else {"BLOCK": 7, "tile_bytes": 900})):
        banked, made = Banked(correction, Bank.of(bank), "of me"), RANKERS[ranker]()
        offsets = banked.offsets(similarity, made, lambda *step: steps.append(step))
        scale, expected = plain(reference.cosine(bank, candidates), parameter)
        assert (offsets.scale, steps[-1][0]) == (scale, steps[-1][1])
        np.testing.assert_allclose(offsets.candidates, expected, rtol=0, atol=scale == 1)
        keys = scale * reference.cosine(queries, candidates) - offsets.candidates
        Questions(keys, rng).check(Corrected(similarity, offsets), made)


def test_a_bank_is_a_bag_of_queries():
    rng = np.random.default_rng(0)
    candidates, bank = (rng.standard_normal((size, 5)).astype(np.float32) for size in (20, 33))
    similarity = similarity_of(rows_of(bank), rows_of(candidates))
    for correction, other in ((Csls(6), Csls(3)), (InvertedSoftmax(9.0), InvertedSoftmax(9.0))):
        twice = np.concatenate([bank, bank])[rng.permutation(66)]
        once = Banked(other, Bank.of(bank), "").offsets(similarity, CPU)
        again = Banked(correction, Bank.of(twice * 1), "").offsets(similarity, CPU)
        np.testing.assert_array_equal(once.candidates, again.candidates)
        assert len(Bank.of(twice)) == 2 * len(Bank.of(bank))


def test_one_more_dimension_orders_as_the_correction():
    rng = np.random.default_rng(1)
    candidates, bank = (rng.standard_normal((size, 4)) for size in (12, 15))
    candidates[3] = candidates[5] * 2
    for correction, plain, parameter in CORRECTIONS.values():
        column = Banked(correction, Bank.of(bank), "").column(candidates, CPU)
        scale, offsets = plain(reference.cosine(bank, candidates), parameter)
        np.testing.assert_allclose(column, -offsets * 1e-9 / scale, rtol=0, atol=2e-9)


def test_another_encoders_bank_is_refused():
    similarity = similarity_of(*[rows_of(np.ones((2, 3), np.float32))] * 2)
    with pytest.raises(InputError, match=r"mine: the bank has 4 dimensions and the candidates have 3"):
        Banked(Csls(2), Bank.of(np.ones((2, 4), np.float32)), "mine").offsets(similarity, CPU)


def test_parameters_out_of_range_are_refused():
    for make in (lambda: Csls(0), lambda: InvertedSoftmax(0.0009), lambda: InvertedSoftmax(10_001)):
        with pytest.raises(ValueError):
            make()
    assert [Csls(1).name, InvertedSoftmax(0.001).name] == ["csls?k=1", "inverted-softmax?beta=0.001"]
