"""What a compression says in sentences: the smallest form that keeps every pair, and who pays first."""

from __future__ import annotations

from collections import Counter

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.results.compression import KEPT, LOSES, PCA, TRUNCATED, Compression, Form, PairValue
from xlingual.tasks import task_of

MOST_NAMED = 3  # language pairs in a sentence
_KINDS = {"f32": "single precision", "f16": "half precision", "int8": "int8", "binary": "binary"}


def findings(found: Compression) -> list[str]:
    """Return the verdict, the pair that loses first, and what helped."""
    sentences = [_smallest(found), _counted(found)]
    sentences += [one for one in (_first(found), _rescoring(found)) if one]
    return sentences


def in_words(form: Form) -> str:
    """Return a form as a sentence names it: "int8 with the first 128 dimensions"."""
    dims = {TRUNCATED: f"the first {form.dim} dimensions", PCA: f"{form.dim} dimensions by PCA"}
    kept = dims.get(form.reduction, f"all {form.dim} dimensions")
    again = f", its first {form.rescored} candidates ordered again" if form.rescored else ""
    return f"{_KINDS[form.dtype]} with {kept}{again}"


def pair_of(pair: PairValue) -> str:
    """Return a language pair in English names."""
    return f"{named(pair.source)} → {named(pair.target)}"


def _smallest(found: Compression) -> str:
    less = f"loses less than {found.delta:g} {_measure(found)} in {_every(found)}"
    if found.smallest is None:
        near = min(found.forms, key=lambda form: (form.p, form.bytes))
        pair = found.full[near.highest]
        most = near.pairs[near.highest].most
        up_to = "" if most is None else f", where it may lose up to {numbers.number(most, digits=4)}"
        return f"No smaller form is shown to be one that {less}: {in_words(near)} comes closest, but for {pair_of(pair)}{up_to}."
    form = found.form(found.smallest)
    times = found.bytes / form.bytes
    sentence = in_words(form)
    return (
        f"{sentence[0].upper()}{sentence[1:]} is the smallest form that {less}: {numbers.count(form.bytes)} bytes "
        f"in place of {numbers.count(found.bytes)}, {times:.3g} times smaller."
    )


def _counted(found: Compression) -> str:
    count = Counter(form.outcome for form in found.forms)
    kept, loses = count[KEPT], count[LOSES]
    rest = len(found.forms) - kept - loses
    said = [f"{kept} {'is' if kept == 1 else 'are'} shown to keep every pair"] if kept else []
    said += (
        [f"{loses} to lose more in some pair" if kept else f"{loses} are shown to lose more in some pair"]
        if loses
        else []
    )
    said += (
        [f"of {rest} these queries cannot tell" if rest > 1 else "of one these queries cannot tell"]
        if rest
        else []
    )
    return f"Of {len(found.forms)} forms {numbers.in_words(said)}."


def first_to_lose(found: Compression) -> tuple[Form, int] | None:
    """Return the form with the most bytes that is shown to harm a pair, and the pair that loses most by it."""
    form = next((one for one in found.forms if one.outcome == LOSES), None)
    return None if form is None else (form, form.worst)


def _first(found: Compression) -> str | None:
    """Return which pair loses first, and which one loses most over all forms that harm any."""
    first = first_to_lose(found)
    if first is None or len(found.full) < 2:
        return None
    form, place = first
    lost = numbers.number(form.pairs[place].loss)
    harming = [one for one in found.forms if one.outcome == LOSES]
    worst, times = Counter(one.worst for one in harming).most_common(1)[0]
    sentence = f"{pair_of(found.full[place])} loses first: {lost} by {in_words(form)} ({numbers.count(form.bytes)} bytes)"
    if len(harming) < 2:
        return f"{sentence}."
    which = "It" if worst == place else pair_of(found.full[worst])
    return f"{sentence}. {which} loses most by {times} of the {len(harming)} forms that harm a pair."


def _rescoring(found: Compression) -> str | None:
    """Return what ordering the first candidates again brings, for the largest binary form that has both."""
    known = {
        (form.reduction, form.dim): form
        for form in found.forms
        if form.dtype == "binary" and not form.rescored
    }
    for form in found.forms:
        if form.rescored and (plain := known.get((form.reduction, form.dim))):
            before, after = (numbers.number(one.value) for one in (plain, form))
            return (
                f"Binary vectors with {form.dim} dimensions have a mean {_measure(found)} of {before}, and {after} where "
                f"the first {form.rescored} candidates are ordered again by the query's full numbers."
            )
    return None


def _measure(found: Compression) -> str:
    return task_of(found.task).measure_name(found.measure)


def _every(found: Compression) -> str:
    if len(found.full) == 1:
        return pair_of(found.full[0])
    return f"every one of {len(found.full)} language pairs"
