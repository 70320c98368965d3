"""What a service has answered: vectors, a refusal in words, or a wish to wait."""

from __future__ import annotations

import base64
import binascii
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.errors import InputError

if TYPE_CHECKING:
    import httpx

    from xlingual.records import Vectors


def refusal(answer: httpx.Response, said: str, request: dict[str, Any], key_env: str, with_key: bool) -> str:
    """Return what an answer other than 200 means and what to do."""
    status = answer.status_code
    if status in (401, 403):
        found = "refused the key in" if with_key else "asks for a key, and there is none in"
        return f"{found} the environment variable {key_env} ({status}): set it to a valid key"
    if status == 404:
        return with_message("unknown model, or wrong ?base_url= (404)", said)
    if status == 429:
        return with_message("the quota of the account is used up (429)", said)
    if 300 <= status < 400:
        return f"answered {status}, moved elsewhere: correct ?base_url="
    remedies = []
    if "" in request["input"]:
        remedies.append("one of the texts is empty, which many services refuse: leave it out")
    if status in (400, 413, 422):
        remedies.append("a text may be too long for the model, or a request too large (lower ?batch=)")
    return "; ".join([with_message(f"refused the request ({status})", said), *remedies])


def message(answer: httpx.Response) -> str:
    """Return the message of an error in one of the usual forms."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    for name in ("error", "message", "detail"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return found if isinstance(found, str) else ""


def with_message(what: str, said: str) -> str:
    """Return what happened and, where there are any, the words of the service."""
    return f"{what}: {said!r}" if said else what


def retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds that a header Retry-After asks for, as a number or a date; else None."""
    value = answer.headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if np.isfinite(seconds) else None


def vectors_of(answer: Any, count: int, who: str) -> Vectors:  # noqa: ANN401
    """Return float32 [count, d] in the order asked for; raise InputError where the answer is not that."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{who}: the answer has no list 'data' of embeddings: is it an embeddings service?")
    if len(rows) != count:
        raise InputError(f"{who}: {count} texts were sent and {len(rows)} vectors came back: lower ?batch=")
    places = [row.get("index") for row in rows]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise InputError(f"{who}: the indices of the vectors are not 0 to {count - 1}, each once: unusable")
    found: list[Any] = [None] * count
    for place, row in zip(places, rows, strict=True):
        found[place] = _vector(row.get("embedding"))
    if any(vector is None for vector in found):
        raise InputError(f"{who}: an embedding is not a list of numbers (or base64 of float32)")
    sizes = sorted({len(vector) for vector in found})
    if len(sizes) > 1 or sizes[0] == 0:
        raise InputError(f"{who}: vectors of one answer have {sizes[0]} to {sizes[-1]} dimensions")
    vectors: Vectors = np.stack(found)
    if not np.isfinite(vectors).all():
        raise InputError(f"{who}: a vector holds NaN or infinity: ask whoever runs the service")
    return vectors


def _vector(value: object) -> np.ndarray | None:
    """Return float32 [d] of a list of numbers or of base64 of little-endian float32; else None."""
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        if isinstance(value, list):
            with np.errstate(over="ignore"):  # too large for float32: infinity, which is refused
                array = np.asarray(value, dtype=np.float64).astype(np.float32)
            return array if array.ndim == 1 and not any(type(x) in (str, bool) for x in value) else None
    except (ValueError, TypeError, binascii.Error):
        return None
    return None
