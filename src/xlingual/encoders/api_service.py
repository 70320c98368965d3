"""Where an embeddings service is, and the key that opens it: checked before the first request.

The key is read from the environment when it is needed and is kept in no object that outlives a run.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from xlingual.errors import InputError, warn

BEARER = "Authorization"  # the header where a key comes after the word Bearer; in others it stands alone
_PIECE = 6  # so many characters of a key in a row give it away


@dataclass(frozen=True)
class Service:
    """An address such as https://api.openai.com/v1, the environment variable of its key, the key's header."""

    base_url: str
    key_env: str
    key_header: str = BEARER

    @classmethod
    def of(cls, base_url: str, key_env: str, key_header: str = BEARER, path: str = "/embeddings") -> Service:
        """Return the service at a URL; raise InputError where it is no http(s) address or holds a secret."""
        try:
            parts = urlsplit(base_url.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            raise InputError("api: base_url is no URL: write for example https://HOST/v1") from None
        if "@" in parts.netloc or parts.query or parts.fragment:  # not shown: it may be a password
            raise InputError(
                "api: base_url may hold no user, password, query or fragment: write scheme, host and path "
                f"only, and put the key into the environment variable {key_env}"
            )
        if parts.scheme not in ("http", "https") or not host:
            raise InputError(
                f"api: base_url must begin with http:// or https:// and a host, found {base_url!r}: "
                "write for example http://localhost:8080/v1"
            )
        if not key_env.replace("_", "a").isalnum() or not key_env.isascii():  # not shown: it may be a key
            raise InputError("api: key_env must be the name of an environment variable, such as MY_API_KEY")
        if not re.fullmatch("[A-Za-z][A-Za-z0-9-]*", key_header):  # not shown: it may be a key
            raise InputError("api: key_header must be the name of a header, such as api-key")
        at = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
        below = parts.path.rstrip("/").removesuffix(path)
        return cls(f"{parts.scheme}://{at}{below}", key_env, key_header)

    @property
    def place(self) -> str:
        """Host and path, as identities and errors name it."""
        return self.base_url.partition("://")[2]

    @property
    def local(self) -> bool:
        """Whether the service is on this machine or in a private network."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            address = ip_address(host)
        except ValueError:
            return "." not in host or host.endswith((".localhost", ".local", ".internal"))
        return address.is_loopback or address.is_private or address.is_unspecified

    def key(self) -> str | None:
        """Return the key; None where there is none and a local service may need none.

        Raises InputError that names the variable, never what it holds.
        """
        key = os.environ.get(self.key_env, "").strip()
        if not key and self.local:
            return None
        if not key:
            raise InputError(
                f"api: {self.place} needs a key: set the environment variable {self.key_env} to it, or name "
                "another variable with ?key_env=NAME"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InputError(
                f"api: the environment variable {self.key_env} holds no key: it has characters (spaces, line "
                "breaks or letters beyond ASCII) that no key has"
            )
        return key

    def headers(self) -> dict[str, str]:
        """Return the header with the key; none without a key."""
        key = self.key()
        bearer = self.key_header.lower() == BEARER.lower()
        return {self.key_header: f"Bearer {key}" if bearer else key} if key else {}

    def check(self) -> None:
        """Raise InputError where a key is needed and absent; warn where it would go out unencrypted."""
        if self.key() and self.base_url.startswith("http://") and not self.local:
            warn(f"api: the key in {self.key_env} goes to {self.place} unencrypted: use https://")


def without_key(message: str, key: str | None) -> str:
    """Return a service's own words on one line, cut to a readable length; "" where they repeat the key.

    Services that refuse a key like to print parts of it.
    """
    line = " ".join(message.split())
    if key and any(key[i : i + _PIECE] in line for i in range(max(1, len(key) - _PIECE + 1))):
        return ""
    line = "".join(filter(str.isprintable, line))
    return line if len(line) <= 200 else f"{line[:199]}…"
