"""Claims: printing and parsing are inverse, and digits are as many as say something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.results.claims import Claim, shown

names = st.text(min_size=1, max_size=20)
numbers = st.floats(-10, 1000, allow_nan=False).map(shown)


@given(
    st.builds(
        Claim,
        st.sampled_from(["backretrieval", "crosslingual-retrieval", "sts", "distance-correlation"]),
        st.sampled_from(["R@10", "SIM", "AP@20/min", "MedR"]),
        numbers,
        st.none() | st.tuples(numbers, numbers),
        names,
        names,
        st.sampled_from(["3", "12"]),
        st.text("0123456789abcdef", min_size=16, max_size=64),
    )
)
def test_a_printed_claim_parses_back_and_is_one_line(claim):
    line = str(claim)
    assert Claim.parse(line) == claim and Claim.parse(f" {line}\n") == claim
    assert len(line.splitlines()) == 1


@given(st.floats(1e-9, 1e6))
def test_three_digits_say_something(value):
    text = shown(value)
    assert float(text) == pytest.approx(value, rel=5e-3) or value < 1e-9
    assert len(text.partition(".")[2]) >= 3 and not text.startswith("0.")
    assert shown(-value) == f"-{text}"


@pytest.mark.parametrize(
    "line",
    [
        "", "xlingual:", "xlingual:bkr|R@10=.3|a|b|conventions 4|xyz",
        "xlingual:no|R@10=.3|a|b|c|0123456789abcdef",
        "xlingual:bkr|R@10|a|b|c|0123456789abcdef", "xlingual:bkr|R@10=.3[.1]|a|b|c|0123456789abcdef",
        "xlingual:bkr|R@10=.3|a|b|0123456789abcdef",
    ],
)  # fmt: skip
def test_other_lines_are_refused(line):
    with pytest.raises(InputError, match="is no claim: expected a line of `xlingual cite`"):
        Claim.parse(line)
