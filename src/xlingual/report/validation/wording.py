"""How the numbers of a validation are written and what its parts are called."""

from __future__ import annotations

from collections.abc import Iterable

from xlingual.report import numbers
from xlingual.results.validation import Degradation, PairValidation, Validation

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

    >>> small(0.012), small(0.00021), small(0.0), small(None)
    ('0.012', '0.0002', '0.000', '–')
    """
    digits = 3
    while value and digits < numbers.MOST_DIGITS and round(value, digits) == 0:
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


def gathered(noted: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return each note once, with what it is about before it where it is not about everything."""
    listed = list(noted)
    found: dict[str, dict[str, None]] = {}
    for where, note in listed:
        if note:
            found.setdefault(note, {})[where] = None
    if len(listed) > 1 and len(found) == 1 and all(note for _, note in listed):
        return [f"All: {note}" for note in found]
    return [f"{', '.join(wheres)}: {note}" for note, wheres in found.items()]


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
