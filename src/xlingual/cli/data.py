"""`xlingual data`: check manifests, read public corpora, make pools and built-in data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.cli.opening import columns, store_of
from xlingual.cli.pivot import pivot_pairs
from xlingual.cli.pools import check_pool, mix_pool, squad_to_pool
from xlingual.cli.sample import sample
from xlingual.cli.wording import in_options
from xlingual.errors import InputError, parameter
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import counted
from xlingual.report.table import Cell, Table, narrower
from xlingual.requests import signed
from xlingual.requests.making import CheckRequest, ConvertRequest, ScenesRequest

if TYPE_CHECKING:
    from xlingual.data.check import Check, CheckFinding
    from xlingual.evaluation.near_duplicates import NearDuplicates
    from xlingual.results.backretrieval_check import BackretrievalCheck


_MOST_PAIRS = 6  # language pairs that are shown


@click.group()
def data() -> None:
    """Check a manifest, read public corpora, make pools and built-in data."""


@command(ScenesRequest, short_help="Make images with texts in several languages.")
def scenes(request: ScenesRequest) -> None:
    """Make images of simple scenes, and independent descriptions of them in several languages.

    Each language has a text, a title and a body of every scene.
    """
    from xlingual.demo_data.scenes import write_scenes

    with screen.progress(request.quiet) as progress:
        path = write_scenes(
            request.out,
            n=request.n,
            languages=request.languages,
            seed=request.seed,
            train=request.train,
            texts=request.texts,
            progress=lambda done: progress("painting scenes", done, request.n),
        )
    screen.wrote(path, quiet=request.quiet)


@command(ConvertRequest, short_help="Read a corpus of the papers from the folder that holds it.")
def convert(request: ConvertRequest) -> None:
    """Convert the corpus NAME, which lies in FOLDER, to the manifest FOLDER/NAME.parquet.

    Nothing is downloaded: download and unpack the corpus first. Its files and images may lie anywhere below
    FOLDER. The command prints the licence and the citation.
    """
    from xlingual.papers import corpora

    made = corpora.convert(request.name, request.folder)
    corpus, rows = made.corpus, [(lang, Cell.count(n)) for lang, n in made.texts.most_common()]
    sentence = (
        f"{counted(sum(made.texts.values()), 'text')} of {counted(len(made.items), 'item')}; texts whose "
        f"image is there: {made.images['there']:,}, missing: {made.images['missing']:,}, without a name: "
        f"{made.images['unnamed']:,}; empty texts left out: {made.n_empty:,}"
    )
    lines = [sentence, f"Licence: {corpus.licence}", f"Cite: {corpus.citation}", corpus.url]
    table = Table.of_texts(corpus.title, ("language", "texts"), rows, where="both")
    page = Page.of("corpus", corpus.title, [table, *(Prose(line, where="both") for line in lines)])
    content: dict[str, Any] = {
        "corpus": request.name,
        "manifest": str(made.manifest),
        "texts": dict(made.texts),
    }
    content |= {"items": len(made.items), "images": dict(made.images), "empty": made.n_empty}
    screen.show_page(page, content, request)
    screen.wrote(made.manifest, quiet=screen.silent(request))


@command(CheckRequest, short_help="List the problems of a manifest; count what a pool holds.")
def check(request: CheckRequest) -> int:
    """Count the items, texts and images of a manifest, and list its errors, warnings and notes.

    Of a multilingual pool (a folder, or one of BEIR or MTEB, or SQuAD-style files) it counts questions and
    candidates by language.

    Errors stop every command that reads the manifest. Rows with errors are not counted. Warnings and notes
    stop no command. The exit code is 2 if there are errors. With --image-encoder the command also shows
    whether Backretrieval can separate text encoders on these data. It needs no text encoder for this. It
    reports whether images have near neighbours, how far the oracle (images alone) is above chance, and how
    many queries are needed.
    """
    from xlingual.data.check import check, findings_of, ordered
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.pool import is_pool
    from xlingual.workflows.informative import informative_finding, manifest_informative
    from xlingual.workflows.near_duplicates import manifest_near_duplicates, near_duplicates_finding

    data = request.data
    _refuse_without_images(request)
    if is_pool(data.manifest):
        return check_pool(request)
    store = store_of(request.keeping)
    read, problems = Manifest.read_gathering(data.manifest, **columns(data), split=data.split, rows=data.rows)
    findings, source = findings_of(problems), str(data.manifest)
    content: dict[str, Any] = {"source": source}
    page = Page("check", source, [], [])
    if read is not None:  # else no row could be read
        with screen.progress(screen.silent(request)) as progress:
            found = check(read, partial(progress, "opening images"), problems=problems)
            near = manifest_near_duplicates(read, found.pictures, progress)
            tells = None
            if request.image_encoder:
                tells = signed(
                    manifest_informative(
                        read, found.pictures, request, request.image_encoder, store, progress
                    ),
                    request,
                )
        content, page = _content(found, near, tells), _page(found, near, tells)
        findings = [*found.findings, *near_duplicates_finding(near, read), *informative_finding(tells)]
    findings = [replace(one, sentence=in_options(one.sentence)) for one in ordered(findings)]
    content["findings"] = [asdict(finding) for finding in findings]
    screen.show_page(page, content, request)
    if not screen.as_json(request):
        _print_findings(findings, request.quiet)
    return 2 if any(finding.severity == "error" for finding in findings) else 0


for made in (
    convert,
    sample,
    squad_to_pool,
    mix_pool,
    pivot_pairs,
    scenes,
    check,
):
    data.add_command(made)


def _refuse_without_images(request: CheckRequest) -> None:
    """Refuse options about images as an encoder sees them where no encoder is named."""
    default = CheckRequest(data=request.data)
    for name in ("pairs", "k", "keeping"):
        if request.image_encoder is None and getattr(request, name) != getattr(default, name):
            option = "--store and --no-store" if name == "keeping" else parameter(name)
            verb = "go" if name == "keeping" else "goes"
            raise InputError(f"{option} {verb} with {parameter('image_encoder', 'SPEC')}: name one")


def _content(found: Check, near: NearDuplicates, tells: BackretrievalCheck | None) -> dict[str, Any]:
    content = asdict(found)
    for name in ("pairs", "shared_texts"):
        content[name] = {f"{a}-{b}": count for (a, b), count in content[name].items()}
    about = {} if tells is None else {"backretrieval": tells.to_dict()}
    return content | {"near_duplicates": near.about()} | about


def _print_findings(findings: Sequence[CheckFinding], quiet: bool) -> None:
    """Print one line for each finding on standard error; notes are left out if `quiet`."""
    for finding in findings:
        if finding.severity == "note" and quiet:
            continue
        counted = finding.sentence.startswith(f"{finding.count:,} ")  # the sentence says how many
        several = finding.examples and finding.count > 1 and not counted
        times = f" ({finding.count:,} times)" if several else ""
        named = finding.severity == "error" and finding.count == 1  # the sentence of an error names its first
        examples = f"; such as: {'; '.join(finding.examples)}" if finding.examples and not named else ""
        screen.say(f"{finding.severity}{times}: {' '.join(finding.sentence.split())}{examples}", err=True)


def _page(found: Check, near: NearDuplicates, tells: BackretrievalCheck | None) -> Page:
    from xlingual.report.pages import backretrieval_check

    blocks = [_overview(found, near), _languages(found), *([_directions(found)] if found.directions else ())]
    if tells is None:
        return Page.of("check", found.source, blocks)
    blocks += backretrieval_check.blocks(tells)
    return Page.of("check", found.source, blocks, backretrieval_check.sentences(tells))


def _overview(found: Check, near: NearDuplicates) -> Table:
    images = found.pictures
    n_pictures, remark = 0, "none named: bkr and corr need vectors of them (vectors:PATH)"
    if images is not None:
        n_pictures = images.n_distinct
        remark = f"distinct, {len(images.missing):,} missing, {len(images.unreadable):,} unreadable"
    joined = "" if near.n_joined is None else f", {near.n_joined:,} clusters"
    rows = [
        ("rows", found.n_table_rows, ""),
        ("items", found.n_items, f"{found.n_items_multilingual:,} with texts in several languages"),
        ("texts", found.n_texts, f"in {counted(len(found.languages), 'language')}"),
        ("images", n_pictures, remark),
        ("near-duplicates", near.n_near, f"of {near.n_looked:,} items looked at{joined}"),
    ]
    cells = [(name, Cell.count(count), remark) for name, count, remark in rows]
    return Table.of_texts(
        found.source, ("what", "count", "remark"), cells, words=["remark"], headed=False, where="both"
    )


def _languages(found: Check) -> Table:
    heads = ("texts", "items", "empty", "repeated", "other script")
    rows = []
    for language in found.languages:
        lists = (language.empty, language.repeated, language.other_script)
        counts = (language.n_texts, language.n_items, *map(len, lists))
        rows.append((language.language, *map(Cell.count, counts)))
    looks = narrower("other script")
    return Table.of_texts("languages", ("language", *heads), rows, where="both", looks=looks)


def _directions(found: Check) -> Table:
    """Return the table of the language pairs with the fewest sources."""
    of = len(found.directions)
    fewest = f", the smallest {_MOST_PAIRS} of {of}" if of > _MOST_PAIRS else ""
    heads = ["source-target", "with both", "bkr sources", "bkr targets"]
    rows = [
        [f"{pair.source}-{pair.target}", *map(Cell.count, astuple(pair)[2:])] for pair in found.directions
    ]
    return Table.of_texts(
        f"items per language pair{fewest}",
        heads,
        rows[:_MOST_PAIRS],
        where="both",
    )
