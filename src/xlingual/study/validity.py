"""What must hold of a study and of its key, whoever wrote them; raised as ValueError in plain words."""

from __future__ import annotations

import re

from xlingual.study.records import BEST, WORST, Key, Page, Query, Study

_ID = re.compile(r"[0-9a-z]{1,40}")
_IMAGE = re.compile(r"[0-9a-z]{1,40}\.(webp|jpg|png)")  # a plain name: never a path


def checked_study(study: Study) -> Study:
    """Return the study; raise ValueError where ids are not unique and plain, or a page shows others."""
    ids = [shown.id for query in study.queries for shown in (query.shown, *query.suggestions)]
    for name in ids:
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise ValueError(f"the id {name!r:.60} is not of small letters and digits")
    if len(set(ids)) < len(ids):
        raise ValueError("two texts have the same id")
    for query in study.queries:
        _check_texts(query)
    if not study.queries or not study.orders:
        raise ValueError("there are no queries, or no orders")
    if len(study.labels) != WORST:
        raise ValueError(f"{len(study.labels)} labels, expected {WORST}")
    shown = {query.shown.id: {one.id for one in query.suggestions} for query in study.queries}
    for order in study.orders:
        _check_order(order, shown)
    return study


def checked_key(key: Key, study: Study) -> Key:
    """Return the key; raise ValueError where it is not about the suggestions of this study."""
    if key.study != study.id:
        raise ValueError(f"the key is of the study {key.study!r:.60}, not of {study.id!r}")
    known = {shown.id for query in study.queries for shown in query.suggestions}
    made, controls = set(key.credits), set(key.controls)
    if made | controls != known:
        raise ValueError("credits and controls are not about the suggestions of the study")
    if made & controls:
        raise ValueError("a control is credited to a system")
    systems = {credit.system for credits in key.credits.values() for credit in credits}
    if systems - set(key.systems):
        raise ValueError(f"unknown systems are credited: {', '.join(sorted(systems - set(key.systems)))}")
    if set(key.controls.values()) - {BEST, WORST}:
        raise ValueError(f"the score of a control is not {BEST} or {WORST}")
    return key


def _check_texts(query: Query) -> None:
    for shown in (query.shown, *query.suggestions):
        if not isinstance(shown.text, str) or not isinstance(shown.language, str):
            raise ValueError(f"the text or language of {shown.id!r} is no text")
        if shown.image is not None and not _IMAGE.fullmatch(shown.image):
            raise ValueError(
                f"the picture {shown.image!r:.60} of {shown.id!r} is not the plain name of a file"
            )


def _check_order(order: tuple[Page, ...], shown: dict[str, set[str]]) -> None:
    """Refuse an order that does not ask each query once, or shows what is not the query's."""
    pages = [(page.query, page.occasion) for page in order]
    if len(set(pages)) < len(pages) or {query for query, occasion in pages if occasion == 0} != set(shown):
        raise ValueError("an order does not ask each query once")
    for page in order:
        if page.occasion not in (0, 1) or page.query not in shown:
            raise ValueError(f"an order has a page of an unknown query or occasion: {page.query!r:.60}")
        if len(page.suggestions) != len(shown[page.query]) or set(page.suggestions) != shown[page.query]:
            raise ValueError(f"a page of {page.query!r} does not show each of its suggestions once")
