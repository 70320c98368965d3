"""How a case study names its models and writes its numbers: as the paper's Table 2, times 1000."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.results import Interval
from xlingual.results.case_study import TRIPLET, TRIPLET_XL, CaseStudy, Model

SCALE = 1000
DIGITS = 1
UNIT = f"× {SCALE}"
_SHOWN = {TRIPLET: "Triplet", TRIPLET_XL: "TripletXL"}


def label(model: Model) -> str:
    """Return what a model is called on the page: trained ones as in the paper."""
    return _SHOWN.get(model.role, model.name)


def label_of(study: CaseStudy, name: str) -> str:
    """Return what the model of a name is called on the page."""
    found = next((model for model in study.models if model.name == name), None)
    return name if found is None else label(found)


def measure(study: CaseStudy) -> str:
    """Return the measure as sentences name it: "BkR R@10 × 1000"."""
    return f"BkR {study.measure} {UNIT}"


def times(value: float | None, digits: int = DIGITS) -> str:
    """Return a value in thousandths.

    >>> times(0.0093), times(-0.00204), times(None)
    ('9.3', '−2.0', '–')
    """
    return numbers.number(None if value is None else SCALE * value, digits=digits)


def interval(ci: Interval | None) -> str:
    """Return "[low, high]" in thousandths, "" where there is none."""
    return "" if ci is None else f"[{times(ci.low)}, {times(ci.high)}]"


def gain(value: float, ci: Interval | None = None) -> str:
    """Return a difference with its sign, and with decimals enough to see on which side of 0 an end lies.

    >>> gain(0.0119, Interval(0.0066, 0.0172, 0.95, "")), gain(-0.002), gain(0.0)
    ('+11.9 [+6.6, +17.2]', '−2.0', '0.0')
    """
    ends = () if ci is None else (ci.low, ci.high)
    digits = numbers.digits_beside([SCALE * end for end in ends], [0.0], DIGITS)
    text = _signed(value, digits)
    return text if ci is None else f"{text} [{_signed(ci.low, digits)}, {_signed(ci.high, digits)}]"


def _signed(value: float, digits: int) -> str:
    text = times(value, digits)
    return f"+{text}" if value > 0 and float(text) != 0 else text


def p_text(p: float | None) -> str:
    """Return a p-value: "< .001", ".034", "–" where there is none."""
    if p is None:
        return numbers.MISSING
    return "< .001" if p < 0.001 else "1" if round(p, 3) >= 1 else f"{p:.3f}"[1:]


def ends(values: Sequence[float]) -> str:
    """Return "+11.5 and +12.2" for two gains, "+11.5 to +12.2" for the ends of more."""
    if len(values) == 2:
        return f"{gain(values[0])} and {gain(values[1])}"
    return f"{gain(min(values))} to {gain(max(values))}"
