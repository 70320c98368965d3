"""What a page in one file needs: content that ends no element, and the hashes that its policy allows."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from typing import Any


def json_in_html(content: dict[str, Any]) -> str:
    r"""Return JSON that ends no element: without "<", and without line ends that scripts know.

    >>> json_in_html({"text": "</script>"})
    '{"text": "\\u003c/script\\u003e"}'
    """
    escaped = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
    return json.dumps(content, ensure_ascii=False, allow_nan=False).translate(escaped)


def source_digest(text: str) -> str:
    """Return the hash of a style or a script, as a content security policy names it after `sha256-`."""
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
