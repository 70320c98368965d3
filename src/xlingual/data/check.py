"""Checking a manifest: counts of its contents, and findings that deserve a look before it is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.arrow import to_numpy
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
_HTML = (
    r"&(?:amp|lt|gt|quot|apos|nbsp|[a-zA-Z]{3,6}(?:uml|grave|acute|circ|tilde|cedil)|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});"
    r"|(?i:</?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|sub|sup|table|td|tr|u|ul)(?:\s[^<>]*)?/?>)"
)

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
    longest: list[tuple[str, int]]  # (id, characters), the longest first
    median_length: float  # characters


@dataclass(frozen=True)
class PairCheck:
    """A language pair as Backretrieval takes it: no item is on both sides."""

    source: str
    target: str
    n_both: int  # items that have both languages; they are divided between the sides
    n_sources: int  # items on the source side
    n_targets: int
    n_pictures: int  # most distinct images on the source side; R@10 needs more than 10


@dataclass(frozen=True)
class ImageCheck:
    """The images; `missing` and `unreadable` hold (id of a row that shows it, the problem)."""

    n_rows_with: int  # text rows that have an image
    n_rows_without: int
    without: list[str]  # ids of those
    n_distinct: int  # different bytes among those that could be read, different paths among the others
    missing: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    same_bytes: list[tuple[str, str]]  # paths that hold the same bytes as an earlier path
    shared: list[
        tuple[str, int]
    ]  # (image, items) of images and groups of near-equal ones that many items show


@dataclass(frozen=True)
class Check:
    """The result of `check`, as plain data."""

    source: str
    digest: str
    n_table_rows: int
    n_texts: int
    n_items: int
    n_items_without_text: int
    n_items_multilingual: int  # items with texts in more than one language
    languages: list[LanguageCheck]
    pairs: dict[tuple[str, str], int]  # items that have both languages
    directions: list[PairCheck]  # source-target pairs, those with the fewest images first
    shared_texts: dict[tuple[str, str], int]  # different texts that occur in both languages
    pictures: ImageCheck | None  # None: the manifest names no images
    html: list[str]  # ids of texts that hold entities or tags of HTML
    doubled_ids: list[str]  # ids that stand in several languages, each time for another item
    findings: list[CheckFinding]  # errors first


def check(manifest: Manifest, progress: Progress | None = None, *, problems: Sequence[Problem] = ()) -> Check:
    """Count and examine everything in a manifest; every image is opened.

    `problems` are those that were gathered while it was read (`Manifest.read_gathering`).
    """
    import pyarrow.compute as pc

    has = np.zeros((manifest.n_items, len(manifest.languages)), dtype=np.int64)
    has[manifest.item, manifest.language] = 1
    together = has.T @ has  # [languages, languages]: items that have both
    tags = list(enumerate(manifest.languages))
    code, words = manifest.text.numbered()
    length = to_numpy(pc.utf8_length(words.array)).astype(np.int64)[code]
    texts = [distinct_values(code[(length > 0) & (manifest.language == i)]) for i, _ in tags]
    shared = {
        (a, b): len(np.intersect1d(texts[i], texts[j], assume_unique=True))
        for (i, a), (j, b) in combinations(tags, 2)
    }
    html = to_numpy(pc.match_substring_regex(words.array, _HTML))[code]
    whole = Check(
        source=manifest.source,
        digest=manifest.digest,
        n_table_rows=manifest.n_items if manifest.wide else len(manifest),
        n_texts=len(manifest),
        n_items=manifest.n_items,
        n_items_without_text=int((has.sum(axis=1) == 0).sum()),
        n_items_multilingual=int((has.sum(axis=1) > 1).sum()),
        languages=[_check_language(manifest, tag, code, length) for tag in manifest.languages],
        pairs={(a, b): int(together[i, j]) for (i, a), (j, b) in combinations(tags, 2)},
        directions=_directions(manifest, together),
        shared_texts={pair: count for pair, count in shared.items() if count},
        pictures=check_images(manifest, progress) if manifest.has_images else None,
        html=manifest.ids.pick(np.flatnonzero(html)),
        doubled_ids=_doubled_ids(manifest),
        findings=[],
    )
    return replace(whole, findings=ordered([*findings_of(problems), *_findings(whole, manifest)]))


def findings_of(problems: Sequence[Problem]) -> list[CheckFinding]:
    """Return the problems gathered while reading: a finding for each kind, with the sentence of the first."""
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
    """Return the first three examples, each on one line, cut after `most` characters."""
    lines = [" ".join(str(example).split()) for _, example in zip(range(3), examples, strict=False)]
    return tuple(line if len(line) <= most else f"{line[: most - 1]}…" for line in lines)


def ordered(findings: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Return the findings, errors first, each severity in the order in which they came."""
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))


def check_images(manifest: Manifest, progress: Progress | None = None) -> ImageCheck:
    """Open every image; `progress` is called with (images done, images in all)."""
    rows = np.flatnonzero(manifest.image >= 0)
    row_of = rows[np.unique(manifest.image[rows], return_index=True)[1]]  # the first that shows each image
    sources, ids = manifest.image_source, manifest.ids.view(row_of)
    absent = missing_files(sources, os.path.exists)
    there = np.setdiff1d(np.arange(len(sources)), absent, assume_unique=True)
    first: dict[bytes, int] = {}
    looks, unreadable, same_bytes = {}, [], []
    opened = zip(there.tolist(), looked_at(view(sources, there), ids.view(there)), strict=True)
    for done, (number, look) in enumerate(opened, len(absent) + 1):
        if isinstance(look, InputError):
            unreadable.append((ids[number], str(look)))
        else:
            earlier, looks[number] = first.setdefault(look[0], number), look[1]
            if earlier != number:
                same_bytes.append(tuple(_image_name(manifest, row_of[n]) for n in (number, earlier)))
        if progress is not None:
            progress(done, len(sources))
    groups = groups_of_looks(looks, items_of_images(manifest.image, manifest.item), MANY)
    return ImageCheck(
        n_rows_with=len(rows),
        n_rows_without=len(manifest) - len(rows),
        without=manifest.ids.pick(np.flatnonzero(manifest.image < 0)),
        n_distinct=len(sources) - len(same_bytes),
        missing=list(zip(ids.view(absent), shown_paths(view(sources, absent)), strict=True)),
        unreadable=unreadable,
        same_bytes=same_bytes,  # type: ignore[arg-type]
        shared=shared_images(manifest, np.append(groups, -1)[manifest.image]),
    )


def shared_images(manifest: Manifest, image: Ints) -> list[tuple[str, int]]:
    """Return (name, items) of the images that more than `MANY` items show, those of most items first.

    `image` [n] is the image of each text, -1 for none: equal numbers for equal or near-equal content.
    """
    n_items = items_of_images(image, manifest.item)
    images = np.flatnonzero(n_items > MANY)
    images = images[np.argsort(-n_items[images], kind="stable")]
    return [
        (_image_name(manifest, np.flatnonzero(image == number)[0]), int(n_items[number]))
        for number in images.tolist()
    ]


def shared_sentence(shared: Sequence[tuple[str, int]]) -> str:
    """Return one sentence on images such as no-image.png, which say nothing of an item."""
    return (
        f"{_n(shared, 'image')}, or {'group' if len(shared) == 1 else 'groups'} of near-equal images, shown "
        f"by more than {MANY} items ({shared[0][0]}: {shared[0][1]:,} items), which cannot tell them apart: "
        f"{parameter('drop_shared_images', str(MANY))} leaves their rows out"
    )


def _image_name(manifest: Manifest, row: int) -> str:
    """Return how messages call the image of a text: by its path, or by the id of the text."""
    source = manifest.image_source[manifest.image[row]] if manifest.image[row] >= 0 else None
    return str(source) if isinstance(source, Path) else f"the image of {manifest.ids[row]!r}"


def _check_language(manifest: Manifest, tag: str, code: Ints, length: Ints) -> LanguageCheck:
    """Return the check of a language; equal texts have equal `code`s."""
    rows = manifest.rows_of(tag)
    empty, is_first = manifest.text.view(rows).blank(), np.zeros(len(rows), dtype=bool)
    is_first[np.unique(code[rows], return_index=True)[1]] = True
    scripts, different = scripts_of(tag), rows[is_first & ~empty]
    other_script = [
        manifest.ids[row]
        for row, text in zip(different.tolist(), manifest.text.view(different), strict=True)
        if scripts and not ("LATIN" in scripts and text.isascii()) and in_other_script(text, scripts)
    ]
    longest = np.argsort(-length[rows], kind="stable")[:3]
    return LanguageCheck(
        language=tag,
        n_texts=len(rows),
        n_items=len(distinct_values(manifest.item[rows])),
        empty=manifest.ids.pick(rows[empty]),
        repeated=manifest.ids.pick(rows[~is_first & ~empty]),
        other_script=other_script,
        longest=[(manifest.ids[row], int(length[row])) for row in rows[longest].tolist()],
        median_length=float(np.median(length[rows])),
    )


def _directions(manifest: Manifest, together: Ints) -> list[PairCheck]:
    """Return each source-target pair as Backretrieval divides it, the fewest source images first.

    `together` [languages, languages] counts the items that have both. Without `--sample` these are
    halved, with one more for the sources where their number is odd; others serve on their own side. Where
    the manifest names no images, vectors of them may be there: one for each item is assumed.
    """
    items, images = np.diag(together).tolist(), []
    for rows in map(manifest.rows_of, manifest.languages):
        picture = manifest.image[rows] if manifest.has_images else manifest.item[rows]
        pairs = np.unique(np.stack([manifest.item[rows], picture])[:, picture >= 0], axis=1)
        per_item = np.unique(pairs[0], return_counts=True)[1].max(initial=0)
        images.append((len(distinct_values(pairs[1])), int(per_item)))
    directions = []
    for (i, source), (j, target) in permutations(enumerate(manifest.languages), 2):
        both = int(together[i, j])
        only_target = both == items[j] == 1 < items[i]  # the only item that can be a target
        half = 0 if only_target else (both + 1) // 2
        n_sources = items[i] - both + half
        n_pictures = min(images[i][0], n_sources * images[i][1])
        directions.append(PairCheck(source, target, both, n_sources, items[j] - half, n_pictures))
    return sorted(directions, key=lambda pair: (pair.n_pictures, pair.n_sources))


def _doubled_ids(manifest: Manifest) -> list[str]:
    """Return the ids that stand in several languages, where no such id ever names one item.

    Then it is likely that rows of one id were meant to be one item.
    """
    if manifest.wide:
        return []
    code, words = manifest.ids.numbered()
    items, tags = (
        np.bincount(np.unique(np.stack([code, column]), axis=1)[0], minlength=len(words))
        for column in (manifest.item, manifest.language)
    )
    several = np.flatnonzero(tags > 1)
    return [] if (items[several] < tags[several]).any() else words.pick(several)


def _n(things: int | Sequence[object], what: str) -> str:
    """Return a count and its word: "1 text", "1,200 texts"."""
    count = things if isinstance(things, int) else len(things)
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _findings(check: Check, manifest: Manifest) -> Iterator[CheckFinding]:
    """Yield a warning for each kind of thing that deserves a look, the gravest first."""
    cases: list[tuple[str, int | Sequence[object], str]] = []  # (kind, things, sentence)
    tags, pictures = [language.language for language in check.languages], check.pictures
    if pictures is not None:
        cases += _of_images(pictures)
    alone = f"the only language is {tags[0]!r}: add texts in another, since two are compared"
    cases.append(("one language", int(len(tags) == 1), alone))
    few = [pair for pair in check.directions if pair.n_pictures <= _DEPTH]
    what = "images" if pictures is not None else "items"
    pairs = listed((f"{pair.source}-{pair.target} {pair.n_pictures}" for pair in few), 3)
    cases.append((
        "small pairs", few,
        f"{_n(few, 'language pair')} of {len(check.directions):,} with {_DEPTH} source {what} or fewer "
        f"({pairs}), since items with both languages are divided between sources and targets: "
        f"Backretrieval's R@{_DEPTH} needs more; give more items, a smaller k or other pairs (--pairs)",
    ))  # fmt: skip
    for language in check.languages:
        of = f"of {language.n_texts:,} in {language.language!r}"
        for kind, ids, what, remedy in (
            ("empty texts", language.empty, "empty text", "fill them in or remove their rows"),
            ("other script", language.other_script, "text", "mostly in another script: are they translated?"),
            ("repeated texts", language.repeated, "repeated text", "they tie; remove unintended repetitions"),
        ):
            cases.append((kind, ids, f"{_n(ids, what)} {of} (ids {shown(ids)}): {remedy}"))
    ids = check.html
    remedy = "encoders read them as they are; write the characters themselves"
    words = f"{_n(ids, 'text')} with entities or tags of HTML, such as &amp; or <br> (ids {shown(ids)})"
    cases.append(("HTML", ids, f"{words}: {remedy}"))
    (first, second), most = max(check.shared_texts.items(), key=lambda case: case[1], default=(("", ""), 0))
    equal = f"{_n(check.shared_texts, 'pair')} of languages of {len(check.pairs)} with equal texts (most: "  # type: ignore[arg-type]
    remedy = "check whether they are untranslated or have the wrong language"
    cases.append(
        ("equal texts", len(check.shared_texts), f"{equal}{first!r} and {second!r}, {most:,}): {remedy}")
    )
    ids = check.doubled_ids
    remedy = "if rows with one id are one product, give the column of ids as --item-column"
    words = f"{_n(ids, 'id')} in several languages ({shown(ids)}), each time of another item"
    cases.append(("ids in several languages", ids, f"{words}: {remedy}"))
    none = f"{_n(check.n_items_without_text, 'item')} without text in any language: fill them in"
    cases.append(("items without text", check.n_items_without_text, none))
    needs = "" if pictures is not None else ", but needs vectors of images (vectors:PATH): none are named"
    cases.append((
        "no multilingual items", int(len(tags) > 1 and not check.n_items_multilingual),
        "no item has texts in two languages: true cross-lingual retrieval (xlr) needs some, Backretrieval "
        f"(bkr) does not{needs}; where there are any, name the column that tells the item with --item-column",
    ))  # fmt: skip
    for kind, things, sentence in cases:
        if count := things if isinstance(things, int) else len(things):
            examples = things if kind == "shared images" else ()
            yield CheckFinding("warning", kind, count, sentence, shortened(examples))  # type: ignore[arg-type]


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
    broken, same, without = images.unreadable, images.same_bytes, images.without
    if broken:
        rows = f"(rows {shown([row for row, _ in broken])}; first: {broken[0][1]})"
        yield "broken images", broken, f"{_n(broken, 'image')} that cannot be read {rows}: replace the files"
    if same:
        pair = f"(first: {same[0][0]} and {same[0][1]})"
        words = f"{_n(same, 'image')} with the same bytes as another file {pair}"
        yield "equal images", same, f"{words}: name one file for both where they are one item"
    remedy = "give each its image, remove the rows, or use vectors of the images"
    yield "no image", without, f"{_n(without, 'text')} without image (ids {shown(without)}): {remedy}"
