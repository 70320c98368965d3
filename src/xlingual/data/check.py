"""Checking a manifest: counts of its contents, and findings that deserve a look before it is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import shown_paths, view
from xlingual.data.images import groups_of_looks, items_of_images, looked_at
from xlingual.data.languages import in_other_script
from xlingual.data.manifest import Manifest
from xlingual.data.tables import Problem, Severity, shown
from xlingual.errors import InputError, listed, parameter
from xlingual.images import NO_URL, missing_files, url_in
from xlingual.languages import scripts_of

MANY = 10  # items that may show one image without a warning
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")  # in the order of the list
_DEPTH = 10  # of Backretrieval's usual measure, R@10

Progress = Callable[[int, int], None]  # images done, images in all


@dataclass(frozen=True)
class CheckFinding:
    """One kind of problem; errors stop every command that reads the manifest, the others stop none."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    count: int  # how often it occurs: rows, texts, images, languages … as the sentence says
    sentence: str  # one line: what there is, and what to do
    examples: tuple[str, ...] = ()  # at most three, each on one line


@dataclass(frozen=True)
class LanguageCheck:
    """The texts of one language; lists hold ids of rows."""

    language: str
    n_texts: int
    n_items: int
    empty: list[str]  # texts without visible characters
    repeated: list[str]  # texts that an earlier row of the language has too
    other_script: list[str]  # texts mostly in letters the language is not written in


@dataclass(frozen=True)
class PairCheck:
    """A language pair as Backretrieval takes it: no item is on both sides."""

    source: str
    target: str
    n_both: int  # items that have both languages; they are divided between the sides
    n_sources: int  # items on the source side; R@10 needs more than 10
    n_targets: int


@dataclass(frozen=True)
class ImageCheck:
    """The images; `missing` and `unreadable` hold (id of a row that shows it, the problem)."""

    n_rows_with: int  # text rows that have an image
    without: list[str]  # ids of the others
    n_distinct: int  # different bytes among those that could be read, different paths among the others
    missing: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    shared: list[tuple[str, int]]  # (image, items) of images that many items show


@dataclass(frozen=True)
class Check:
    """The result of `check`, as plain data."""

    source: str
    digest: str
    n_table_rows: int
    n_texts: int
    n_items: int
    n_items_multilingual: int  # items with texts in more than one language
    languages: list[LanguageCheck]
    pairs: dict[tuple[str, str], int]  # items that have both languages
    directions: list[PairCheck]  # source-target pairs, those with the fewest sources first
    shared_texts: dict[tuple[str, str], int]  # different texts that occur in both languages
    pictures: ImageCheck | None  # None: the manifest names no images
    findings: list[CheckFinding]  # errors first


def check(manifest: Manifest, progress: Progress | None = None, *, problems: Sequence[Problem] = ()) -> Check:
    """Count and examine everything in a manifest; every image is opened.

    `problems` are those that were gathered while it was read (`Manifest.read_gathering`).
    """
    has = np.zeros((manifest.n_items, len(manifest.languages)), dtype=np.int64)
    has[manifest.item, manifest.language] = 1
    together = has.T @ has  # [languages, languages]: items that have both
    tags, seen = list(enumerate(manifest.languages)), ~manifest.text.blank()
    code, _ = manifest.text.numbered()
    texts = [distinct_values(code[seen & (manifest.language == i)]) for i, _ in tags]
    shared = {
        (a, b): len(np.intersect1d(texts[i], texts[j], assume_unique=True))
        for (i, a), (j, b) in combinations(tags, 2)
    }
    whole = Check(
        source=manifest.source,
        digest=manifest.digest,
        n_table_rows=manifest.n_items if manifest.wide else len(manifest),
        n_texts=len(manifest),
        n_items=manifest.n_items,
        n_items_multilingual=int((has.sum(axis=1) > 1).sum()),
        languages=[_check_language(manifest, tag, code, seen) for tag in manifest.languages],
        pairs={(a, b): int(together[i, j]) for (i, a), (j, b) in combinations(tags, 2)},
        directions=_directions(manifest.languages, together),
        shared_texts={pair: count for pair, count in shared.items() if count},
        pictures=check_images(manifest, progress) if manifest.has_images else None,
        findings=[],
    )
    return replace(whole, findings=ordered([*findings_of(problems), *_findings(whole)]))


def findings_of(problems: Sequence[Problem]) -> list[CheckFinding]:
    """Group the problems gathered while reading: a finding for each kind, with the sentence of the first."""
    grouped: dict[tuple[Severity, str], list[Problem]] = {}
    for problem in problems:
        grouped.setdefault((problem.severity, problem.kind), []).append(problem)
    findings = []
    for (severity, kind), alike in grouped.items():
        count = sum(max(1, len(problem.rows)) for problem in alike)
        examples = [example for problem in alike for example in problem.examples]
        if not examples and count > 1:
            examples = [f"row {row + 1}" for problem in alike for row in problem.rows]
        findings.append(CheckFinding(severity, kind, count, alike[0].sentence, shortened(examples)))
    return findings


def shortened(examples: Iterable[object], most: int = 80) -> tuple[str, ...]:
    """Give the first three examples, each on one line, cut after `most` characters."""
    lines = [" ".join(str(example).split()) for _, example in zip(range(3), examples, strict=False)]
    return tuple(line if len(line) <= most else f"{line[: most - 1]}…" for line in lines)


def ordered(findings: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Order findings: errors first, each severity in the order in which they came."""
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))


def check_images(manifest: Manifest, progress: Progress | None = None) -> ImageCheck:
    """Open every image; `progress` is called with (images done, images in all)."""
    rows = np.flatnonzero(manifest.image >= 0)
    row_of = rows[np.unique(manifest.image[rows], return_index=True)[1]]  # the first that shows each image
    sources, ids = manifest.image_source, manifest.ids.view(row_of)
    absent = missing_files(sources, os.path.exists)
    there = np.setdiff1d(np.arange(len(sources)), absent, assume_unique=True)
    contents: set[bytes] = set()
    looks, unreadable = {}, []
    opened = zip(there.tolist(), looked_at(view(sources, there), ids.view(there)), strict=True)
    for done, (number, look) in enumerate(opened, len(absent) + 1):
        if isinstance(look, InputError):
            unreadable.append((ids[number], str(look)))
        else:
            contents.add(look[0])
            looks[number] = look[1]
        if progress is not None:
            progress(done, len(sources))
    groups = groups_of_looks(looks, items_of_images(manifest.image, manifest.item), MANY)
    return ImageCheck(
        n_rows_with=len(rows),
        without=manifest.ids.pick(np.flatnonzero(manifest.image < 0)),
        n_distinct=len(contents) + len(absent) + len(unreadable),
        missing=list(zip(ids.view(absent), shown_paths(view(sources, absent)), strict=True)),
        unreadable=unreadable,
        shared=shared_images(manifest, np.append(groups, -1)[manifest.image]),
    )


def shared_images(manifest: Manifest, image: Ints) -> list[tuple[str, int]]:
    """List (name, items) of the images that more than `MANY` items show, those of most items first.

    `image` [n] is the image of each text, -1 for none: equal numbers for equal or near-equal content.
    """
    n_items = items_of_images(image, manifest.item)
    images = np.flatnonzero(n_items > MANY)
    named = []
    for number in images[np.argsort(-n_items[images], kind="stable")].tolist():
        row = int(np.flatnonzero(image == number)[0])
        source = manifest.image_source[manifest.image[row]] if manifest.image[row] >= 0 else None
        name = str(source) if isinstance(source, Path) else f"the image of {manifest.ids[row]!r}"
        named.append((name, int(n_items[number])))
    return named


def shared_sentence(shared: Sequence[tuple[str, int]]) -> str:
    """Say in one sentence that images such as no-image.png say nothing of an item."""
    return (
        f"{_n(shared, 'image')}, or {'group' if len(shared) == 1 else 'groups'} of near-equal images, shown "
        f"by more than {MANY} items ({shared[0][0]}: {shared[0][1]:,} items), which cannot tell them apart: "
        f"{parameter('drop_shared_images', str(MANY))} leaves their rows out"
    )


def _check_language(manifest: Manifest, tag: str, code: Ints, seen: np.ndarray) -> LanguageCheck:
    """Check a language; equal texts have equal `code`s, and `seen` ones visible characters."""
    rows = manifest.rows_of(tag)
    is_first = np.zeros(len(rows), dtype=bool)
    is_first[np.unique(code[rows], return_index=True)[1]] = True
    scripts, different = scripts_of(tag), rows[is_first & seen[rows]]
    other_script = [
        manifest.ids[row]
        for row, text in zip(different.tolist(), manifest.text.view(different), strict=True)
        if scripts and not ("LATIN" in scripts and text.isascii()) and in_other_script(text, scripts)
    ]
    return LanguageCheck(
        language=tag,
        n_texts=len(rows),
        n_items=len(distinct_values(manifest.item[rows])),
        empty=manifest.ids.pick(rows[~seen[rows]]),
        repeated=manifest.ids.pick(rows[~is_first & seen[rows]]),
        other_script=other_script,
    )


def _directions(tags: Sequence[str], together: Ints) -> list[PairCheck]:
    """List each source-target pair as Backretrieval divides it, the fewest sources first.

    `together` [languages, languages] counts the items that have both: these are halved, with one more for the
    sources where their number is odd; others serve on their own side.
    """
    directions = []
    for (i, source), (j, target) in permutations(enumerate(tags), 2):
        both, sources, targets = (int(together[place]) for place in ((i, j), (i, i), (j, j)))
        half = 0 if both == targets == 1 < sources else (both + 1) // 2  # the only item that can be a target
        directions.append(PairCheck(source, target, both, sources - both + half, targets - half))
    return sorted(directions, key=lambda pair: pair.n_sources)


def _n(things: int | Sequence[object], what: str) -> str:
    """Write a count and its word: "1 text", "1,200 texts"."""
    count = things if isinstance(things, int) else len(things)
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _findings(check: Check) -> Iterator[CheckFinding]:
    """Yield a warning for each kind of thing that deserves a look, the gravest first."""
    tags, images = [language.language for language in check.languages], check.pictures
    cases: list[tuple[str, Sequence[object], str]] = []  # (kind, things, sentence)
    if images is not None:
        cases += _of_images(images)
    if len(tags) == 1:
        alone = f"the only language is {tags[0]!r}: add texts in another, since two are compared"
        cases.append(("one language", tags, alone))
    if few := [pair for pair in check.directions if pair.n_sources <= _DEPTH]:
        pairs = listed((f"{pair.source}-{pair.target} {pair.n_sources}" for pair in few), 3)
        sentence = (
            f"{_n(few, 'language pair')} of {len(check.directions):,} with {_DEPTH} source items or fewer "
            f"({pairs}), since items with both languages are divided between sources and targets: "
            f"Backretrieval's R@{_DEPTH} needs more; give more items, a smaller k or other pairs (--pairs)"
        )
        cases.append(("small pairs", few, sentence))
    for language in check.languages:
        of = f"of {language.n_texts:,} in {language.language!r}"
        for kind, ids, what, remedy in (
            ("empty texts", language.empty, "empty text", "fill them in or remove their rows"),
            ("other script", language.other_script, "text", "mostly in another script: are they translated?"),
            ("repeated texts", language.repeated, "repeated text", "they tie; remove unintended repetitions"),
        ):
            cases.append((kind, ids, f"{_n(ids, what)} {of} (ids {shown(ids)}): {remedy}"))
    if check.shared_texts:
        (first, second), most = max(check.shared_texts.items(), key=lambda case: case[1])
        equal = f"{_n(len(check.shared_texts), 'pair')} of languages of {len(check.pairs)} with equal texts"
        remedy = "check whether they are untranslated or have the wrong language"
        sentence = f"{equal} (most: {first!r} and {second!r}, {most:,}): {remedy}"
        cases.append(("equal texts", [*check.shared_texts], sentence))
    if len(tags) > 1 and not check.n_items_multilingual:
        needs = "" if images is not None else ", but needs vectors of images (vectors:PATH): none are named"
        sentence = (
            "no item has texts in two languages: true cross-lingual retrieval (xlr) needs some, "
            f"Backretrieval (bkr) does not{needs}; where there are any, name the column that tells the item "
            "with --item-column"
        )
        cases.append(("no multilingual items", tags[:1], sentence))
    for kind, things, sentence in cases:
        if things:
            examples = things if kind == "shared images" else ()
            yield CheckFinding("warning", kind, len(things), sentence, shortened(examples))


def _of_images(images: ImageCheck) -> Iterator[tuple[str, Sequence[object], str]]:
    """Yield (kind, things, sentence) of each kind of problem of images."""
    by_kind: dict[str, list[str]] = {"missing": [], "URL": [], "backslash": []}
    for _, path in images.missing:
        kind = "URL" if url_in(path) else "backslash" if "\\" in path else "missing"
        by_kind[kind].append(url_in(path) or path)
    for key, kind, what, remedy in (
        ("missing", "missing images", "missing image file", "add them or correct the paths, or use vectors"),
        ("backslash", "backslashes in paths", "image path", "write / where these have backslashes"),
        ("URL", "URLs as images", "image address", f"nothing is downloaded: {NO_URL}"),
    ):
        paths = by_kind[key]
        yield kind, paths, f"{_n(paths, what)} ({listed(paths, 2)}): {remedy}"
    if images.shared:
        examples = [f"{name}: {count:,} items" for name, count in images.shared]
        yield "shared images", examples, shared_sentence(images.shared)
    broken, without = images.unreadable, images.without
    if broken:
        rows = f"(rows {shown([row for row, _ in broken])}; first: {broken[0][1]})"
        yield "broken images", broken, f"{_n(broken, 'image')} that cannot be read {rows}: replace the files"
    remedy = "give each its image, remove the rows, or use vectors of the images"
    yield "no image", without, f"{_n(without, 'text')} without image (ids {shown(without)}): {remedy}"
