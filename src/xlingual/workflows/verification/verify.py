"""Make a result again from its request, and compare it with the file; before that, look at its inputs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import replace as with_changes
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from xlingual.errors import InputError, parameter
from xlingual.results import Results
from xlingual.results.claims import PREFIX, Claim
from xlingual.results.made import Made, made_in
from xlingual.results.suite import Suite
from xlingual.results.verification import Verification
from xlingual.workflows.verification.inputs import inputs_of, other_versions
from xlingual.workflows.verification.numbers import compare, compare_sample

Replay = Callable[[Mapping[str, Any], Path], None]  # a request, and the folder that its result is written to

_SAMPLED = ("backretrieval", "crosslingual-retrieval")  # tasks that rank some of the queries alone


@dataclass(frozen=True)
class Wanted:
    """How much is verified: so many queries, or files alone; else everything."""

    sample: int | None = None
    inputs_only: bool = False


def verify(path: str | Path, replay: Replay, wanted: Wanted = Wanted()) -> list[Verification]:
    """Return what became of each file of results of a path: a file or a folder; of a suite, of each step.

    `replay` runs the command of a request. Paths of inputs count from the folder in which the command was
    given: it is found by the folder of the result, else it is the present one.

    Raises:
        InputError: there is no file of results, or a sample cannot be drawn of it.

    """
    found: list[Verification] = []
    for made in made_in(path):
        if made.kind == "suite":
            found += _of_suite(made, replay, wanted)
        else:
            found.append(_from_its_folder(made, replay, wanted))
    return found


def _of_suite(made: Made, replay: Replay, wanted: Wanted) -> Iterator[Verification]:
    """Yield what became of each step of a suite; results that have no sample are verified whole."""
    suite = Suite.read(made.path)
    for part in (*suite.evaluations, *suite.comparisons, *suite.gates):
        folder = made.path.parent / part.folder
        try:
            steps = made_in(folder)
        except InputError as error:
            yield Verification(path=str(folder), outcome="missing", problems=[str(error)])
            continue
        for step in steps:
            sample = wanted.sample if _has_sample(step) else None
            yield _from_its_folder(step, replay, with_changes(wanted, sample=sample))


def verify_claim(
    line: str,
    within: str | Path,
    replay: Replay,
    wanted: Wanted = Wanted(),
) -> Verification:
    """Return whether a claim is what its result says, and whether that comes out again.

    The result is looked for by its digest in `within` and its folders.
    """
    claim = Claim.parse(line)
    made = next(
        (one for one in _results_in(Path(within)) if (one.digest or "").startswith(claim.digest)),
        None,
    )
    if made is None:
        reason = (
            f"no result in {within} has the digest {claim.digest}: name its folder ({parameter('within')})"
        )
        return Verification(path=str(within), outcome="missing", claim=line, problems=[reason])
    problems = claim.problems(Results.read(made.path))
    if problems:
        return Verification(
            path=str(made.path), outcome="different", claim=line, digest=made.digest, problems=problems
        )
    return replace(_from_its_folder(made, replay, wanted), claim=line)


def is_claim(text: str) -> bool:
    """Return whether a text is meant as a claim."""
    return text.strip().startswith(PREFIX)


def _results_in(folder: Path) -> Iterator[Made]:
    if not folder.is_dir():
        raise InputError(f"{parameter('within', str(folder))} is no folder")
    for path in sorted(folder.rglob("results.json")):
        with contextlib.suppress(InputError):  # of another program, or damaged: its digest is unknown
            yield from made_in(path)


def _from_its_folder(made: Made, replay: Replay, wanted: Wanted) -> Verification:
    """Verify a result from the folder in which its command was given."""
    path, there = str(made.path), with_changes(made, path=made.path.absolute())
    with contextlib.chdir(_base(there)):
        return replace(_verified(there, replay, wanted), path=path)


def _base(made: Made) -> Path:
    """Return the folder in which the command was given: one from which `--out` leads to the file.

    Where `--out` begins with `..`, as in a suite that writes beside its folder, several folders are such:
    the first that has one of the inputs counts.
    """
    given, folder = Path(str(made.run.get("out", ""))), made.path.absolute().parent
    up = sum(part == ".." for part in given.parts)
    down = given.parts[up:]
    leads = bool(down) and not given.is_absolute() and ".." not in down and folder.parts[-len(down) :] == down
    if not leads:
        return Path.cwd()
    root = Path(*folder.parts[: -len(down)])
    if not up:
        return root
    known = made.provenance
    named = [one.path for one in known.inputs] + [one.path for one in known.derived_from] if known else []
    paths = [path for path in named if isinstance(path, str)]
    beside = (path for path in sorted(root.glob("/".join("*" * up))) if path.is_dir())
    return next((path for path in beside if any((path / one).exists() for one in paths)), Path.cwd())


def _verified(made: Made, replay: Replay, wanted: Wanted) -> Verification:
    found = partial(Verification, path=str(made.path), digest=made.digest)
    if made.digest is None:
        return found(outcome="changed" if made.whole else "missing", problems=[made.no_digest])
    inputs = inputs_of(made)
    changed = [one for one in inputs if one.state == "changed"]
    missing = [one for one in inputs if one.state == "missing"]
    found = partial(found, inputs=inputs, versions=other_versions(made))
    if changed:
        return found(outcome="changed")
    if missing:
        return found(outcome="missing")
    if wanted.inputs_only:
        return found(outcome="unchanged")
    if not made.request:
        return found(outcome="missing", problems=["the file does not say which command made it"])
    request = dict(made.request)
    if wanted.sample is not None:
        request = _sampled(made, request, wanted.sample)
    with TemporaryDirectory(prefix="xlingual-verify-") as name:
        folder = Path(name)
        try:
            replay(request, folder)
            again = next(one for one in made_in(folder) if one.schema == made.schema)
        except InputError as error:
            return found(outcome="missing", problems=[f"its command cannot be run again: {error}"])
        except StopIteration:
            return found(outcome="missing", problems=["its command wrote no such file when it was run again"])
        compared = compare_sample(made, again) if wanted.sample is not None else compare(made, again)
    if wanted.sample is not None and compared.problems:
        found = partial(found, problems=compared.problems)
    outcome = "different" if compared.n_different else "equal"
    return found(
        outcome=outcome,
        n_compared=compared.n,
        n_different=compared.n_different,
        differences=compared.first,
        sample=wanted.sample,
    )


def _sampled(made: Made, request: dict[str, Any], n: int) -> dict[str, Any]:
    """Return the request of an evaluation for some of its queries."""
    if not _has_sample(made):
        raise InputError(
            f"{parameter('sample')} is for exact results of {' and '.join(_SAMPLED)} over all their queries: "
            f"{made.path} is of {request.get('command') or 'no command'}: verify it whole"
        )
    return request | {"queries": n}


def _has_sample(made: Made) -> bool:
    """Return whether some queries of a result can be ranked alone."""
    asked = made.request
    task = str(asked.get("command", "")).removeprefix("evaluate ")
    return made.kind == "results" and task in _SAMPLED and not asked.get("queries")
