"""SemEval's pairs of image captions of 2014 and 2015: what word TF-IDF scores was computed elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from xlingual import sts
from xlingual.data.sentence_pairs import SentencePairs, read_sentence_pairs
from xlingual.records import Texts
from xlingual.results import by_key
from xlingual.stats.dependent import fisher_interval

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


class Tfidf:
    """Word TF-IDF; a sentence counts as often as pairs hold it."""

    def __init__(self, pairs: SentencePairs) -> None:
        self.identity = f"tfidf:{pairs.digest[:8]}"
        self.words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit([*pairs.first, *pairs.second])

    def encode(self, batch: Texts) -> np.ndarray:
        return self.words.transform(batch.text).toarray().astype(np.float32)


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    if not (real_data / "sts_images").is_dir():
        pytest.skip(f"{real_data / 'sts_images'} is missing")
    return real_data / "sts_images"


@pytest.mark.parametrize(("year", "value"), [(2014, 0.694), (2015, 0.747)])
def test_tfidf_scores_what_it_does_elsewhere(folder: Path, year: int, value: float) -> None:
    (pairs,) = read_sentence_pairs(folder / f"sts{year}_images.parquet")
    assert (len(pairs), pairs.n_unscored) == (750, 0 if year == 2014 else 750)
    found = sts(pairs, language="en", text_encoders={"tfidf": Tfidf(pairs)}, store=None)
    (entry,) = by_key(found.entries, measure="Pearson")
    assert entry.value == pytest.approx(value, abs=0.0005)
    fisher = fisher_interval(entry.value, 750)
    assert 0.9 < (entry.ci.high - entry.ci.low) / (fisher.high - fisher.low) < 1.4  # captions recur in pairs
