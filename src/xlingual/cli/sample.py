"""`xlingual data sample`: the queries and targets of an evaluation, for a search engine."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command
from xlingual.cli.opening import manifest_or_pool
from xlingual.errors import InputError, parameter
from xlingual.report.numbers import counted
from xlingual.requests import defaults, leaves, values
from xlingual.requests.making import SampleRequest

if TYPE_CHECKING:
    from xlingual.evaluation.run import Options
    from xlingual.workflows.sampled import SampledFolder

_OF_SAMPLES = (
    *("matching", "queries", "pairs", "sample", "texts_per_item"),
    *("seed", "seeds", "skip_broken"),
)
_SHOWN = 6  # folders


@command(SampleRequest, short_help="Write queries and targets for a search engine.")
def sample(request: SampleRequest) -> None:
    """Write the queries and targets that `evaluate` draws from MANIFEST, to index them in a search engine.

    Each language pair and seed gets a folder with queries.jsonl and targets.jsonl. To evaluate the search
    engine, give `evaluate` the same options, and the results of the engine with --run. For a pool, all
    questions and candidates are written to one folder.
    """
    from xlingual.data.manifest import Manifest
    from xlingual.workflows.sampled import write_pool_texts, write_samples

    check_folder(request.out)
    with screen.warnings_as_lines():
        data = manifest_or_pool(request)
        if isinstance(data, Manifest):
            found = write_samples(
                data, request.out, _options(request), matching=request.matching, force=request.force
            )
        else:
            _refuse_sampling(request)
            found = [write_pool_texts(data, request.out, force=request.force)]
    if not request.quiet:
        _show(found, _evaluation(request, isinstance(data, Manifest)))


def _options(request: SampleRequest) -> Options:
    from xlingual.evaluation.run import Options

    sampling = request.sampling
    return Options(
        *(sampling.pairs, sampling.sample, sampling.seeds, sampling.seed),
        skip_broken=request.skip_broken,
        queries=request.queries,
        texts_per_item=sampling.texts_per_item,
    )


def _refuse_sampling(request: SampleRequest) -> None:
    """Raise InputError for options of samples: a pool is evaluated whole."""
    given = _given(request)
    for name in _OF_SAMPLES:
        if name in given:
            where = request.data.manifest
            raise InputError(f"{parameter(name)} is for manifests, {where} is a pool: leave it out")


def _given(request: SampleRequest) -> dict[str, Any]:
    """Return the values that are not the defaults."""
    plain = defaults(SampleRequest)
    return {name: value for name, value in values(request).items() if value != plain.get(name)}


def _evaluation(request: SampleRequest, manifest: bool) -> str:
    """Return the command that evaluates what was found, with the options that belong to it."""
    words = [
        "xlingual",
        "evaluate",
        "retrieval" if not manifest else "xlr" if request.matching else "bkr",
    ]
    for name, value in _given(request).items():
        leaf = leaves(SampleRequest)[name]
        if name in ("matching", "out", "force", "quiet") or (request.matching and name == "skip_broken"):
            continue
        option = [] if leaf.marks.argument else [leaf.names[0]]
        text = ",".join(value) if isinstance(value, tuple) else str(value)
        words += option if value is True else [*option, text]
    where = request.out
    if manifest:
        where /= "{source}-{target}.seed{seed}" if request.sampling.seeds > 1 else "{source}-{target}"
    run = ["--run", f"engine={where / 'engine.jsonl'}"]
    images = ["--image-encoder", "…"] if words[2] == "bkr" else []
    return shlex.join([*words, *run]) + "".join(f" {word}" for word in images)


def _show(found: Sequence[SampledFolder], evaluation: str) -> None:
    """Print the folders, and what to do with them."""
    from xlingual.workflows.sampled import QUERIES, TARGETS

    for one in found[:_SHOWN]:
        queries = counted(one.n_queries, "query", "queries")
        screen.say(f"{one.path}: {queries}, {counted(one.n_targets, 'target')}")
    if len(found) > _SHOWN:
        screen.say(f"… {len(found):,} folders in all")
    screen.say(
        "\nNext:\n"
        f"  index the lines of {TARGETS}, each a document of that id\n"
        f"  search for each line of {QUERIES}; write a line for each result to engine.jsonl there:\n"
        '  {"query_id": …, "candidate_id": …, "score": …}; or a TREC run\n'
        f"  {evaluation}"
    )
