"""Serve a study until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.errors import InputError
from xlingual.study.folder import read_study
from xlingual.study.links import addresses, ensure_links

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

LOCK_FILE = ".serving"
_BACKLOG = 512


def serve(
    folder: Path,
    host: str,
    port: int,
    ready: Callable[[str, list[tuple[str, str]]], None],
    url: str | None = None,
    trust_proxy: str | None = None,
) -> None:
    """Serve the study in a folder until Ctrl-C or SIGTERM.

    Args:
        folder: the study's folder; nothing in `secret/` is opened.
        host: address or name to listen on.
        port: port to listen on; 0 takes a free one.
        ready: called once the port is open, with the server's address and whose each link is.
        url: what links begin with that are made later, where a proxy stands before the server.
        trust_proxy: addresses, with commas between, of proxies whose `X-Forwarded-For` gives the rater's
            address; None: that header is ignored.

    Raises:
        InputError: no study there, served already, the port is taken, an image is missing.

    """
    import uvicorn

    from xlingual.study.server.app import create_app

    study = read_study(folder)
    with _lock(folder), closing(_listen(host, port)) as listening:
        links = ensure_links(folder, study.raters)
        app = create_app(study, folder, url=url)
        base = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        ready(base, list(addresses(links, base)))
        with suppress(KeyboardInterrupt):  # uvicorn has shut down in order when it raises this
            uvicorn.Server(server_config(app, trust_proxy)).run(sockets=[listening])


def server_config(app: ASGIApp, trust_proxy: str | None) -> uvicorn.Config:
    """Return how uvicorn serves the application; see `serve` for the arguments."""
    import uvicorn

    from xlingual.study.server.connections import Patience, patient_protocol

    # No access log: an address holds a rater's token.
    return uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, ws="none", lifespan="on",
        timeout_graceful_shutdown=3, limit_concurrency=900, http=patient_protocol(Patience()),
        proxy_headers=trust_proxy is not None, forwarded_allow_ips=trust_proxy or "",
    )  # fmt: skip


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


def _lock(folder: Path) -> AbstractContextManager[object]:
    """Hold the study's lock; it ends with the process, even one that is killed."""
    from filelock import FileLock, Timeout

    try:
        return FileLock(folder / LOCK_FILE, timeout=0, mode=0o600).acquire()
    except Timeout:
        raise InputError(f"{folder} is being served already: use that server, or stop it first") from None


def _listen(host: str, port: int) -> socket.socket:
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
