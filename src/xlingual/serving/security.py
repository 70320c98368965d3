"""The guard before every page: headers on every answer, limits on size and rate, no requests of other sites.

There are no cookies: a link carries its token, so another site cannot act in a visitor's name without knowing
the link. A POST is refused all the same where the browser says that another site's page sent it.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xlingual.serving.limits import Buckets, Limits
from xlingual.serving.web import whole_number

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",  # the token is in the address
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_METHODS = ("GET", "HEAD", "POST")


class Guard:
    """An ASGI application around another: nothing reaches it, and nothing leaves it, but through here."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Collection[str] | None = None) -> None:
        self._app, self._limits, self._hosts = app, limits, hosts
        self._addresses = Buckets(limits.address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":  # web sockets are not spoken here
                await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is None:
            await self._pass_on(scope, receive, guarded)
        else:
            await PlainTextResponse(refusal[1] + "\n", refusal[0])(scope, receive, guarded)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, no more of it than allowed, and hand the request on."""
        body, more = b"", scope["method"] == "POST"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message.get("body", b""), message.get("more_body", False)
            if len(body) > self._limits.body:
                await PlainTextResponse("The request is too large.\n", 413)(scope, receive, send)
                return
        whole = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, again, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        client = scope.get("client")
        if not self._addresses.take(client[0] if client else ""):
            return 429, "Too many requests: wait a little."
        if scope["method"] not in _METHODS:
            return 405, "Not allowed."
        if self._hosts is not None and host_name(headers.get("host", "")) not in self._hosts:
            return 421, "Not a name of this server."  # a name of another site that leads here (DNS rebinding)
        length = whole_number(headers.get("content-length", "0"))
        if length is None or length > self._limits.body:
            return 413, "The request is too large."
        if scope["method"] == "POST" and not from_here(headers):
            return 403, "Sent from another site."
        return None


def host_name(host: str) -> str:
    """Return the name in a `Host` header, without its port.

    >>> host_name("localhost:8080"), host_name("[::1]:8080"), host_name("evil.example")
    ('localhost', '::1', 'evil.example')
    """
    name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    return name.lower()


def from_here(headers: Headers) -> bool:
    """Return whether a POST comes from a page of this server, as far as the browser says.

    `Sec-Fetch-Site` decides where there is one; browsers leave it out on plain http. Then `Origin` must name
    this host. It is "null" on forms of pages that send no referrer, as these do, and absent outside browsers:
    both pass, since the token in the address is what counts.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin", "null")
    return origin == "null" or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return guarded
