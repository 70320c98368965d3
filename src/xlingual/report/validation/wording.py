"""How the numbers of a validation are written and what its parts are called."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from xlingual.report import numbers
from xlingual.results.validation import Degradation, PairValidation, Validation

Cell = tuple[str, str]  # row and column of a table
_ERROR = re.compile(r"(.*standard error )([0-9.]+)")
PAPER_N, PAPER_K = 1_500, 10  # the sample and cut-off of the paper's Table 1 for IKEA
COEFFICIENT_NAMES = {"pearson": "Pearson", "spearman": "Spearman"}


def name_of(coefficient: str) -> str:
    """Return the coefficient as a heading names it."""
    return COEFFICIENT_NAMES.get(coefficient, coefficient)


def plus_minus(mean: float | None, error: float | None) -> str:
    """Return "mean ± error", where a small error has the decimals it needs so as not to read as zero.

    >>> plus_minus(0.96431, 0.00021), plus_minus(0.9643, None), plus_minus(None, 0.1)
    ('0.964 ± 0.0002', '0.964', '–')
    """
    if mean is None or error is None:
        return numbers.number(mean)
    return f"{numbers.number(mean)} ± {small(error)}"


def small(value: float | None) -> str:
    """Return a number with at least one digit that is not zero, where it is not zero itself.

    What is nothing with six decimals is the dust of rounding, and written as zero.

    >>> small(0.012), small(0.00021), small(0.0), small(1e-17), small(None)
    ('0.012', '0.0002', '0.000', '0.000', '–')
    """
    digits = 3
    if value and round(value, numbers.MOST_DIGITS):
        while round(value, digits) == 0:
            digits += 1
    return numbers.number(value, digits=digits)


def p_text(p: float | None) -> str:
    """Return a p-value.

    >>> p_text(0.61), p_text(0.0031), p_text(0.00002), p_text(None)
    ('0.610', '0.0031', '< 0.0001', '–')
    """
    if p is not None and p < 0.0001:
        return "< 0.0001"
    return numbers.number(p, digits=4 if p is not None and p < 0.01 else 3)


def share_text(k: int, n: int) -> str:
    """Return K/N with four decimals; "–" where there is nothing to divide by.

    >>> share_text(10, 1500)
    '0.0067'
    """
    return f"{k / n:.4f}" if n else numbers.MISSING


def pair_name(pair: PairValidation | Degradation) -> str:
    """Return a language pair as a heading names it."""
    return f"{pair.source} → {pair.target}"


def direction_name(text: str) -> str:
    """Return a direction as a heading names it.

    >>> direction_name("en-de"), direction_name("zh-Hans-de")
    ('en → de', 'zh-Hans-de')
    """
    parts = text.split("-")
    return " → ".join(parts) if len(parts) == 2 else text


def subset_name(subset: str, threshold: float) -> str:
    """Return which encoders a subset holds."""
    edge = f"{threshold:g}"
    return {"all": "all encoders", "below": f"XLR below {edge}", "above": f"XLR {edge} or more"}[subset]


def subset_range(subset: str, threshold: float) -> str:
    """Return the range of XLR of a subset, short.

    >>> subset_range("below", 0.5), subset_range("above", 0.5)
    ('below 0.5', 'from 0.5')
    """
    return {"all": "all", "below": f"below {threshold:g}", "above": f"from {threshold:g}"}[subset]


def level_name(weakened: Degradation) -> str:
    """Return what was done to the image vectors."""
    level = "" if weakened.level is None else f"{weakened.level:g}"
    if weakened.kind == "none":
        return "as they are"
    if weakened.kind == "dims":
        return f"{level} {'dimension' if level == '1' else 'dimensions'}"
    if weakened.kind == "shuffle":
        return "shuffled"
    return f"{weakened.kind} {level}".rstrip()


def counted(amount: int, noun: str, plural: str | None = None) -> str:
    """Return "1 encoder", "24 encoders".

    >>> counted(1, "family", "families"), counted(12, "family", "families")
    ('1 family', '12 families')
    """
    return f"{numbers.count(amount)} {noun if amount == 1 else plural or noun + 's'}"


def gathered(noted: Iterable[tuple[str | Cell, str | None]]) -> list[str]:
    """Return each note once, with what it is about before it where it is not about everything.

    A cell is (row, column): a note of a whole column or row is about that.

    >>> gathered([(("a", "BkR"), "why"), (("b", "BkR"), "why"), (("a", "SIM"), None), (("b", "SIM"), None)])
    ['BkR: why']
    """
    listed = list(noted)
    found: dict[str, dict[str | Cell, None]] = {}
    for where, note in _alike(listed):
        if note:
            found.setdefault(note, {})[where] = None
    if len(listed) > 1 and len(found) == 1 and all(note for _, note in listed):
        return [f"All: {note}" for note in found]
    everywhere = list(dict.fromkeys(where for where, _ in listed))
    return [f"{numbers.in_words(_places(wheres, everywhere))}: {note}" for note, wheres in found.items()]


def _alike(noted: list[tuple[str | Cell, str | None]]) -> list[tuple[str | Cell, str | None]]:
    """Return the notes, those that differ in the standard error alone as one with its range."""
    errors: dict[str, list[str]] = {}
    for _, note in noted:
        if note and (match := _ERROR.fullmatch(note)):
            errors.setdefault(match[1], []).append(match[2])
    told = {
        begun: f"{begun}{min(values)}" + ("" if min(values) == max(values) else f" to {max(values)}")
        for begun, values in errors.items()
    }

    def one(note: str | None) -> str | None:
        match = _ERROR.fullmatch(note) if note else None
        return note if match is None else told[match[1]]

    return [(where, one(note)) for where, note in noted]


def _places(wheres: Container[str | Cell], everywhere: list[str | Cell]) -> list[str]:
    """Return what a note is about in as few words as can be: whole columns, whole rows, then single cells."""
    cells = [where for where in everywhere if isinstance(where, tuple)]
    columns, rows = (list(dict.fromkeys(cell[i] for cell in cells)) for i in (1, 0))
    whole = [c for c in columns if all(cell in wheres for cell in cells if cell[1] == c)]
    rest = [cell for cell in cells if cell[1] not in whole]
    left = {r: [cell for cell in rest if cell[0] == r] for r in rows}
    lines = [r for r, own in left.items() if own and all(cell in wheres for cell in own)]
    single = [cell for cell in rest if cell[0] not in lines and cell in wheres]
    words = [where for where in everywhere if isinstance(where, str) and where in wheres]
    return [*words, *whole, *lines, *(" ".join(cell) for cell in single)]


def encoder_names(validation: Validation) -> list[str]:
    """Return the names of all encoders, each once."""
    return list(dict.fromkeys(row.encoder for pair in validation.pairs for row in pair.encoders))


def sizes(pair: PairValidation) -> list[str]:
    """Return what the numbers of a pair rest on, beside the paper's sample."""
    n = numbers.count(pair.n_source)
    targets = "" if pair.n_target == pair.n_source else f", {numbers.count(pair.n_target)} targets"
    own = subsets_size(pair)
    return [
        f"N = {n}{targets}, K/N = {share_text(pair.k, pair.n_source)} "
        f"(the paper's IKEA table: N = {PAPER_N:,}, K/N = {share_text(PAPER_K, PAPER_N)}); {own}; "
        f"chance {numbers.number(pair.chance)}, oracle {numbers.number(pair.oracle)} "
        f"of {counted(pair.n_pictures, 'picture')}",
    ]


def subsets_size(pair: PairValidation) -> str:
    """Return how many encoders, families and seeds there are."""
    whole = pair.subsets["all"]
    found = [counted(whole.n_encoders, "encoder")]
    if whole.n_families != whole.n_encoders:
        found.append(counted(whole.n_families, "family", "families"))
    return ", ".join([*found, counted(pair.n_seeds, "seed")])
