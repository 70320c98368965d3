"""Web pages of one file, which need no server and no network.

A page is a template `NAME.html` with `NAME.css` and `NAME.js` beside it. Its policy allows this style and
this script alone, by their hashes; texts of others are in it as JSON that ends no element.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from xlingual.files import atomic_file, make_folder
from xlingual.visible import visible_value


def write_page(path: Path, template: Path, content: Mapping[str, Any], **values: Any) -> None:  # noqa: ANN401
    """Write the page of a template (`….html`) to `path`, atomically; the script reads `content`.

    `values` are for expressions of the template. Its folder is made if need be.
    """
    import jinja2
    from markupsafe import Markup

    style, script = (template.with_suffix(end).read_text(encoding="utf-8") for end in (".css", ".js"))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        finalize=visible_value,
        undefined=jinja2.StrictUndefined,
    )
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    )
    page = environment.get_template(template.name).render(
        policy=Markup(policy),
        style=Markup(style),
        script=Markup(script),
        content=Markup(json_in_html(content)),  # "<" is escaped
        **values,
    )
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def data_url(kind: str, content: bytes) -> str:
    """Return an image of a kind ("jpeg", "webp") as a URL that holds it."""
    return f"data:image/{kind};base64,{b64encode(content).decode('ascii')}"


def json_in_html(content: Mapping[str, Any]) -> str:
    r"""Return JSON that ends no element: without "<", and without line ends that scripts know.

    >>> json_in_html({"text": "</script>"})
    '{"text": "\\u003c/script\\u003e"}'
    """
    escaped = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
    return json.dumps(content, ensure_ascii=False, allow_nan=False).translate(escaped)


def _digest(text: str) -> str:
    """Return the hash of a style or a script, as a content security policy names it after `sha256-`."""
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
