"""A new blind study: from a manifest and two encoders or more to a folder of texts, orders and a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, Unpack, cast

import numpy as np
from msgspec.structs import replace

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import batch_identity, embed_roles, fit_texts_for, refuse_fitted_rows
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import InputError, warn
from xlingual.evaluation.run_systems import RunsLike, RunSystem, SystemLike, joined
from xlingual.evaluation.run_systems import systems as systems_of
from xlingual.languages import name_of
from xlingual.ranking import Cpu, Ranker
from xlingual.requests import sign
from xlingual.requests.study import Layout, NewStudyRequest
from xlingual.store import StoreLike, open_store
from xlingual.study.design import Design, StudyPlan, check_plan, make_design
from xlingual.study.folder import encoded_image, refuse_study_in, title_page, write_images, write_study
from xlingual.study.records import Study
from xlingual.workflows.study_bkr import MEASURE, bkr_of_queries
from xlingual.workflows.study_lists import (
    NearestTexts,
    candidates,
    draw_queries,
    first_listed,
    nearest,
    strata_of,
    study_queries,
)

SystemSpecs: TypeAlias = "Sequence[SystemLike] | Mapping[str, SystemLike] | SystemLike"


@takes_data()
def new_study(
    manifest: ManifestLike,
    out: str | Path,
    *,
    source: str,
    target: str,
    systems: SystemSpecs = (),
    runs: RunsLike = (),
    layout: Layout | None = None,
    image_encoder: EncoderLike | None = None,
    threads: int = 1,
    ranker: Ranker | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> Study:
    """Draw queries, let each system suggest texts for them, and write the study into `out`.

    The pool is every text of the target language, those of a query's own item too (the data of the
    Backretrieval paper had none such) unless `layout.exclude_own`.

    Args:
        manifest: texts in both languages; images are shown where there are any.
        out: the folder of the study, which must not hold one.
        source: language of the queries.
        target: language of the suggestions.
        systems: specs or objects with `encode`, and search engines' runs (`SearchRun`, run:FILE), whose first
            results are suggested; a mapping names them.
        runs: search systems by what they returned: {name: file, SearchRun or {query: {candidate: score}}}.
        layout: numbers of queries, suggestions and raters, and the seed.
        image_encoder: adds BkR (R@10) of the queries to the key, for people to be compared with.
        threads: change no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        store: where vectors are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data, specs or options are invalid; nothing is written then.

    """
    layout = layout or Layout()
    refuse_study_in(out)
    plan = _plan(source, target, layout, manifest)
    strata = strata_of(manifest, layout.by)
    rows = draw_queries(manifest, source, layout.queries, layout.seed, strata)
    pool = candidates(manifest, target, images=layout.pictures)
    specs = joined(cast("Any", systems), runs)
    named: Mapping[str, SystemLike] = encoders.text_specs(specs, languages=(source, target))
    lists, signatures = _lists(
        manifest, rows, pool, named, (source, target), layout, ranker or Cpu(threads), store, progress
    )
    queries = study_queries(manifest, rows, pool, lists, strata, seed=layout.seed, images=layout.pictures)
    design = make_design(queries, signatures, plan)
    images = _images(manifest, design, progress)
    key = design.key
    if image_encoder is not None:
        bkr = bkr_of_queries(
            manifest,
            (source, target),
            rows,
            named,
            image_encoder,
            seed=layout.seed,
            threads=threads,
            ranker=ranker,
            store=store,
            progress=progress,
        )
        ids = [query.shown.id for query in design.study.queries]  # in the order of the rows
        by_id = {name: dict(zip(ids, values, strict=True)) for name, values in bkr.items()}
        key = replace(key, bkr=by_id, bkr_measure=MEASURE)
    given = {**layout.settings(), "source": source, "target": target, "image_encoder": image_encoder}
    given |= {"text_encoders": systems, "runs": runs, "manifest": manifest.path or manifest}
    key = sign(key, NewStudyRequest, given, run=False)  # the study holds a digest of it
    write_images(out, images)
    return write_study(out, design.study, key, title_page(design.study))


def _plan(source: str, target: str, layout: Layout, manifest: Manifest) -> StudyPlan:
    if source == target:
        raise InputError(f"--source and --target are both {source!r}: name two languages of the manifest")
    for language in (source, target):
        manifest.rows_of(language)
    source_name, target_name = (name_of(tag) or tag for tag in (source, target))
    plan = StudyPlan(
        source,
        target,
        layout.per_system,
        layout.title or f"Which {target_name} texts are relevant to these {source_name} texts?",
        datetime.now(UTC).isoformat(timespec="seconds"),
        raters=layout.raters,
        seed=layout.seed,
        repeats=layout.repeats,
        controls=layout.controls,
        by=layout.by,
        conditions={
            "data": manifest.digest[:12],
            "candidates": "all but the query's own item" if layout.exclude_own else "all",
            "queries": f"{layout.queries}#{layout.seed}" + (f" by {layout.by}" if layout.by else ""),
        },
    )
    check_plan(plan, layout.queries)
    return plan


def _lists(
    manifest: Manifest,
    queries: Ints,
    pool: Ints,
    named: Mapping[str, SystemLike],
    pair: tuple[str, str],
    layout: Layout,
    ranker: Ranker,
    store: StoreLike,
    progress: Progress | None,
) -> tuple[dict[str, list[NearestTexts]], dict[str, str]]:
    """Return what each system suggests for each query, and the signature of its encoder."""
    built = systems_of(named, languages=pair, fit_texts=fit_texts_for(manifest))
    rows = np.union1d(queries, pool)
    texts = manifest.texts(rows)
    kept = open_store(store)
    made = {name: one for name, one in built.items() if isinstance(one, Encoder)}
    refuse_fitted_rows(made, texts, store=kept, progress=progress)
    lists, signatures = {}, {}
    for name, encoder in built.items():
        if isinstance(encoder, RunSystem):
            lists[name] = first_listed(
                manifest,
                name,
                encoder,
                queries,
                pool,
                layout.per_system,
                exclude_own=layout.exclude_own,
                images=layout.pictures,
                seed=layout.seed,
            )
            signatures[name] = encoder.identity((*pair, layout.seed))
            continue
        vectors = embed_roles(manifest, name, encoder, queries, pool, store=kept, progress=progress)
        lists[name] = nearest(
            manifest,
            vectors,
            queries,
            pool,
            layout.per_system,
            exclude_own=layout.exclude_own,
            ranker=ranker,
            seed=layout.seed,
        )
        signatures[name] = batch_identity(encoder, texts)
    return lists, signatures


def _images(manifest: Manifest, design: Design, progress: Progress | None) -> dict[str, bytes]:
    """Return the images of a study, by file name; raise InputError where one cannot be opened.

    Warns (DataWarning) where some texts have an image and others have none.
    """
    shown = [one for query in design.study.queries for one in (query.shown, *query.suggestions)]
    without = sum(one.image is None for one in shown)
    if 0 < without < len(shown):
        warn(
            f"{without} of {len(shown)} texts of the study have no image, so raters may judge them worse: "
            "give all an image, or show none (--no-images)"
        )
    sources = [manifest.image_source[int(slot)] for slot in design.images.values()]
    missing = [source for source in sources if isinstance(source, Path) and not source.is_file()]
    if missing:
        raise InputError(
            f"{len(missing)} of the {len(sources)} images of the study are missing (first: {missing[0]}): "
            "put them there, correct the paths in the manifest, or show texts alone (--no-images)"
        )
    images: dict[str, bytes] = {}
    for name, slot in design.images.items():
        number = int(slot)
        row = int(np.flatnonzero(manifest.image == number)[0])
        try:
            images[name] = encoded_image(manifest.image_source[number], row=manifest.ids[row])
        except InputError as error:
            raise InputError(f"{error}; or show texts alone (--no-images)") from error
        if progress is not None:
            progress("preparing images", len(images), len(design.images))
    return images
