"""Several multilingual pools in one command: each has its own results, and all are shown side by side."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.checks import check_output, refuse_vectors
from xlingual.errors import InputError
from xlingual.requests.evaluating import MultilingualPoolRequest
from xlingual.results.provenance import Notes, noting

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.results import Results

_NAME = re.compile(r"[\w.-]+")


def pool_requests(request: MultilingualPoolRequest) -> dict[str, MultilingualPoolRequest]:
    """Return the request of each pool by its name: NAME of NAME=POOL, else that of its folder.

    Of several each has a folder of its own in --out and in --trec. Raises InputError for a path that is no
    pool, and for a name that is there twice.
    """
    paths = (request.pool, *request.further)
    several = len(paths) > 1
    found: dict[str, MultilingualPoolRequest] = {}
    for given in paths:
        name, path = _named(given)
        refuse_vectors(path, "a pool", "{role}")
        if name in found:
            raise InputError(f"two pools are called {name!r}: name one of them, as in other={path}")
        if several and not path.exists():
            raise InputError(f"{path}: no such file or folder: expected a pool")
        changes: dict[str, Any] = {"pool": path, "further": ()}
        if several or path != given:
            changes["name"] = name
        if several:
            out, trec = (folder and folder / name for folder in (request.output.out, request.trec))
            changes |= {"output": request.output.changed(out=out, report=False), "trec": trec}
        found[name] = request.changed(**changes)
    return found


def _named(path: Path) -> tuple[str, Path]:
    name, equals, rest = str(path).partition("=")
    if equals and rest and _NAME.fullmatch(name) and not path.exists():
        return name, Path(rest)
    return Path(os.path.abspath(path)).name, path


def evaluate_pools(
    request: MultilingualPoolRequest,
    pools: Mapping[str, MultilingualPoolRequest],
    evaluated: Callable[[MultilingualPoolRequest, MultilingualPool], Results],
) -> None:
    """Evaluate each pool, write its results as soon as they are there, and show all of them."""
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.report import page_of, write_report

    output, quiet = request.output, screen.silent(request.output)
    check_output(output.out, output.report)
    for one in pools.values():
        check_output(one.output.out, False, "multilingual-pool")
    data: dict[str, MultilingualPool] = {}
    read: dict[str, Notes] = {}
    with screen.warnings_as_lines():
        for name, one in pools.items():
            with noting() as read[name]:
                data[name] = MultilingualPool.read(one.pool, one.languages, one.split)
    _refuse_equal(data)
    found: dict[str, Results] = {}
    for name, one in pools.items():
        if not quiet:
            screen.note(f"pool {name}: {one.pool}")
        with noting(read[name]):
            found[name] = evaluated(one, data[name])
        if one.output.out is not None:
            found[name].write(one.output.out)
            screen.wrote(one.output.out / "results.json", quiet=output.quiet)
        if one.trec is not None:
            screen.wrote_runs(one.trec, quiet=output.quiet)
    content = {"pools": {name: one.to_dict() for name, one in found.items()}}
    results = list(found.values())
    screen.show_page(page_of(results), content, output)
    if output.report and output.out is not None:
        write_report(results, output.out / "report.html")
        screen.wrote(output.out / "report.html", quiet=output.quiet)


def _refuse_equal(data: Mapping[str, MultilingualPool]) -> None:
    names: dict[str, str] = {}
    for name, pool in data.items():
        if pool.digest in names:
            raise InputError(
                f"the pools {names[pool.digest]!r} and {name!r} hold the same questions and candidates: name "
                "each pool once"
            )
        names[pool.digest] = name
