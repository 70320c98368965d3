"""N-best lists of real decoders: the format's oddities, known figures, and that tuning gains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.nbest.bleu import corpus_bleu, list_counts
from xlingual.nbest.lists import read_nbest, read_texts, write_nbest
from xlingual.nbest.mira import first_best
from xlingual.nbest.tune import tune


@pytest.fixture(scope="module")
def moses(real_data: Path) -> tuple[Any, list[list[str]]]:
    folder = real_data / "nbest_moses"
    lists = read_nbest(folder / "fr-en.europarl.100best.nbest")
    return lists, [read_texts(folder / "fr-en.europarl.ref.en")]


@pytest.fixture(scope="module")
def multi30k(real_data: Path) -> dict[str, tuple[Any, list[list[str]]]]:
    folder = real_data / "nbest_multi30k"
    return {
        split: (read_nbest(folder / f"{split}.nbest"), [read_texts(folder / f"{split}.de")])
        for split in ("val", "test_2016_flickr")
    }


def test_the_oddities_of_moses(moses: Any, tmp_path: Path) -> None:
    lists, _ = moses
    assert len(lists) == 100 and len(lists.hypotheses) == 10_000
    assert lists.groups == (("d", 7), ("lm", 2), ("tm", 5), ("w", 1))
    assert lists.hypotheses[0] == "this should also be there is looking further ."
    assert lists.features[0].tolist()[:5] == [0, -7.66174, 0, 0, -3.51621]
    write_nbest(lists, tmp_path / "canonical.nbest")
    again = read_nbest(tmp_path / "canonical.nbest")
    assert again.hypotheses == lists.hypotheses and again.groups == lists.groups
    np.testing.assert_array_equal(again.features, lists.features)
    np.testing.assert_array_equal(again.scores, lists.scores)
    write_nbest(again, tmp_path / "again.nbest")
    assert (tmp_path / "again.nbest").read_bytes() == (tmp_path / "canonical.nbest").read_bytes()


@pytest.mark.slow
def test_tuning_on_the_moses_list_gains(moses: Any) -> None:
    lists, references = moses
    found = tune(lists, references, lowercase=True)
    rounded = [
        round(value, 2) for value in (found.bounds.decoder, found.bounds.oracle, found.bounds.anti_oracle)
    ]
    assert rounded == [11.1, 16.51, 6.94]  # of sacrebleu, lower-cased, tokenize none
    assert min(one.bleu for one in found.tunings) > 13.5


@pytest.mark.parametrize(
    ("split", "expected"),
    [("val", (33.40, 46.61)), ("test_2016_flickr", (33.30, 47.39))],
)
@pytest.mark.slow  # test_tuning_on_the_moses_list_gains has bounds of sacrebleu too
def test_bounds_of_multi30k_are_those_of_sacrebleu(multi30k: Any, split: str, expected: Any) -> None:
    found = tune(*multi30k[split], tunings=1).bounds
    assert (round(found.decoder, 2), round(found.oracle, 2)) == expected


@pytest.mark.slow  # test_tuning_on_the_moses_list_gains is smaller
def test_weights_of_val_gain_on_test(multi30k: Any) -> None:
    found = tune(*multi30k["val"])
    lists, references = multi30k["test_2016_flickr"]
    of = list_counts(lists, references)
    before = corpus_bleu(of[first_best(lists.scores, lists.offsets)].sum(axis=0))
    after = [corpus_bleu(of[found.choose(lists, number)].sum(axis=0)) for number in range(3)]
    assert found.bleu.mean > found.bounds.decoder + 1.5
    assert min(after) > before + 0.5
