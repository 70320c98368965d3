"""The pages: the list of queries, one text, a typed text, the map, images, marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from xlingual.browsing.desk import Desk
from xlingual.browsing.mapping import COLOURS
from xlingual.browsing.searching import LONGEST
from xlingual.browsing.viewing import KIND_WORDS, Card, outcome_of
from xlingual.browsing.wanted import ORDERS, OUTCOMES, RANKS, Wanted
from xlingual.errors import InputError
from xlingual.languages import name_of
from xlingual.serving.web import Form, page, see, whole_number

ON_A_PAGE = 50
_FOUND = 40  # texts that a search shows
_KEPT = "private, max-age=86400"


def queries(desk: Desk, request: Request, _: Form) -> Response:
    """Show the queries that are wanted."""
    wanted = _wanted(desk, request)
    lines = desk.looking.lines(wanted)
    pages = max(1, -(-len(lines) // ON_A_PAGE))
    number = min(max(whole_number(request.query_params.get("page", "1")) or 1, 1), pages)
    shown = lines[(number - 1) * ON_A_PAGE : number * ON_A_PAGE]
    one = desk.looking.queries[wanted.encoder]
    rows = [_line(desk, wanted, one, line) for line in shown.tolist()]
    own = {"rows": rows, "found": len(lines), "of": len(one), "page": number, "pages": pages}
    answer = page(request, "queries.html", _values(desk, request, wanted) | own)
    if "hx-request" in request.headers and "hx-history-restore-request" not in request.headers:
        answer.headers["HX-Push-Url"] = (
            f"{desk.base}/{wanted.address(desk.usual)}"  # what is as usual stays out
        )
    return answer


def text(desk: Desk, request: Request, _: Form) -> Response:
    """Show one text and its neighbours."""
    looking, wanted = desk.looking, _wanted(desk, request)
    row = _row(desk, request.path_params["row"])
    targets = _targets(desk, wanted, row)
    to = request.query_params.get("to", "")
    if to not in looking.data.languages:
        to = next(iter(targets), looking.data.languages[0])
    computed = request.query_params.get("near") == "computed"
    names = [wanted.encoder] + ([wanted.beside] if wanted.beside else [])
    sides = [desk.viewer.side(name, row, to, computed=computed) for name in names]
    card = desk.viewer.card(row)
    mark = looking.marks.of(card.language, to, card.id)
    own = {
        "card": card, "to": to, "sides": sides, "targets": targets, "mark": mark, "computed": computed,
        "answer": desk.viewer.answer(row, to), "weak": looking.slices.weak_of(row),
        "labels": _labels(desk, row), "item": looking.data.item_ids[looking.data.item[row]],
        "can_compute": any(name in looking.spaces.texts for name in names),
        **_around(desk, wanted, row, to),
    }  # fmt: skip
    return page(request, "text.html", _values(desk, request, wanted) | own)


def typed(desk: Desk, request: Request, _: Form) -> Response:
    """Show the neighbours of a typed text; one that the data hold is shown as such."""
    looking, wanted = desk.looking, _wanted(desk, request)
    words = request.query_params.get("text", "").strip()
    language = request.query_params.get("in", "")
    if len(words) > LONGEST * 10:
        raise HTTPException(413)
    if language not in looking.data.languages:
        language = looking.data.languages[0]
    if words and (row := looking.search.equal(words, language)) is not None:
        return see(f"{desk.base}/text/{row}{wanted.address(desk.usual)}")
    names = [wanted.encoder] + ([wanted.beside] if wanted.beside else [])
    sides = [desk.viewer.typed(name, words, language) for name in names] if words else []
    own = {"words": words, "language": language, "sides": sides, "texts": _texts(desk, words)}
    return page(request, "typed.html", _values(desk, request, wanted) | own)


def map_page(desk: Desk, request: Request, _: Form) -> Response:
    """Show the map; its points come as JSON."""
    looking, wanted = desk.looking, _wanted(desk, request)
    asked = request.query_params
    name = asked.get("of", wanted.encoder)
    name = name if name in looking.names else wanted.encoder
    why = ""
    try:
        desk.maps.flat(name, "pca")
    except InputError as error:
        why = str(error)
    colour = asked.get("colour", "language")
    own = {
        "of": name, "why": why, "methods": desk.maps.methods(), "method": asked.get("method", "pca"),
        "colour": colour if colour in COLOURS else "language", "colours": COLOURS,
        "row": asked.get("row", ""), "to": asked.get("to", ""),
        "map_slice": wanted.slice,
    }  # fmt: skip
    return page(request, "map.html", _values(desk, request, wanted) | own)


def map_points(desk: Desk, request: Request, _: Form) -> Response:
    """Return the points of a map."""
    asked, wanted = request.query_params, _wanted(desk, request)
    name = asked.get("of", wanted.encoder)
    way: Sequence[int] = ()
    row, to = whole_number(asked.get("row", "")), asked.get("to", "")
    if row is not None and row < len(desk.looking.data) and to in desk.looking.data.languages:
        way = desk.viewer.side(name, row, to).way
    try:
        drawn = desk.maps.drawn(name, asked.get("method", "pca"), asked.get("colour", ""), wanted.slice, way)
    except InputError as error:
        return JSONResponse({"why": str(error)})
    return JSONResponse(drawn)


def image(desk: Desk, request: Request, _: Form) -> Response:
    """Send the thumbnail of an image, chosen by its number; a placeholder where there is none to open."""
    slot = whole_number(request.path_params["slot"])
    if slot is None or slot >= len(desk.looking.data.image_source):
        raise HTTPException(404)
    content = (desk.large if request.query_params.get("size") == "large" else desk.small)(slot)
    if content is None:
        return Response(desk.placeholder, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
    return Response(content, media_type="image/jpeg", headers={"Cache-Control": _KEPT})


def mark(desk: Desk, request: Request, form: Form) -> Response:
    """Keep a mark and a note on a query; they are on the disk before the page says so."""
    looking = desk.looking
    row = _row(desk, request.path_params["row"])
    to = form.get("to", "")
    if to not in looking.data.languages:
        raise HTTPException(400)
    card = desk.viewer.card(row)
    kept = looking.marks.put(
        card.language, to, card.id, marked=form.get("marked") == "yes", note=form.get("note", "")
    )
    if request.headers.get("hx-request") == "true":
        return page(
            request, "mark.html", {"mark": kept, "saved": True, "base": desk.base, "card": card, "to": to}
        )
    return see(f"{desk.base}/text/{row}?to={to}")


def marks_csv(desk: Desk, _: Request, __: Form) -> Response:
    """Give out all marks and notes as CSV."""
    content = desk.looking.marks.csv(desk.looking.data, desk.looking.rows)
    headers = {"Content-Disposition": 'attachment; filename="marks.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _wanted(desk: Desk, request: Request) -> Wanted:
    return desk.looking.checked(Wanted.of(request.query_params, desk.usual))


def _row(desk: Desk, text: str) -> int:
    row = whole_number(text)
    if row is None or row >= len(desk.looking.data):
        raise HTTPException(404)
    return row


def _values(desk: Desk, request: Request, wanted: Wanted) -> dict[str, Any]:
    """Return what every page shows."""
    looking = desk.looking
    return {
        "base": desk.base, "title": desk.title, "wanted": wanted, "usual": desk.usual, "looking": looking,
        "data_languages": looking.data.languages, "name_of": _named, "kinds": KIND_WORDS,
        "outcomes": OUTCOMES, "orders": ORDERS, "ranks": RANKS, "slices": _grouped(looking.slices.shown),
        "marked": len(looking.marks.all()), "can_type": bool(looking.spaces.texts),
    }  # fmt: skip


def _named(tag: str) -> str:
    return name_of(tag) or tag


def _grouped(shown: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in shown:
        found.setdefault(one.group, []).append(one)
    return found


def _line(desk: Desk, wanted: Wanted, one: Any, line: int) -> dict[str, Any]:  # noqa: ANN401
    """Return a line of the list."""
    row, (source, target) = int(one.row[line]), one.pairs[one.pair[line]]
    near = one.neighbours(line)
    other = wanted.beside and desk.viewer.outcome(wanted.beside, row, target)
    return {
        "query": desk.viewer.card(row),
        "target": target,
        "found": desk.viewer.card(near[0].row, near[0].score, row, one.hubs) if near else None,
        "outcome": outcome_of(one, line),
        "beside": other or None,
        "mark": desk.looking.marks.of(source, target, desk.looking.data.ids[row]),
        "address": f"{desk.base}/text/{row}{wanted.address(desk.usual, to=target)}",
    }


def _texts(desk: Desk, words: str) -> dict[str, Any]:
    rows = desk.looking.search.find(words)
    cards: list[Card] = [desk.viewer.card(row) for row in rows[:_FOUND].tolist()]
    return {"n": len(rows), "cards": cards}


def _targets(desk: Desk, wanted: Wanted, row: int) -> list[str]:
    """Return the languages in which a text was a query of the encoder, the one that is filtered first."""
    source = desk.looking.data.languages[desk.looking.data.language[row]]
    found = [
        target
        for one, target in desk.looking.pairs
        if one == source and desk.viewer.outcome(wanted.encoder, row, target) is not None
    ]
    return sorted(found, key=lambda tag: tag != wanted.target)


def _labels(desk: Desk, row: int) -> list[tuple[str, str]]:
    """Return the columns of the manifest that say something of a text."""
    data = desk.looking.data
    found = [(name, str(column[row])) for name, column in data.labels.items() if column[row] is not None]
    numbers = [
        (name, f"{values[row]:g}") for name, values in data.numbers.items() if np.isfinite(values[row])
    ]
    return found + [one for one in numbers if one[0] not in data.labels]


def _around(desk: Desk, wanted: Wanted, row: int, to: str) -> dict[str, Any]:
    """Return the place of a query among those that are wanted, and the addresses of those beside it."""
    looking = desk.looking
    one, lines = looking.queries[wanted.encoder], looking.lines(wanted)
    pair = (looking.data.languages[looking.data.language[row]], to)
    line = one.line(row, looking.pairs.index(pair)) if pair in looking.pairs else None
    places = np.flatnonzero(lines == line) if line is not None else lines[:0]
    place = int(places[0]) if len(places) else None

    def address(at: int) -> str | None:
        if not 0 <= at < len(lines):
            return None
        target = one.pairs[one.pair[lines[at]]][1]
        return f"{desk.base}/text/{int(one.row[lines[at]])}{wanted.address(desk.usual, to=target)}"

    after = 0 if place is None else place + 1
    return {
        "place": place, "n_lines": len(lines), "next": address(after),
        "previous": None if place is None else address(place - 1),
    }  # fmt: skip
