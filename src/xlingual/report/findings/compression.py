"""What a compression says in sentences: the smallest form that keeps every pair, and who pays first."""

from __future__ import annotations

from collections import Counter

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.results.compression import KEPT, LOSES, PCA, TRUNCATED, UNDECIDED, Compression, Form, PairValue
from xlingual.tasks import task_of

_KINDS = {"f32": "single precision", "f16": "half precision", "int8": "int8", "binary": "binary"}
_LEAST = 0.02  # of the measure, below which a share says nothing


def findings(found: Compression) -> list[str]:
    """Return the verdict, the pair that loses first, and what helped."""
    sentences = [_smallest(found), _counted(found), _first(found), _rescoring(found), found.note]
    return [sentence for sentence in sentences if sentence]


def in_words(form: Form) -> str:
    """Return a form as a sentence names it: "int8 with the first 128 dimensions"."""
    dims = {TRUNCATED: f"the first {form.dim} dimensions", PCA: f"{form.dim} dimensions by PCA"}
    kept = dims.get(form.reduction, f"all {form.dim} dimensions")
    again = f" and the first {form.rescored} candidates rescored" if form.rescored else ""
    return f"{_KINDS[form.dtype]} with {kept}{again}"


def pair_of(pair: PairValue) -> str:
    """Return a language pair in English names."""
    return f"{named(pair.source)} → {named(pair.target)}"


def _smallest(found: Compression) -> str:
    less = f"loses less than {found.delta:g} {_measure(found)} in {_every(found)}"
    if found.smallest is None:
        return f"No smaller form is shown to be one that {less}. {_closest(found)}"
    form = found.form(found.smallest)
    return (
        f"{_begun(form)} is the smallest form that {less}: {numbers.count(form.bytes)} bytes in place of "
        f"{numbers.count(found.bytes)}, {found.bytes / form.bytes:.3g} times smaller."
    )


def _closest(found: Compression) -> str:
    """Return the form that comes closest to being kept, and what it lacks."""
    near = min(found.forms, key=lambda form: (form.p, form.bytes))
    pair, most = found.full[near.highest], near.pairs[near.highest].most
    close = f"{_begun(near)} comes closest"
    if most is None:
        return f"{close}, with {near.note or 'no test'}."
    up_to = f"in {pair_of(pair)} it may lose up to {numbers.number(most, digits=4)}"
    if near.p > found.alpha:
        return f"{close}: {up_to}."
    return (
        f"{close}: {up_to}. That would be enough if this form were tried alone. With several forms, each "
        "form before it in the fixed order must pass too, at its share of alpha. Evaluate more queries, or "
        "try fewer forms (--dims, --dtype, --reduce)."
    )


def _begun(form: Form) -> str:
    words = in_words(form)
    return words[0].upper() + words[1:]


def _counted(found: Compression) -> str:
    count = Counter(form.outcome for form in found.forms)
    said = [
        f"{count[outcome]} {words}"
        for outcome, words in (
            (KEPT, "shown to be safe for every pair"),
            (LOSES, "shown to lose more in some pair"),
            (UNDECIDED, "undecided with these queries"),
        )
        if count[outcome]
    ]
    return f"Of {len(found.forms)} smaller forms: {numbers.in_words(said)}."


def _first(found: Compression) -> str | None:
    """Return which pair loses first, which one most for what it had, and which one most often."""
    harming = [one for one in found.forms if one.outcome == LOSES]
    if not harming or len(found.full) < 2:
        return None
    form = harming[0]
    place = form.worst
    said = (
        f"{pair_of(found.full[place])} is the first pair to lose: {numbers.number(form.pairs[place].loss)} "
        f"with {in_words(form)} ({numbers.count(form.bytes)} bytes)."
    )
    worst, times = Counter(one.worst for one in harming).most_common(1)[0]
    if len(harming) > 1:
        who = "It" if worst == place else pair_of(found.full[worst])
        said += f" {who} loses most by {times} of the {len(harming)} forms that harm a pair."
    known = [i for i, full in enumerate(found.full) if full.value >= _LEAST]
    if known:
        share = max(known, key=lambda i: form.pairs[i].loss / found.full[i].value)
        full, lost = found.full[share], form.pairs[share].loss
        who = pair_of(full)
        part = f"{numbers.percent(lost / full.value)} of {numbers.number(full.value)}"
        said += f" Relative to its full value, {who} loses most: {part}."
    return said


def _rescoring(found: Compression) -> str | None:
    """Return what ordering the first candidates again brings, for the largest binary form that has both."""
    plain = {
        (form.reduction, form.dim): form
        for form in found.forms
        if form.dtype == "binary" and not form.rescored
    }
    form = next((one for one in found.forms if one.rescored and (one.reduction, one.dim) in plain), None)
    if form is None:
        return None
    before, after = (numbers.number(one.value) for one in (plain[form.reduction, form.dim], form))
    return (
        f"Binary vectors with {form.dim} dimensions have a mean {_measure(found)} of {before}, and {after} "
        f"where the first {form.rescored} candidates are rescored with the query's full numbers."
    )


def _measure(found: Compression) -> str:
    return task_of(found.task).measure_name(found.measure)


def _every(found: Compression) -> str:
    if len(found.full) == 1:
        return pair_of(found.full[0])
    return f"every one of {len(found.full)} language pairs"
