"""How a file of results was made, whatever its kind: read for people, and for what checks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, listed, why
from xlingual.files import regular_file
from xlingual.results.digest import digest_of
from xlingual.results.files import DIGESTS
from xlingual.results.provenance import Provenance
from xlingual.results.tables import PER_QUERY, file_of, read_tables
from xlingual.typed import convert

_PROGRAM = "xlingual"
_MADE_ELSEWHERE = {"model": "xlingual model show DIR describes models"}
_NO_RESULTS = ("model", "step")  # beside results in a folder: files that hold no numbers of their own


@dataclass(frozen=True)
class Made:
    """How a file of results was made; what an earlier version did not keep is empty."""

    path: Path
    schema: str  # xlingual/results/1
    digest: str | None  # the result digest
    no_digest: str  # why there is none
    request: Mapping[str, Any]
    run: Mapping[str, Any]
    provenance: Provenance | None
    whole: bool = True  # False: a table that belongs to it is missing

    @property
    def kind(self) -> str:
        """The kind of the file: results, gate, comparison."""
        return self.schema.split("/")[1]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON holds it."""
        from xlingual.results.document import plain

        digest = {"digest": self.digest} if self.digest else {"no_digest": self.no_digest}
        made = {"request": dict(self.request), "provenance": self.provenance, "run": dict(self.run)}
        found: dict[str, Any] = plain({"file": str(self.path), "schema": self.schema, **digest, **made})
        return found


def made_in(path: str | Path) -> list[Made]:
    """Return how a file of results, or each of those in a folder, was made.

    Raises InputError where there is none, where it is damaged, or of another program.
    """
    path = Path(path)
    if not path.is_dir():
        return [_made(path, _content(regular_file(path, "a file of results")))]
    found = []
    for file in sorted(path.glob("*.json")):
        content = _content(file)
        if _schema(content).startswith(f"{_PROGRAM}/") and _schema(content).split("/")[1] not in _NO_RESULTS:
            found.append(_made(file, content))
    if not found:
        hint = f": {_MADE_ELSEWHERE['model']}" if (path / "model.safetensors").exists() else ""
        names = listed(sorted(one.name for one in path.iterdir()), 5) or "nothing"
        raise InputError(
            f"{path} holds no file of results (there is {names}){hint or ': name what --out DIR wrote'}"
        )
    return found


def _content(path: Path) -> Any:  # noqa: ANN401  (what JSON holds)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"{path} is not valid JSON ({error}): copy it again, or run its command again"
        ) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error


def _schema(content: object) -> str:
    schema = content.get("schema") if isinstance(content, dict) else None
    return schema if isinstance(schema, str) and schema.count("/") == 2 else ""


def _made(path: Path, content: Any) -> Made:  # noqa: ANN401
    schema = _schema(content)
    if not schema.startswith(f"{_PROGRAM}/"):
        said = content.get("schema") if isinstance(content, dict) else None
        raise InputError(
            f"{path} is no file of results of xlingual: its key 'schema' is {said!r}, expected "
            "'xlingual/KIND/NUMBER': give what a command wrote with --out DIR, or printed with --json"
        )
    if schema.split("/")[1] in _MADE_ELSEWHERE:
        raise InputError(f"{path} is of a model: {_MADE_ELSEWHERE[schema.split('/')[1]]}")
    parts = {name: part for name in ("request", "run") if isinstance(part := content.get(name), dict)}
    given, remedy = content.get("provenance"), "run its command again"
    provenance = (
        None if given is None else convert(given, Provenance, where=f"{path}, provenance", remedy=remedy)
    )
    digest, reason = _digest(path, content)
    whole = schema.split("/")[1] != "results" or (path.parent / file_of(PER_QUERY)).exists()
    asked, run = parts.get("request", {}), parts.get("run", {})
    return Made(path, schema, digest, reason, asked, run, provenance, whole)


def _digest(path: Path, content: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the result digest, or why there is none."""
    try:
        table = None
        if _schema(content).split("/")[1] == "results":
            if DIGESTS not in content and not (path.parent / file_of(PER_QUERY)).exists():
                return None, f"{file_of(PER_QUERY)} does not lie beside it"
            table = read_tables(path.parent, content.get(DIGESTS))[PER_QUERY]
        return digest_of(content, table), ""
    except InputError as error:
        return None, str(error)
    except ValueError:
        return None, "it holds a value that is no number"
