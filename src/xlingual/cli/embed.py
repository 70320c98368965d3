"""`xlingual embed`: vectors of all texts and pictures, computed once, in the store and in files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    COLUMNS,
    available_cores,
    check_folder,
    chosen_store,
    encoding_options,
    manifest_options,
    read_manifest,
    refuse_extra,
)
from xlingual.cli.ranking_options import address_option
from xlingual.cli.sections import Sectioned
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.embed.crew import Crew
    from xlingual.workflows.embed import Exported


@click.command(cls=Sectioned, context_settings={"allow_extra_args": True})
@manifest_options
@click.option("--text-encoder", "text_encoders", multiple=True, metavar="SPEC", help="Repeat for several.")
@click.option("--image-encoder", metavar="SPEC", help="Encoder of the pictures.")
@click.option(
    "--candidate-text",
    default="sentence",
    show_default=True,
    type=click.Choice(["sentence", "sentence+context"]),
    help="What of a pool's candidates is embedded.",
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder for the files."
)
@click.option(
    "--half", is_flag=True, help="Half precision: of the files, and of a store that --store DIR begins."
)
@encoding_options
@click.option(
    "--backend",
    type=click.Choice(["auto", "ray"]),
    default="auto",
    show_default="this machine",
    help="ray: copies of the encoders on the machines of a Ray cluster.",
)
@address_option
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --backend ray: copies of an encoder.  [default: one for each GPU, else for each machine]",
)
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
@click.pass_context
def embed(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Compute the vectors of all texts and pictures of MANIFEST, or of a pool, and write them to files.

    Vectors that are kept in the store are not computed again; what is interrupted goes on where it stopped.
    """
    from xlingual.store import Store
    from xlingual.workflows.embed import embed

    refuse_extra(ctx)
    check_folder(given["out"])
    crew = _crew(given)
    store: Any = chosen_store(given)
    if given["half"] and isinstance(store, Path):
        store = Store(store, half=True)
    with screen.warnings_as_lines(), screen.progress(given["quiet"]) as progress:
        if progress is not None:
            progress("reading the data", 0, 1)
        found = embed(
            _data(manifest, given),
            given["out"],
            text_encoders=given["text_encoders"],
            image_encoder=given["image_encoder"],
            candidate_text=given["candidate_text"],
            half=given["half"],
            store=store,
            crew=crew,
            progress=progress,
        )
    if not given["quiet"]:
        _show(found)


def _crew(given: dict[str, Any]) -> Crew | None:
    """Return where encoders run; None for this machine."""
    address, workers = given["address"], given["workers"]
    if given["backend"] != "ray":
        if address is not None or workers is not None:
            raise InputError("--address and --workers are of clusters: add --backend ray, or leave them out")
        return None
    from xlingual.embed.crew import Crew
    from xlingual.ranking.cluster.connection import cluster_address, imported

    imported()  # says what to install, before any work is done
    return Crew(cluster_address(address), workers, cores=available_cores())


def _data(path: Path, given: dict[str, Any]) -> Manifest | MultilingualPool:
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.data.pools.reading import is_pool

    if not is_pool(path):
        return read_manifest(path, given)
    for name in (*COLUMNS, "rows"):
        if given[name] is not None:
            raise InputError(f"--{name.replace('_', '-')} is for manifests, {path} is a pool: leave it out")
    return MultilingualPool.read(path, split=given["split"])


def _show(found: list[Exported]) -> None:
    for one in found:
        option = "--image-encoder" if one.kind == "pictures" else "--text-encoder"
        files = "a file" if len(one.files) == 1 else f"{len(one.files)} files"
        kept = "" if one.kept else " (not in the store)"
        screen.say(f"{one.name}: {sum(one.files.values()):,} {one.kind}, {one.dim} dimensions, {files}{kept}")
        screen.say(f"  use: {option} {shlex.quote(one.spec)}")
