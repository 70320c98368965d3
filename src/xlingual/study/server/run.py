"""Serve a study until it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

from xlingual.errors import InputError
from xlingual.serving.run import address_of, listen, run
from xlingual.study.folder import read_study
from xlingual.study.links import addresses, ensure_links

LOCK_FILE = ".serving"


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
    from xlingual.study.server.app import create_app

    study = read_study(folder)
    with _lock(folder), closing(listen(host, port)) as listening:
        links = ensure_links(folder, study.raters)
        app = create_app(study, folder, url=url)
        base = address_of(host, listening)
        ready(base, list(addresses(links, base)))
        run(app, listening, trust_proxy)


def _lock(folder: Path) -> AbstractContextManager[object]:
    """Hold the study's lock; it ends with the process, even one that is killed."""
    from filelock import FileLock, Timeout

    try:
        return FileLock(folder / LOCK_FILE, timeout=0, mode=0o600).acquire()
    except Timeout:
        raise InputError(f"{folder} is being served already: use that server, or stop it first") from None
