"""The pages of a rater: start, one query with its suggestions, end."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from xlingual.serving.limits import Buckets
from xlingual.serving.web import Form, page, see, whole_number
from xlingual.study.database import Rater
from xlingual.study.links import find_rater
from xlingual.study.server.state import RaterPage, StudyState, first_open, scores_expected, scores_given

_KEPT = "private, max-age=86400"  # images do not change; a shared cache shall not keep them


def start(state: StudyState, request: Request, _: Form) -> Response:
    """Show title, instructions and how far the rater has come."""
    rater = _rater(state, request)
    state.opened(rater)
    values = _values(state, request, rater) | instructions(state) | {"preview": False}
    return page(request, "start.html", values)


def onward(state: StudyState, request: Request, _: Form) -> Response:
    """Go to the first page that lacks an answer, or to the end."""
    rater = _rater(state, request)
    rater_page = first_open(state.pages(rater), state.scores(rater))
    base = _base(request)
    return see(f"{base}/end" if rater_page is None else f"{base}/page/{rater_page.number}")


def show(state: StudyState, request: Request, _: Form) -> Response:
    """Show a query and its suggestions."""
    rater = _rater(state, request)
    state.opened(rater)
    return _rating_page(state, request, rater, _requested_page(state, request, rater))


def rate(state: StudyState, request: Request, form: Form) -> Response:
    """Keep one answer (from a script) or all of a page (from its form), then say so or go on."""
    rater = _rater(state, request)
    rater_page = _requested_page(state, request, rater)
    answers = _answers(form, rater_page, len(state.study.labels))
    state.rate(rater, rater_page, answers)
    if request.headers.get("hx-request") == "true":
        if len(answers) != 1:
            raise HTTPException(400)
        fragment = {"swap": True, "suggestion": next(iter(answers))}
        return page(request, "saved.html", _values(state, request, rater) | fragment)
    lacking = len(rater_page.suggestions) - len(rater_page.scores(state.scores(rater)))
    if lacking:
        return _rating_page(state, request, rater, rater_page, missing=lacking)
    return onward(state, request, form)


def undo(state: StudyState, request: Request, form: Form) -> Response:
    """Take the last answer back and show where it was; the same form sent twice takes back one."""
    rater = _rater(state, request)
    number = whole_number(form.get("change", ""))
    change = None if number is None else state.ratings.undo(rater.name, number)
    base = _base(request)
    for rater_page in state.pages(rater):
        if change and (rater_page.query.shown.id, rater_page.occasion) == (change.query, change.occasion):
            return see(f"{base}/page/{rater_page.number}#s-{change.suggestion}")
    return see(f"{base}/next")


def end(state: StudyState, request: Request, _: Form) -> Response:
    """Thank the rater, once everything is rated."""
    rater = _rater(state, request)
    if first_open(state.pages(rater), state.scores(rater)) is not None:
        return onward(state, request, {})
    state.opened(rater)
    return page(request, "end.html", _values(state, request, rater))


def image(state: StudyState, request: Request, _: Form) -> Response:
    """Send the image of a query or suggestion, chosen by its id from a table."""
    _rater(state, request, state.image_requests)
    path = state.images.get(request.path_params["shown"])
    if path is None or not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, headers={"Cache-Control": _KEPT})


def instructions(state: StudyState) -> dict[str, object]:
    """Return the instructions for a template: HTML that the Markdown reader made, fit to be shown."""
    from markupsafe import Markup

    return {"instructions": Markup(state.title().html)}


def _rater(state: StudyState, request: Request, permits: Buckets | None = None) -> Rater:
    rater = find_rater(state.ratings, request.path_params["token"])
    if rater is None:
        raise HTTPException(404)
    if not (permits or state.tokens).take(rater.token_digest):
        raise HTTPException(429)
    return rater


def _requested_page(state: StudyState, request: Request, rater: Rater) -> RaterPage:
    rater_pages, number = state.pages(rater), whole_number(request.path_params["number"])
    if number is None or not 1 <= number <= len(rater_pages):
        raise HTTPException(404)
    return rater_pages[number - 1]


def _answers(form: Form, rater_page: RaterPage, scores: int) -> dict[str, int]:
    """Return the scores of a form by suggestion; anything that the page does not ask for is refused."""
    allowed = {f"score-{one.id}": one.id for one in rater_page.suggestions}
    values = {str(score): score for score in range(1, scores + 1)}
    if any(name not in allowed or value not in values for name, value in form.items()):
        raise HTTPException(400)
    return {allowed[name]: values[value] for name, value in form.items()}


def _rating_page(
    state: StudyState, request: Request, rater: Rater, rater_page: RaterPage, missing: int = 0
) -> Response:
    values = _values(state, request, rater)
    own = {"rater_page": rater_page, "given_here": rater_page.scores(state.scores(rater)), "missing": missing}
    return page(request, "rate.html", values | own)


def _values(state: StudyState, request: Request, rater: Rater) -> dict[str, object]:
    """Return what every page of a rater shows."""
    rater_pages, scores = state.pages(rater), state.scores(rater)
    return {
        "title": state.title().text,
        "labels": state.study.labels,
        "base": _base(request),
        "rater_pages": rater_pages,
        "scores": scores,
        "asked": scores_expected(rater_pages),
        "given": scores_given(rater_pages, scores),
        "change": state.ratings.last_change(rater.name),
    }


def _base(request: Request) -> str:
    return f"/r/{request.path_params['token']}"
