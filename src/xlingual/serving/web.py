"""Requests, forms and templates: from a request to a handler, and from its values to a response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from xlingual.languages import direction
from xlingual.visible import visible_value

if TYPE_CHECKING:
    import jinja2

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"
_FIELDS = 2000  # of a form, at most
_DIGITS = 15  # of a number in a path or form: more than any page or change has

Form = Mapping[str, str]
Handler = Callable[[Any, Request, Form], Response]  # what is served, the request, its form


class Static:
    """The files of a folder, and htmx, read once; their addresses change with their content."""

    def __init__(self, folder: Path) -> None:
        files = [
            path
            for own in (_HERE / "static", folder)
            for path in sorted(own.iterdir())
            if path.suffix in _TYPES
        ]
        self._files = {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in files}

    def address(self, name: str) -> str:
        """Return the address of a file."""
        return f"/static/{name}?v={sha256(self._files[name][0]).hexdigest()[:12]}"

    def response(self, name: str) -> Response:
        """Return a file; one that does not exist is not found."""
        if name not in self._files:
            raise HTTPException(404)
        body, kind = self._files[name]
        return Response(body, media_type=kind, headers={"Cache-Control": _FOR_EVER})


def environment(folder: Path, static: Static) -> jinja2.Environment:
    """Return the templates of a folder: everything is escaped, and a missing value is an error."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _HERE / "templates"]),
        autoescape=True,
        finalize=visible_value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(static=static.address, direction=direction, swap=False)
    for name in made.list_templates():  # compiled now, not while the first visitors wait
        made.get_template(name)
    return made


def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a handler, which may wait for the disk: it runs in a thread.

    Handlers that write have separate threads: where all of these wait for another program, pages still load.
    """

    async def run(request: Request) -> Response:
        writes = request.method == "POST"
        form = await _form(request) if writes else {}
        state = request.app.state
        threads = state.writers if writes else None
        return await to_thread.run_sync(handler, state.served, request, form, limiter=threads)

    return run


def whole_number(text: str) -> int | None:
    """Return the number of a path or form, or None where it is none; Python refuses to read 5,000 digits.

    >>> whole_number("12"), whole_number("-1"), whole_number("1" * 5000)
    (12, None, None)
    """
    return int(text) if len(text) <= _DIGITS and text.isascii() and text.isdigit() else None


def page(request: Request, name: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """Return a page from a template and its values."""
    return HTMLResponse(request.app.state.templates.get_template(name).render(values), status)


def see(path: str) -> RedirectResponse:
    """Send the browser to a page of this server."""
    return RedirectResponse(path, 303)


async def _form(request: Request) -> dict[str, str]:
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded").partition(";")[0].strip()
    if kind.lower() != "application/x-www-form-urlencoded":
        raise HTTPException(415)
    try:
        fields = parse_qs((await request.body()).decode("utf-8"), max_num_fields=_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(400) from None
    return {name: values[-1] for name, values in fields.items()}
