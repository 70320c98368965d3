"""Serve what is looked at until it is stopped."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import closing

from xlingual.browsing.looking import Looking
from xlingual.errors import InputError
from xlingual.serving.run import address_of, is_loopback, listen, run


def check_host(host: str) -> None:
    """Raise InputError for an address that other machines reach."""
    if not is_loopback(host):
        raise InputError(
            f"--host {host}: pages show your data to whoever has the address, over http without encryption, "
            "so only this machine may reach them: leave it at 127.0.0.1. From another one use an SSH tunnel "
            "(ssh -L 8090:127.0.0.1:8090 THIS-MACHINE)"
        )


def serve(
    looking: Looking,
    title: str,
    ready: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = 8090,
    encoders: Sequence[str] = (),
) -> None:
    """Serve until Ctrl-C; `ready` is called with the address, which holds a token, once the port is open.

    Raises InputError where other machines could reach the host, or the port is taken.
    """
    check_host(host)
    from xlingual.browsing.app import create_app
    from xlingual.browsing.desk import Desk

    desk = Desk(looking, secrets.token_urlsafe(18), title, encoders)
    with closing(listen(host, port)) as listening:
        app = create_app(desk)
        ready(f"{address_of(host, listening)}{desk.base}/")
        run(app, listening)
