"""How numbers are written: one place for the terminal and the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xlingual.results import Interval

MISSING = "–"
MOST_DIGITS = 6
SMALL = 0.005  # below, three decimals leave less than a digit that can be relied on


def number(value: float | None, measure: str = "", *, digits: int | None = None) -> str:
    """Return the value as text: ranks with one decimal, everything else with three; "–" for no value.

    >>> number(0.3121), number(-0.0001), number(12.5, "MedR"), number(None)
    ('0.312', '0.000', '12.5', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:.{digits_of(measure) if digits is None else digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def mark(value: float | None, measure: str = "") -> str:
    """Return a reference value (chance, oracle) as text: a plain "0" where it is zero by definition.

    >>> mark(0.0, "CORR"), mark(0.02739), mark(0.00123)
    ('0', '0.027', '0.0012')
    """
    return "0" if value == 0 else number(value, measure, digits=fine_digits(value, measure))


def fine_digits(value: float | None, measure: str = "") -> int:
    """Return how many decimals show two significant digits of a small value, at most `MOST_DIGITS`.

    >>> fine_digits(0.00234), fine_digits(0.00499999), fine_digits(0.0000012)
    (4, 4, 6)
    """
    digits = digits_of(measure)
    if value is None or not 0 < abs(value) < SMALL or digits < 3:
        return digits
    return min(MOST_DIGITS, max(digits, 1 - math.floor(math.log10(abs(value)))))


def plus_minus(mean: float | None, error: float | None) -> str:
    """Return "mean ± error", where a small error has the decimals it needs so as not to read as zero.

    >>> plus_minus(0.96431, 0.00021), plus_minus(0.9643, None), plus_minus(None, 0.1)
    ('0.964 ± 0.0002', '0.964', '–')
    """
    return number(mean) if mean is None or error is None else f"{number(mean)} ± {not_zero(error)}"


def not_zero(value: float | None) -> str:
    """Return a number with at least one digit that is not zero, where it is not zero itself.

    A value that is zero to six decimals is rounding error, and written as zero.

    >>> not_zero(0.012), not_zero(0.00021), not_zero(0.0), not_zero(1e-17), not_zero(None)
    ('0.012', '0.0002', '0.000', '0.000', '–')
    """
    digits = 3
    if value and round(value, MOST_DIGITS):
        while round(value, digits) == 0:
            digits += 1
    return number(value, digits=digits)


def interval(ci: Interval | None, measure: str = "", *, digits: int | None = None) -> str:
    """Return "[low, high]", or "" where there is no interval."""
    if ci is None:
        return ""
    most = digits_of(measure) if digits is None else digits
    return f"[{number(ci.low, digits=most)}, {number(ci.high, digits=most)}]"


def with_interval(
    value: float | None,
    ci: Interval | None,
    measure: str = "",
    *,
    digits: int | None = None,
) -> str:
    """Return "value [low, high]"."""
    return f"{number(value, measure, digits=digits)} {interval(ci, measure, digits=digits)}".rstrip()


def finely(value: float | None, ci: Interval | None = None, measure: str = "") -> str:
    """Return "value [low, high]" with two significant digits of a small value.

    >>> finely(0.0023, Interval(0.0012, 0.0034, 0.95, "bootstrap")), finely(0.25)
    ('0.0023 [0.0012, 0.0034]', '0.250')
    """
    return with_interval(value, ci, measure, digits=fine_digits(value, measure))


def difference(
    value: float,
    ci: Interval,
    measure: str = "",
    marks: Sequence[float] = (0.0,),
) -> str:
    """Return "value [low, high]" with enough decimals to see on which side of each mark an end lies.

    >>> difference(0.02, Interval(0.0004, 0.0396, 0.95, "bootstrap"))
    '0.0200 [0.0004, 0.0396]'
    """
    digits = digits_beside((ci.low, ci.high), marks, digits_of(measure))
    return f"{number(value, digits=digits)} {interval(ci, digits=digits)}"


def signed(value: float, ci: Interval | None = None, *, digits: int = 3, scale: float = 1) -> str:
    """Return "value [low, high]" with signs, and decimals enough to see on which side of 0 an end lies.

    `scale`: all numbers are times this.

    >>> signed(0.5, Interval(0.004, 1.0, 0.95, ""), digits=2), signed(-0.2, digits=2), signed(0.0, digits=1)
    ('+0.500 [+0.004, +1.000]', '−0.20', '0.0')
    """
    scaled = [scale * end for end in ends(ci)]
    digits = digits_beside(scaled, [0.0], digits)
    text, *around = (_with_sign(one, digits) for one in (scale * value, *scaled))
    return f"{text} [{', '.join(around)}]" if around else text


def _with_sign(value: float, digits: int) -> str:
    text = number(value, digits=digits)
    return f"+{text}" if value > 0 and float(text) else text  # "+0.000" says too much


def digits_beside(ends: Sequence[float], marks: Sequence[float], digits: int = 3) -> int:
    """Return how many decimals, `digits` or more, separate each end from each mark it is not equal to.

    >>> digits_beside([-0.0002, 0.03], [0.0])
    4
    """
    apart = [(a, b) for a in ends for b in marks if round(a, MOST_DIGITS) != round(b, MOST_DIGITS)]
    while digits < MOST_DIGITS and any(round(a, digits) == round(b, digits) for a, b in apart):
        digits += 1
    return digits


LEAST_P = 0.001


def p_value(p: float | None) -> str:
    """Return a p-value with three decimals, for a table.

    >>> p_value(0.0004), p_value(0.0312), p_value(None)
    ('<0.001', '0.031', '–')
    """
    if p is None or not math.isfinite(p):
        return MISSING
    return f"<{LEAST_P}" if p < LEAST_P else f"{p:.3f}"


def p_sentence(p: float | None) -> str:
    """Return a p-value as a sentence names it.

    >>> p_sentence(0.0004), p_sentence(0.0312)
    ('p < 0.001', 'p = 0.031')
    """
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def percent(share: float | None) -> str:
    """Return a share as a whole percentage.

    >>> percent(0.412), percent(None)
    ('41 %', '–')
    """
    if share is None or not math.isfinite(share):
        return MISSING
    text = f"{100 * share:.0f}"
    return f"{'0' if text == '-0' else text} %".replace("-", "−")


def count(amount: int) -> str:
    """Return a whole number with its thousands apart.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{amount:,}"


def day(moment: str) -> str:
    """Return the day of a moment as ISO 8601 has it, "" for anything else.

    >>> day("2026-11-28T05:20:37+00:00"), day("yesterday")
    ('2026-11-28', '')
    """
    found = moment[:10]
    return found if len(found) == 10 and found.replace("-", "").isdigit() else ""


def counted(amount: int, one: str, many: str = "") -> str:
    """Return an amount with its noun.

    >>> counted(1, "query", "queries"), counted(1200, "seed")
    ('1 query', '1,200 seeds')
    """
    return f"{count(amount)} {one if amount == 1 else many or f'{one}s'}"


def facts(*amounts: tuple[int, str, str]) -> list[tuple[str, str]]:
    """Return (noun, amount) for the head of a page.

    >>> facts((1, "query", "queries"), (3, "seed", "seeds"))
    [('query', '1'), ('seeds', '3')]
    """
    return [(one if amount == 1 else many, count(amount)) for amount, one, many in amounts]


def span(amounts: list[int]) -> str:
    """Return "365" or "365–412" for the smallest and largest of the amounts."""
    if not amounts:
        return MISSING
    low, high = min(amounts), max(amounts)
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def duration(seconds: float) -> str:
    """Return a time in the unit that reads well.

    >>> duration(0.0123), duration(4.21), duration(130.0)
    ('12 ms', '4.2 s', '2 min 10 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def in_words(words: list[str], most: int = 8) -> str:
    """Return "a, b and c", cut after `most` with a count of the rest.

    >>> in_words(["a", "b", "c"]), in_words(["a", "b", "c"], most=2)
    ('a, b and c', 'a, b and 1 more')
    """
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def ends(ci: Interval | None) -> tuple[float, ...]:
    """Return both ends of an interval, or nothing where there is none."""
    return () if ci is None else (ci.low, ci.high)


def bracketed(write: Callable[[float], str], value: float, ci: Interval | None = None) -> str:
    """Return "value [low, high]", every number as `write` writes it."""
    return write(value) if ci is None else f"{write(value)} [{write(ci.low)}, {write(ci.high)}]"


def fixed(value: float, ci: Interval | None = None, *, digits: int, scale: float = 1) -> str:
    """Return "value [low, high]", times `scale`, every number with so many decimals.

    >>> fixed(0.0093, digits=1, scale=1000), fixed(0.5, Interval(0.25, 1.0, 0.95, ""), digits=2)
    ('9.3', '0.50 [0.25, 1.00]')
    """
    return bracketed(lambda one: number(scale * one, digits=digits), value, ci)


def digits_of(measure: str) -> int:
    """Return how many decimals numbers of the measure have."""
    return 1 if measure.startswith("MedR") else 3
