"""The web application that shows results."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xlingual.browsing import pages
from xlingual.browsing.desk import Desk
from xlingual.errors import InputError
from xlingual.serving.app import application
from xlingual.serving.limits import Limits, Rate
from xlingual.serving.security import Guard
from xlingual.serving.web import Handler, endpoint, page

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_WORDS = {
    404: ("Nothing here", "Please open the whole address that xlingual browse printed."),
    413: ("Too long", "Shorten the text and try again."),
    429: ("A moment, please", "That was a lot at once. Wait a little and load the page again."),
}
_OTHER = ("That did not work", "Go back and load the page again. What was saved stays saved.")
_HERE = Path(__file__).parent


def create_app(desk: Desk, limits: Limits | None = None) -> Guard:
    """Return the ASGI application that shows what is on a desk."""
    limits = limits or Limits(address=Rate(5000, 2000))  # one person, whose pages have many images
    return application(
        desk, _routes(), _HERE, limits=limits, refused=_refused, close=lambda: None, hosts=HOSTS
    )


def _routes() -> list[Route]:
    def get(path: str, handler: Handler) -> Route:
        return Route("/{token}" + path, _known(handler), methods=["GET"])

    return [
        get("/", pages.queries),
        get("/text/{row}", pages.text),
        Route("/{token}/text/{row}/mark", _known(pages.mark), methods=["POST"]),
        get("/typed", pages.typed),
        get("/map", pages.map_page),
        get("/map.json", pages.map_points),
        get("/image/{slot}", pages.image),
        get("/marks.csv", pages.marks_csv),
    ]


def _known(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a handler behind the token of the address."""
    inner = endpoint(handler)

    async def run(request: Request) -> Response:
        if not secrets.compare_digest(
            request.path_params["token"].encode(), request.app.state.served.token.encode()
        ):
            raise HTTPException(404)
        return await inner(request)

    return run


async def _refused(request: Request, error: Exception) -> Response:
    """Answer in words that a page is not found or that something failed."""
    status = getattr(error, "status_code", 503 if isinstance(error, InputError) else 500)
    title, words = _WORDS.get(status, _OTHER)
    if status == 503:
        title, words = "Not saved", str(error)
    return page(request, "refused.html", {"title": title, "words": words}, status)
