"""The links that let people in: an unguessable token for each rater, and one for the organiser.

The tokens themselves are in `links.csv` alone, which only its owner can read; the database has their digests.
A line is `who,path`, the path being what follows the server's address: `/r/TOKEN` or `/o/TOKEN`.
"""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import partial
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from xlingual.errors import InputError
from xlingual.study.database import Rater, Ratings
from xlingual.study.folder import LINKS_FILE

ORGANISER = "organiser"
_BYTES = 24  # of randomness: 192 bits


@dataclass(frozen=True)
class Link:
    """A link to hand out: whose it is, and the path on the server."""

    who: str  # ORGANISER or the name of a rater
    path: str


def ensure_links(folder: Path, raters: int) -> list[Link]:
    """Make the links of a new study: the organiser's and one for each of `raters`. Once made, they stay.

    Returns:
        All links in `links.csv`; none where the organiser has taken that file away.

    """
    with Ratings(folder) as ratings:
        made = [] if ratings.setting(ORGANISER) else [organiser_link(ratings)]
        made += [] if ratings.raters() else [add_rater(ratings)[1] for _ in range(raters)]
    path = folder / LINKS_FILE
    if made:
        rows = ([] if path.exists() else [("who", "path")]) + [astuple(link) for link in made]
        with open(path, "a", encoding="utf-8", newline="", opener=partial(os.open, mode=0o600)) as file:
            csv.writer(file).writerows(rows)
    return read_links(folder)


def organiser_link(ratings: Ratings) -> Link:
    """Give the organiser a link; the one from before leads nowhere any more."""
    token = secrets.token_urlsafe(_BYTES)
    ratings.set(ORGANISER, digest(token))
    return Link(ORGANISER, f"/o/{token}")


def add_rater(ratings: Ratings, name: str | None = None) -> tuple[Rater, Link]:
    """Add a rater; the link is only in the returned value, and is stored nowhere."""
    token = secrets.token_urlsafe(_BYTES)
    rater = ratings.add_rater(digest(token), name)
    return rater, Link(rater.name, f"/r/{token}")


def renew_link(ratings: Ratings, rater: Rater) -> Link:
    """Give a rater another link, and keep the ratings; the link from before leads nowhere any more."""
    token = secrets.token_urlsafe(_BYTES)
    ratings.change_token(rater.number, digest(token))
    return Link(rater.name, f"/r/{token}")


def read_links(folder: Path) -> list[Link]:
    """Return the links in `links.csv`, or none where there is no such file.

    Raises:
        InputError: the file is not a table of links.

    """
    path = folder / LINKS_FILE
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if any(row.get("who") is None or row.get("path") is None for row in rows):
        raise InputError(f"{path}: expected the columns who and path, as `xlingual study new` wrote them")
    return [Link(row["who"], row["path"]) for row in rows]


def find_rater(ratings: Ratings, token: str) -> Rater | None:
    """Return whose token it is. Takes as long for any token: it is compared with every digest."""
    wanted = digest(token)
    found = [rater for rater in ratings.raters() if compare_digest(rater.token_digest, wanted)]
    return found[-1] if found else None


def is_organiser(ratings: Ratings, token: str) -> bool:
    """Return whether it is the organiser's token."""
    return compare_digest(ratings.setting(ORGANISER) or "", digest(token))


def digest(token: str) -> str:
    """Return the SHA-256 of a token, in hex. A token is random, so no salt or slow hash is called for."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def addresses(links: list[Link], base: str) -> Iterator[tuple[str, str]]:
    """Yield whose each link is and its whole address on a server, such as `http://127.0.0.1:8080`."""
    for link in links:
        yield link.who, base.rstrip("/") + link.path
