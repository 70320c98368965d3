"""Sentence pairs and n-best lists made from scenes: scores follow what is said, lists are well formed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.sentence_pairs import read_sentence_pairs
from xlingual.demo_data.scenes.mentions import Mention, Mentions
from xlingual.demo_data.scenes.sentences import score_of, sentence_pairs, write_lists, write_sentence_pairs
from xlingual.nbest.bleu import list_counts
from xlingual.nbest.lists import read_nbest
from xlingual.nbest.mira import first_best
from xlingual.nbest.tune import bounds


def test_a_score_is_the_share_of_facts_that_both_say() -> None:
    red = Mentions((Mention("star", 1, colour="red"),), "blue")
    assert score_of(red, red) == 5.0
    green = Mentions((Mention("star", 1, colour="green"),), "blue")
    # star, one star, background in common; red star, green star not: 3 of 5
    assert score_of(red, green) == score_of(green, red) == 3.0
    assert score_of(red, Mentions((Mention("tree", 1),), None)) == 0.0


def test_pairs_are_of_all_degrees_and_a_function_of_the_seed(tmp_path: Path) -> None:
    path = write_sentence_pairs(tmp_path / "p.jsonl", n=60, language="en", seed=3)
    (pairs,) = read_sentence_pairs(path)
    assert len(pairs) == 60 and pairs.score.min() < 1 and pairs.score.max() > 4
    groups = [np.mean(pairs.score[how::4]) for how in range(4)]
    assert groups[0] > groups[1] > groups[3] and groups[2] > groups[3]
    again = [row["score"] for row in sentence_pairs(60, "en", 3)]
    assert again == pairs.score.tolist()
    assert [row["score"] for row in sentence_pairs(60, "en", 4)] != again


def test_lists_have_references_sources_and_images(tmp_path: Path) -> None:
    files = write_lists(tmp_path, "dev", n=25, languages=("en", "de"), seed=1, size=16)
    lists = read_nbest(files.nbest)
    references = files.references.read_text(encoding="utf-8").splitlines()
    assert len(lists) == len(references) == len(files.source.read_text(encoding="utf-8").splitlines()) == 25
    assert Manifest.read(files.images).n_items == 25
    found = bounds(lists, list_counts(lists, [references]))
    assert found.oracle == pytest.approx(100)  # one hypothesis has no error
    assert found.random.mean < found.decoder < 97  # and the score knows little of it
    sizes = lists.sizes
    assert (
        sizes.max() <= 10
        and sizes.min() >= 2
        and (lists.scores[first_best(lists.scores, lists.offsets)] > -3).all()
    )
    twice = write_lists(tmp_path / "again", "dev", n=25, languages=("en", "de"), seed=1, size=16)
    assert twice.nbest.read_bytes() == files.nbest.read_bytes()
