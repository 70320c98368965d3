"""Spec strings and URLs as they may be printed and kept: without what may be secret."""

from __future__ import annotations

import re
from urllib.parse import unquote

_KEY = re.compile(r"[A-Za-z][\w.-]*")
_HIDDEN = "…"
# options whose values errors may print; any other may hold a key by mistake
_PLAIN = frozenset(
    re.findall(
        r"\w+",
        "b base base_url batch body by candidate_prompt column device dim dtype field fit id k1 kind "
        "latency max_length n pairs pool prompt query_prompt retries revision seed shrink split "
        "title to trained_on unknown weight",
    )
)
_URL_QUERY = re.compile(r"(?<=://)([^?#]*[?#]).*", re.DOTALL)


def shown(spec: object) -> str:
    """Return a spec as errors may print it, well-formed or not: with … in place of what may be secret.

    Hidden are users, passwords and queries of URLs, and the values of options that no built-in scheme has or
    whose names suggest keys.

    >>> shown("api:m?base_url=https://me:pw@host/v1&api_key=sk-1&dim=8")
    'api:m?base_url=https://…@host/v1&api_key=…&dim=8'
    """
    text = str(spec)
    parts = [_without_secrets(part) for part in re.split("::(?!:)", text)]
    # a password may hold the signs that take a spec apart: then the text before its @ is no spec
    split = any("@" in part.partition("?")[0] for part in re.split("::(?!:)", text)[1:])
    return _without_secrets(text) if split else "::".join(parts)


def _without_secrets(part: str) -> str:
    head, mark, query = part.partition("?")
    if "://" in head or not mark:
        head = without_url_secrets(head)
    return head + mark + "&".join(shown_option(option) for option in query.split("&"))


def shown_option(option: str) -> str:
    """Return an option of a spec, key=value, as errors may print it."""
    key, equals, value = option.partition("=")
    if not option or key in _PLAIN:
        plain = without_url_secrets(unquote(value), base=key == "base_url")
        return option if plain == unquote(value) else f"{key}={plain}"
    return f"{key}={_HIDDEN}" if equals and _KEY.fullmatch(key) else _HIDDEN


def without_url_secrets(text: str, *, base: bool = False) -> str:
    """Return the text with … for the user and password, and for the query, of a URL in it.

    `base`: the text should be a URL, so that the text before an @ is a user even without http://.
    """
    if base and "@" in text:
        start, mark, rest = text.rpartition("@")
        text = (f"{start.partition('://')[0]}://" if "://" in start else "") + _HIDDEN + mark + rest
    else:
        text = re.sub(r"(?<=://)\S*@", f"{_HIDDEN}@", text)
    text = _URL_QUERY.sub(rf"\1{_HIDDEN}", text)
    # no port follows the colon, so a password does, cut off before its @
    return re.sub(r"(?<=://)[^\s/@\[\]:]*:(?!\d*(?:/|$))\S*", _HIDDEN, text)
