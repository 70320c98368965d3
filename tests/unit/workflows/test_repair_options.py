"""Options of `repair` on the command line: none is dropped in silence, and errors say what was typed."""

import pytest

from xlingual.encoders.scheme import amount, share
from xlingual.requests.repairing import shares_of


def test_numbers_may_begin_with_a_point():
    assert shares_of(".4,.2,0.4") == [0.4, 0.2, 0.4]
    assert (share(".5"), share("0.5"), share("1"), share("0")) == (0.5, 0.5, 1.0, 0.0)
    assert (amount(".25"), amount("12.5")) == (0.25, 12.5)
    for text in ("", ".", "1.5", "-.5", "5.", ".5.5"):
        with pytest.raises(ValueError, match="a number from 0 to 1"):
            share(text)
