"""The two views of a text: two of its fields, or two parts of the text itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.records import Texts

_END = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])\s*|\s*\n\s*")
_REMEDY = "Name the columns in training with --title and --body, or train with --split-text"
WHOLE = "text"  # the name of the text itself among the fields


@dataclass(frozen=True)
class Views:
    """Title and body of n texts; of those that are `lacking` one, or cannot be split, one stands for both."""

    title: Texts
    body: Texts
    lacking: Sequence[bool]  # [n]


class ViewReader:
    """Reads the two views of texts for an encoder, and counts those that lack one of them."""

    def __init__(self, who: str, title: str, body: str, split: str | None, remedy: str | None = None) -> None:
        self.who, self.title, self.body, self.split = who, title, body, split
        self._remedy = _REMEDY if remedy is None else remedy
        self._lacking = self._texts = 0

    def read(self, batch: Texts) -> tuple[Texts, Texts]:
        """Return the titles and the bodies; raise InputError where the texts have none."""
        views = two_views(batch, self.title, self.body, self.split, self.who, self._remedy)
        self._lacking, self._texts = self._lacking + sum(views.lacking), self._texts + len(batch)
        return views.title, views.body

    def notes(self) -> list[str]:
        """Return how many texts lacked one of the two views, since last asked."""
        lacking, texts, self._lacking, self._texts = self._lacking, self._texts, 0, 0
        what = f"an empty {self.title} or {self.body}" if self.split is None else "no second part"
        note = f"{self.who}: {lacking:,} of {texts:,} texts have {what}: what there is stands for both"
        return [note] if lacking else []


def two_views(
    batch: Texts, title: str, body: str, split: str | None, who: str, remedy: str = _REMEDY
) -> Views:
    """Return the two views of each text; `who` reads them, and `remedy` helps, in messages.

    Without `split` they are the fields `title` and `body` ("text" is the text itself, where no field is
    called so). `first-sentence`: the first sentence (or line) and the rest. `halves`: the first and the
    second half of the words; of the characters where there are no blanks. Where one of the two is empty, the
    other stands for both. Raises InputError where the data have no such field.
    """
    if split is None:
        parts = list(zip(*(_field(batch, name, who, remedy) for name in (title, body)), strict=True))
    else:
        cut = _first_sentence if split == "first-sentence" else _halves
        parts = [cut(text) for text in batch.text]
    lacking = [not one.strip() or not other.strip() for one, other in parts]
    whole = [
        (one, other) if one.strip() and other.strip() else (one.strip() or other,) * 2 for one, other in parts
    ]
    return Views(_of(batch, [one for one, _ in whole]), _of(batch, [other for _, other in whole]), lacking)


def _of(batch: Texts, text: list[str]) -> Texts:
    """Put other texts into a batch, without other fields."""
    return replace(batch, text=text, context=(), fields={})


def _field(batch: Texts, name: str, who: str, remedy: str) -> Sequence[str]:
    if name in batch.fields:
        return batch.fields[name]
    if name == WHOLE:
        return batch.text
    columns = (
        f"its columns of texts are {listed((WHOLE, *batch.fields))}"
        if batch.fields
        else "its only one is text"
    )
    where = f" (row {batch.ids[0]!r}, {batch.language[0]})" if len(batch) else ""
    raise InputError(
        f"{who} reads the columns of a title and a body, and the data have no column {name!r}{where}: "
        f"{columns}.{did_you_mean(name, batch.fields)} {remedy}"
    )


def _first_sentence(text: str) -> tuple[str, str]:
    text = text.strip()
    for end in _END.finditer(text):
        if text[: end.start()].strip() and text[end.end() :].strip():
            return text[: end.start()], text[end.end() :]
    return text, ""


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) > 1:
        middle = (len(words) + 1) // 2
        return " ".join(words[:middle]), " ".join(words[middle:])
    whole = "".join(words)
    middle = (len(whole) + 1) // 2
    return whole[:middle], whole[middle:]
