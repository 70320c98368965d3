"""The web application of one study."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xlingual.errors import InputError
from xlingual.serving.app import application
from xlingual.serving.limits import Limits
from xlingual.serving.security import Guard
from xlingual.serving.web import endpoint, page
from xlingual.study.records import Study
from xlingual.study.server import organiser, pages
from xlingual.study.server.state import StudyState

_WORDS = {
    404: ("Nothing here", "Please open the whole of the personal link that you were given."),
    429: ("A moment, please", "That was a lot at once. Wait a little and load the page again."),
    503: (
        "Not saved",
        "The answer could not be written. Please tell the organiser; what was saved stays saved.",
    ),
}
_OTHER = ("That did not work", "Go back and load the page again. What was saved stays saved.")
_HERE = Path(__file__).parent


def create_app(study: Study, folder: Path, limits: Limits | None = None, url: str | None = None) -> Guard:
    """Return the ASGI application that serves a study from its folder.

    `url` is what links begin with that the organiser's page makes; None: what that page was asked by.

    Raises:
        InputError: an image is missing, or the ratings cannot be opened.

    """
    limits = limits or Limits()
    state = StudyState(study, folder, limits, url)
    return application(state, _routes(), _HERE, limits=limits, refused=_refused, close=state.ratings.close)


def _routes() -> list[Route]:
    rater, holder = "/r/{token}", "/o/{token}"
    return [
        Route(rater, endpoint(pages.start)),
        Route(f"{rater}/next", endpoint(pages.onward)),
        Route(f"{rater}/page/{{number}}", endpoint(pages.show), methods=["GET"]),
        Route(f"{rater}/page/{{number}}", endpoint(pages.rate), methods=["POST"]),
        Route(f"{rater}/undo", endpoint(pages.undo), methods=["POST"]),
        Route(f"{rater}/end", endpoint(pages.end)),
        Route(f"{rater}/image/{{shown}}", endpoint(pages.image)),
        Route(holder, endpoint(organiser.overview)),
        Route(f"{holder}/people", endpoint(organiser.people)),
        Route(f"{holder}/preview", endpoint(organiser.preview)),
        Route(f"{holder}/raters", endpoint(organiser.add), methods=["POST"]),
        Route(f"{holder}/raters/{{number}}/link", endpoint(organiser.renew), methods=["POST"]),
    ]


async def _refused(request: Request, error: Exception) -> Response:
    """Answer that a page is not found, always in the same words; slow down whoever keeps on trying."""
    status = getattr(error, "status_code", 503 if isinstance(error, InputError) else 500)
    address = request.client.host if request.client else ""
    if status == 404 and not request.app.state.served.strangers.take(address):
        status = 429
    title, words = _WORDS.get(status, _OTHER)
    return page(request, "refused.html", {"title": title, "words": words}, status)
