"""Listening, and serving an application until it is stopped."""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from xlingual.errors import InputError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

_BACKLOG = 512


def run(app: ASGIApp, listening: socket.socket, trust_proxy: str | None = None) -> None:
    """Serve an application at an open port until Ctrl-C or SIGTERM; see `server_config`."""
    import uvicorn

    with suppress(KeyboardInterrupt):  # uvicorn has shut down in order when it raises this
        uvicorn.Server(server_config(app, trust_proxy)).run(sockets=[listening])


def server_config(app: ASGIApp, trust_proxy: str | None) -> uvicorn.Config:
    """Return how uvicorn serves an application.

    `trust_proxy` has the addresses, with commas between, of proxies whose `X-Forwarded-For` gives the address
    of who asks; None: that header is ignored.
    """
    import uvicorn

    from xlingual.serving.connections import Patience, patient_protocol

    # No access log: an address holds a rater's token.
    return uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, ws="none", lifespan="on",
        timeout_graceful_shutdown=3, limit_concurrency=900, http=patient_protocol(Patience()),
        proxy_headers=trust_proxy is not None, forwarded_allow_ips=trust_proxy or "",
    )  # fmt: skip


def address_of(host: str, listening: socket.socket) -> str:
    """Return the address of a server that listens, as a browser takes it."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or bool((found := _ip(host)) and found.is_loopback)


def is_unspecified(host: str) -> bool:
    """Return whether an address stands for all addresses of this machine, so that no link can hold it.

    >>> is_unspecified("0.0.0.0"), is_unspecified("::"), is_unspecified("localhost")
    (True, True, False)
    """
    return bool((found := _ip(host)) and found.is_unspecified)


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        return ip_address(host)
    return None


def listen(host: str, port: int) -> socket.socket:
    """Open a port, 0 for a free one; raise InputError where that cannot be done."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InputError(
            f"--host {host}: no address of this machine: use 127.0.0.1, or 0.0.0.0 for all"
        ) from None
    made = socket.socket(family, kind, protocol)  # asyncio sends at once (TCP_NODELAY) where it sees TCP here
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        reason = error.strerror or str(error)
        raise InputError(
            f"{host}:{port} cannot be opened ({reason}): choose another --port or --host"
        ) from None
    return made
