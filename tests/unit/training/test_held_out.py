"""That a validation is large enough to tell epochs apart."""

from __future__ import annotations

import warnings

import pytest

from xlingual.errors import DataWarning
from xlingual.workflows.trained import check_size


@pytest.mark.parametrize("candidates", [None, {"en": 10, "de": 8}])
def test_ten_items_tell_little(candidates: dict[str, int] | None) -> None:
    with pytest.warns(DataWarning, match="the validation has 10 items, so R@10 is 100") as caught:
        check_size(10, candidates)
    assert len(caught) == 1


def test_each_language_is_ranked_by_itself() -> None:
    with pytest.warns(DataWarning, match=r"few texts in some languages \(de 10\), so R@10 is 100 there"):
        check_size(40, {"en": 30, "de": 10})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_size(22, {"en": 11, "de": 11, "fr": 0})
