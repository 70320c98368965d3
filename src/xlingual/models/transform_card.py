"""What a card says of a transform: its sizes, and how it was chosen and tested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xlingual.errors import InputError
from xlingual.models.card_words import all_of
from xlingual.models.folder import BANK, FITTED_ON, WEIGHTS, ModelFolder
from xlingual.results.pivot import UNTESTED, Pivot, PivotChange
from xlingual.results.repair import BETTER, UNCHANGED, UNDECIDED, WORSE, Change, Repair

Choice: TypeAlias = Repair | Pivot
_VERDICTS = {
    BETTER: "the test shows that it makes the encoder better",
    WORSE: "the test shows that it makes the encoder worse",
    UNDECIDED: "the test does not show that it helps",
    UNCHANGED: "nothing is changed",
    UNTESTED: "nothing was tested",
}
_CAUTIONS = {
    WORSE: "It makes the encoder worse: leave the encoder as it is.",
    UNDECIDED: "It is not shown to help: leave the encoder as it is, or test on more data.",
    UNTESTED: "Whether search gets better by it is not known: nothing was tested.",
}


def shapes(folder: ModelFolder) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of the weights, from the head of their file, without torch."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder.path / WEIGHTS, framework="numpy") as weights:
            names = list(weights.keys())
            return {name: tuple(weights.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{folder.path / WEIGHTS} is damaged ({error}): copy the model anew, or make it again"
        ) from None


def sizes(folder: ModelFolder) -> Iterator[tuple[str, str]]:
    """Yield names and values of a transform's dimensions and options."""
    found, model = shapes(folder), folder.config["model"]
    offset = found.get("offset", (0, 0))
    yield "dimensions", f"{found.get('matrix', offset)[-2 if 'matrix' in found else -1]:,} → {offset[-1]:,}"
    yield "languages", all_of(model)
    yield "transforms", str(model.get("transforms"))
    yield "similarity", str(model.get("similarity", "cosine"))
    if BANK in found:
        yield "training questions", f"{found[BANK][0]:,}"
    if FITTED_ON in found:
        yield "fitted and chosen on", f"{found[FITTED_ON][0]:,} texts, which it is never evaluated on"


def beside(folder: ModelFolder) -> Choice | None:
    """Return what chose this transform: its file in the folder, or beside it; None without."""
    if (folder.path / Pivot.file).is_file():
        try:
            return Pivot.read(folder.path)
        except InputError:
            return None
    parent = folder.path.resolve().parent
    model, data = folder.config["model"], folder.config.get("data") or {}
    wanted = model.get("transforms"), model.get("similarity", "cosine"), data.get("digest")
    if (parent / Repair.file).is_file():
        try:
            found = Repair.read(parent)
        except InputError:
            return None
        if (found.chosen, found.similarity, found.conditions.get("data")) == wanted:
            return found
    return None


def caution(found: Choice) -> str | None:
    """Return what to know before it is used; None where the test shows that it helps."""
    return _CAUTIONS.get(found.outcome)


def chosen(found: Choice) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return sentences and rows on how a transform was chosen and tested."""
    if isinstance(found, Pivot):
        return _by_images(found)
    how = (
        f"Fitted on {found.fit.questions:,} questions and {found.fit.candidates:,} candidates; of "
        f"{len(found.tried) - 1:,} repairs that were tried it has the best {found.criterion} on "
        f"{found.choose.questions:,} other questions. It was then tested once, on {found.test.questions:,} "
        f"that took no part in the choice; {_VERDICTS[found.outcome]}."
    )
    harm = (
        f"Every language pair is shown to lose less than {found.delta:g}."
        if found.harmless
        else f"It is not shown that every language pair loses less than {found.delta:g}."
    )
    rows = [(f"{found.criterion}, all languages", _change(found.whole))]
    rows += [(f"questions in {one.source}", _change(one)) for one in found.languages]
    if found.pairs:
        worst = min(found.pairs, key=lambda one: one.difference)
        rows.append((f"worst pair, {worst.source} → {worst.target}", _change(worst)))
    return (how, harm), tuple(rows)


def _by_images(found: Pivot) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    near, same = sum(one.near for one in found.pairs), sum(one.same for one in found.pairs)
    kinds = [
        f"{count:,} pairs of texts of {what}"
        for count, what in (
            (near, f"different items with near images ({found.image_encoder})"),
            (same, "one item or image"),
        )
        if count
    ]
    fitted = f"Fitted on {' and '.join(kinds)}. " if kinds else ""
    how = (
        "It was asked for."
        if found.given
        else (f"Of {len(found.tried) - 1:,} maps that were tried it ranks image pairs of other items best.")
    )
    if found.outcome == UNCHANGED:
        how = "No map was shown to rank image pairs of other items better: vectors stay as they are."
    tested = f"Tested on {found.tested_items:,} items held apart; {_VERDICTS[found.outcome]}."
    rows = tuple((f"{one.task}, {one.measure}{_pair(one)}", _change(one)) for one in found.changes)
    return (fitted + how, tested if found.changes else "Nothing was tested."), rows


def _pair(one: PivotChange) -> str:
    return "" if one.source is None else f", {one.source} → {one.target}"


def _change(one: Change | PivotChange) -> str:
    interval = "" if one.ci is None else f" [{one.ci.low:+.3f}, {one.ci.high:+.3f}]"
    return f"{one.before:.3f} → {one.after:.3f}, {one.difference:+.3f}{interval}"
