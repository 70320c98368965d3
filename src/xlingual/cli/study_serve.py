"""`xlingual study serve`: show a study to raters in their browsers."""

from __future__ import annotations

from pathlib import Path

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import MissingExtraError
from xlingual.extras import missing
from xlingual.requests.study import ServeStudyRequest


@command(ServeStudyRequest, short_help="Show a study to raters, until Ctrl-C.")
def serve(asked: ServeStudyRequest) -> None:
    """Serve the study in the folder STUDY to raters, until Ctrl-C.

    Prints a personal link for each rater and the organiser's. Every answer is on the disk before the page
    says so; stop and start as you like. What is in STUDY/secret is never opened, and need not be there.
    """
    if missing("study"):
        raise MissingExtraError("the study's server", "study")
    from xlingual.study.server.run import serve as run

    study, host, url = asked.study, asked.host, asked.url
    run(
        study,
        host,
        asked.port,
        lambda base, links: _announce(study, host, base, links, url),
        url,
        asked.trust_proxy,
    )
    screen.say("\nStopped. Every answer that raters saw as saved is in the study's folder.")


def _announce(study: Path, host: str, base: str, links: list[tuple[str, str]], url: str | None) -> None:
    """Print where the study is served, and the links to hand out."""
    from xlingual.study.server.run import is_loopback, is_unspecified

    screen.say(f"Serving {study} at {base}  (Ctrl-C stops it)\n")
    width = max((len(who) for who, _ in links), default=0)
    for who, address in links:
        shown = address if url is None else url.rstrip("/") + address.removeprefix(base)
        screen.say(f"  {who:<{width}}  {shown}")
    if not links:
        screen.say("  links.csv is not in the folder: raters use the links they have.")
    if is_unspecified(host) and url is None and links:
        screen.say(
            f"\n{host} stands for every address of this machine: in the links, put its name or address as"
            " raters' devices know it in its place, or give it by --url."
        )
    if not is_loopback(host):
        screen.say(
            "\nwarning: other machines can reach this server, over http without encryption: whoever listens"
            " on the network can read answers and links. Outside a network you trust leave --host at"
            " 127.0.0.1 and put a proxy with TLS before it (--url names its address).",
            err=True,
        )
    elif url is None:
        screen.say("\nOnly this machine reaches it; --host 0.0.0.0 opens it to the network.")
