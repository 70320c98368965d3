"""The organiser's pages: how far each rater is, more links, the first page as raters see it. No scores."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from xlingual.serving.web import Form, page, see, whole_number
from xlingual.study.links import add_rater, addresses, is_organiser, renew_link
from xlingual.study.server.pages import instructions
from xlingual.study.server.state import StudyState, scores_expected, scores_given


def overview(state: StudyState, request: Request, _: Form) -> Response:
    """Show progress, and once the link that was just made."""
    base = _enter(state, request)
    link, state.fresh_link = state.fresh_link, None
    whole = addresses([link] if link else [], state.url or str(request.base_url))
    fresh = [{"who": who, "address": address} for who, address in whole]
    values = {"title": state.title().text, "link": fresh[0] if fresh else None, "base": base}
    return page(request, "organiser.html", _people(state) | values)


def people(state: StudyState, request: Request, _: Form) -> Response:
    """Show the table alone: the page asks for it every few seconds."""
    base = _enter(state, request)
    return page(request, "people.html", _people(state) | {"base": base})


def add(state: StudyState, request: Request, form: Form) -> Response:
    """Add a rater; the next page shows the link. The same form sent twice (a double click) adds one."""
    base = _enter(state, request)
    known = str(len(state.ratings.raters()))
    if form.get("after", known) == known:
        state.fresh_link = add_rater(state.ratings)[1]
    return see(base)


def renew(state: StudyState, request: Request, _: Form) -> Response:
    """Give a rater another link; the next page shows it."""
    base = _enter(state, request)
    number = whole_number(request.path_params["number"])
    rater = next((one for one in state.ratings.raters() if one.number == number), None)
    if rater is None:
        raise HTTPException(404)
    state.fresh_link = renew_link(state.ratings, rater)
    return see(base)


def preview(state: StudyState, request: Request, _: Form) -> Response:
    """Show title and instructions as raters see them."""
    base = _enter(state, request)
    rater_pages, labels = state.pages_of(0), state.study.labels
    counts = {
        "rater_pages": rater_pages,
        "asked": scores_expected(rater_pages),
        "given": 0,
        "scores": {},
        "labels": labels,
    }
    values = counts | instructions(state) | {"title": state.title().text, "base": base, "preview": True}
    return page(request, "start.html", values)


def _enter(state: StudyState, request: Request) -> str:
    """Return the organiser's address, or find nothing."""
    token = request.path_params["token"]
    if not is_organiser(state.ratings, token):
        raise HTTPException(404)
    if not state.tokens.take("organiser"):
        raise HTTPException(429)
    return f"/o/{token}"


def _people(state: StudyState) -> dict[str, object]:
    rows = []
    for rater in state.ratings.raters():
        rater_pages = state.pages(rater)
        counts = {
            "asked": scores_expected(rater_pages),
            "given": scores_given(rater_pages, state.scores(rater)),
        }
        rows.append({"name": rater.name, "number": rater.number, "seen": _ago(rater.seen), **counts})
    finished = sum(row["given"] == row["asked"] for row in rows)
    return {"rows": rows, "finished": finished, "total": sum(state.ratings.counts().values())}


def _ago(seen: str | None) -> str:
    """Return in words how long ago a time was.

    >>> _ago(None)
    'not yet'
    """
    if seen is None:
        return "not yet"
    minutes = int((datetime.now(UTC) - datetime.fromisoformat(seen)).total_seconds() // 60)
    for length, unit in ((24 * 60, "day"), (60, "hour"), (1, "minute")):
        if (count := minutes // length) > 0:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "now"
