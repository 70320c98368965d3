"""The application that all servers are: routes to handlers, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xlingual.errors import InputError
from xlingual.serving.limits import Limits
from xlingual.serving.security import Guard
from xlingual.serving.web import Static, environment

_WRITERS = 16  # threads that may wait to write at once


def application(
    served: object,
    routes: Sequence[Route],
    folder: Path,
    *,
    limits: Limits,
    refused: Callable[[Request, Exception], Awaitable[Response]],
    close: Callable[[], None],
    hosts: Collection[str] | None = None,
) -> Guard:
    """Return the ASGI application.

    Args:
        served: what handlers get; see `web.endpoint`.
        routes: its own; `/static/NAME` gives the files of `static/` in the folder, and htmx.
        folder: has `static/` and `templates/`.
        limits: how often visitors may ask.
        refused: answers where a page is not found or fails.
        close: called when the server stops.
        hosts: names that the server goes by, all others are refused; None: any.

    """
    static = Static(folder / "static")

    @asynccontextmanager
    async def lifespan(running: Starlette) -> AsyncIterator[None]:
        running.state.writers = CapacityLimiter(_WRITERS)
        yield
        close()

    async def file(request: Request) -> Response:
        return static.response(request.path_params["name"])

    app = Starlette(
        routes=[*routes, Route("/static/{name}", file)],
        lifespan=lifespan,
        exception_handlers=dict.fromkeys((HTTPException, InputError, Exception), refused),
    )
    app.router.redirect_slashes = False
    app.state.served, app.state.templates = served, environment(folder / "templates", static)
    return Guard(app, limits, hosts)
