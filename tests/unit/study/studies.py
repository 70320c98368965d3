"""Small studies made by hand: texts in several scripts, some with images."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from xlingual.study.folder import IMAGES, write_study
from xlingual.study.records import Credit, Query, Shown, Study, StudyKey, StudyPage

TEXTS = {
    "en": ("A red bicycle leans against a brick wall.", "Two children fly a kite on the beach.", "A bowl of soup."),  # noqa: E501
    "ar": ("دراجة حمراء مسنودة إلى جدار من الطوب.", "طفلان يطيران طائرة ورقية على الشاطئ.", "وعاء من الحساء مع الخبز."),  # noqa: E501
    "ja": ("赤い自転車がレンガの壁に立てかけてある。", "二人の子どもが浜辺で凧をあげている。", "湯気の立つスープの器と焼きたてのパン。"),  # noqa: E501
    "ru": ("Красный велосипед у кирпичной стены.", "Двое детей запускают змея на пляже.", "Тарелка супа."),
}  # fmt: skip
TITLE = "# Which texts fit?\n\nYou see a *query* and some suggestions. Say how relevant each one is.\n"


class Made(NamedTuple):
    """A study on disk."""

    folder: Path
    study: Study


def make_study(
    folder: Path,
    *,
    target="ar",
    queries=3,
    suggestions=4,
    raters=2,
    images=True,
    repeat=False,
    title=TITLE,
) -> Made:
    """Write a study; images are small coloured squares."""
    shown = folder / IMAGES
    shown.mkdir(parents=True)
    asked = tuple(_query(shown, number, target, suggestions, images) for number in range(queries))
    orders = tuple(_order(asked, shift, repeat) for shift in range(2))
    study = Study(
        "study00001", "A study", "2026-01-01T00:00:00+00:00", "en", target, asked, orders,
        per_system=suggestions, raters=raters, seed=0, key_digest="",
    )  # fmt: skip
    ids = [one.id for query in asked for one in query.suggestions]
    credits = {name: (Credit("a" if place % 2 else "b", 1, 0.5),) for place, name in enumerate(ids)}
    study = write_study(folder, study, StudyKey("study00001", {"a": "A", "b": "B"}, credits), title)
    return Made(folder, study)


def _query(folder: Path, number: int, target: str, suggestions: int, images: bool) -> Query:
    shown = Shown(f"q{number:03}", TEXTS["en"][number % 3], "en", _image(folder, f"q{number}", images))
    made = []
    for place in range(suggestions):
        name = f"s{number:03}x{place:02}"
        text = TEXTS[target][(number + place) % 3] * (1 + place % 3)
        made.append(Shown(name, text, target, _image(folder, name, images)))
    return Query(shown, tuple(made))


def _image(folder: Path, name: str, wanted: bool) -> str | None:
    if not wanted:
        return None
    size = (320, 240) if len(name) % 2 else (240, 320)
    (folder / f"p{name}.webp").write_bytes(_painted(size, sum(map(ord, name)) * 47 % 360))
    return f"p{name}.webp"


@cache
def _painted(size: tuple[int, int], hue: int) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, f"hsl({hue}, 45%, 70%)")
    ImageDraw.Draw(image).ellipse((60, 50, 200, 190), fill=f"hsl({(hue + 140) % 360}, 50%, 45%)")
    file = BytesIO()
    image.save(file, "WEBP")
    return file.getvalue()


def _order(queries: tuple[Query, ...], shift: int, repeat: bool) -> tuple[StudyPage, ...]:
    pages = []
    for query in queries[shift:] + queries[:shift]:
        names = [one.id for one in query.suggestions]
        pages.append(StudyPage(query.shown.id, tuple(names[::-1] if shift else names)))
    if repeat:
        pages.append(StudyPage(pages[0].query, pages[0].suggestions[::-1], 1))
    return tuple(pages)
