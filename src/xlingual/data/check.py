"""Checking a manifest: counts of its contents, and findings that deserve a look before it is used."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.arrow import to_numpy
from xlingual.columns import StringColumn
from xlingual.data.image_check import ImageCheck, Progress, check_images, shared_sentence
from xlingual.data.languages import in_other_script, regional_variants
from xlingual.data.manifest import Manifest, doubled_languages
from xlingual.data.tables import Problem, Severity, shown
from xlingual.errors import listed
from xlingual.images import NO_URL, url_in
from xlingual.languages import scripts_of

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")  # in the order of the list
DEPTH = 10  # of Backretrieval's usual measure, R@10
_IMAGE = r"\.(?:jpe?g|png|webp|gif|bmp|tiff?|ppm)"
_SEVERAL = re.compile(rf"{_IMAGE}\s*[|;,\n]\s*\S.*{_IMAGE}\s*", re.IGNORECASE)
_ENTITY = r"&(?:[A-Za-z]{2,8}[0-9]{0,2}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});"
_TAG = (
    r"(?i)</?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|sub|sup|table|td|tr|u|ul)(?:\s[^<>]*)?/?>"
)


@dataclass(frozen=True)
class CheckFinding:
    """One kind of problem; errors stop every command that reads the manifest, the others stop none."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    count: int  # how often it occurs: rows, texts, images, languages … as the sentence says
    sentence: str  # one line: what was found, and what to do
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

    @property
    def warnings(self) -> list[str]:
        """The sentences of all findings but notes."""
        return [finding.sentence for finding in self.findings if finding.severity != "note"]


def check(manifest: Manifest, progress: Progress | None = None, *, problems: Sequence[Problem] = ()) -> Check:
    """Count and examine everything in a manifest; every image is opened.

    `problems` are those that were gathered while it was read (`Manifest.read_gathering`).
    """
    has = np.zeros((manifest.n_items, len(manifest.languages)), dtype=np.int64)
    has[manifest.item, manifest.language] = 1
    together = has.T @ has  # [languages, languages]: items that have both
    tags = list(enumerate(manifest.languages))
    code, length, empty = manifest.text.numbered()[0], _lengths(manifest.text), manifest.text.blank()
    texts = [distinct_values(code[(length > 0) & (manifest.language == i)]) for i, _ in tags]
    shared = {
        (a, b): len(np.intersect1d(texts[i], texts[j], assume_unique=True))
        for j, b in tags
        for i, a in tags[:j]
    }
    whole = Check(
        source=manifest.source,
        digest=manifest.digest,
        n_table_rows=manifest.n_items if manifest.wide else len(manifest),
        n_texts=len(manifest),
        n_items=manifest.n_items,
        n_items_without_text=int((has.sum(axis=1) == 0).sum()),
        n_items_multilingual=int((has.sum(axis=1) > 1).sum()),
        languages=[_check_language(manifest, tag, code, length, empty) for tag in manifest.languages],
        pairs={(a, b): int(together[i, j]) for (i, a), (j, b) in combinations(tags, 2)},
        directions=_directions(manifest, together),
        shared_texts={pair: count for pair, count in shared.items() if count},
        pictures=check_images(manifest, progress) if manifest.has_images else None,
        html=manifest.ids.pick(_texts_with_html(manifest.text)),
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
    for (severity, kind), same in grouped.items():
        count, examples = sum(one.times for one in same), [text for one in same for text in one.examples]
        if not examples and count > 1:
            examples = [f"row {row + 1}" for one in same for row in one.rows]
        findings.append(CheckFinding(severity, kind, count, same[0].sentence, shortened(examples)))
    return findings


def shortened(examples: Iterable[object], most: int = 80) -> tuple[str, ...]:
    """Return the first three examples, each on one line, cut after `most` characters."""
    lines = [" ".join(str(example).split()) for _, example in zip(range(3), examples, strict=False)]
    return tuple(line if len(line) <= most else f"{line[: most - 1]}…" for line in lines)


def ordered(findings: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Return the findings, errors first, each severity in the order in which they came."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _lengths(texts: StringColumn) -> Ints:
    """Return how many characters each text has, int64 [n]."""
    import pyarrow.compute as pc

    counts = [to_numpy(pc.utf8_length(block)) for block in texts.blocks()]
    return np.concatenate([np.empty(0, dtype=np.int64), *counts]).astype(np.int64)


def _check_language(
    manifest: Manifest, tag: str, code: Ints, length: Ints, empty: np.ndarray
) -> LanguageCheck:
    """Return the check of a language; equal texts have equal `code`s."""
    rows = manifest.rows_of(tag)
    is_empty, lengths, is_first = empty[rows], length[rows], np.zeros(len(rows), dtype=bool)
    is_first[np.unique(code[rows], return_index=True)[1]] = True
    scripts, looked = scripts_of(tag), rows[is_first & ~is_empty]
    other_script = [
        manifest.ids[row]
        for row, text in zip(looked.tolist(), manifest.text.view(looked), strict=True)
        if scripts and not ("LATIN" in scripts and text.isascii()) and in_other_script(text, scripts)
    ]
    return LanguageCheck(
        language=tag,
        n_texts=len(rows),
        n_items=len(distinct_values(manifest.item[rows])),
        empty=manifest.ids.pick(rows[is_empty]),
        repeated=manifest.ids.pick(rows[~is_first & ~is_empty]),
        other_script=other_script,
        longest=[(manifest.ids[rows[i]], int(lengths[i])) for i in np.argsort(-lengths, kind="stable")[:3]],
        median_length=float(np.median(lengths)),
    )


def _directions(manifest: Manifest, together: Ints) -> list[PairCheck]:
    """Return each source-target pair as Backretrieval divides it, the fewest source images first.

    `together` [languages, languages] counts the items that have both. Without `--sample-size` these are
    halved, with one more for the sources where their number is odd; others serve on their own side.
    """
    items = np.diag(together).tolist()
    images = [_images(manifest, tag) for tag in manifest.languages]
    pairs = []
    for (i, source), (j, target) in permutations(enumerate(manifest.languages), 2):
        both = int(together[i, j])
        only_target = both == items[j] == 1 < items[i]  # the only item that can be a target
        half = 0 if only_target else (both + 1) // 2
        n_sources, (distinct, per_item) = items[i] - both + half, images[i]
        n_pictures = min(distinct, n_sources * per_item)
        pairs.append(PairCheck(source, target, both, n_sources, items[j] - half, n_pictures))
    return sorted(pairs, key=lambda pair: (pair.n_pictures, pair.n_sources))


def _images(manifest: Manifest, tag: str) -> tuple[int, int]:
    """Return how many distinct images a language has, and how many at most an item of it has.

    Where the manifest names no images, vectors of them may be given: one for each item is assumed.
    """
    rows = manifest.rows_of(tag)
    if not manifest.has_images:
        return len(distinct_values(manifest.item[rows])), 1
    rows = rows[manifest.image[rows] >= 0]
    if not len(rows):
        return 0, 0
    pairs = np.unique(np.stack([manifest.item[rows], manifest.image[rows]]), axis=1)  # [2, shown]
    return len(distinct_values(pairs[1])), int(np.unique(pairs[0], return_counts=True)[1].max())


def _texts_with_html(texts: StringColumn) -> Ints:
    """Return the numbers of the texts with entities (`&amp;`) or tags (`<br>`) of HTML."""
    import pyarrow.compute as pc

    rows, start = [np.empty(0, dtype=np.int64)], 0
    for block in texts.blocks():
        entity, tag = (to_numpy(pc.match_substring_regex(block, pattern)) for pattern in (_ENTITY, _TAG))
        for row in np.flatnonzero(entity).tolist():  # "black&white;" is none
            entity[row] = any(html.unescape(each) != each for each in re.findall(_ENTITY, block[row].as_py()))
        rows.append(start + np.flatnonzero(entity | tag))
        start += len(block)
    return np.concatenate(rows)


def _doubled_ids(manifest: Manifest) -> list[str]:
    """Return the ids that stand in several languages, where no such id ever names one item.

    Then it is likely that rows of one id were meant to be one item.
    """
    if manifest.wide:
        return []
    code, words = manifest.ids.numbered()
    of_id = np.unique(np.stack([code, manifest.item]), axis=1)[0]  # one for each item of an id
    languages = np.unique(np.stack([code, manifest.language]), axis=1)[0]
    items, tags = np.bincount(of_id, minlength=len(words)), np.bincount(languages, minlength=len(words))
    several = np.flatnonzero(tags > 1)
    return [] if (items[several] < tags[several]).any() else words.pick(several)


def _findings(check: Check, manifest: Manifest) -> Iterator[CheckFinding]:
    """Yield a finding for each kind of thing that deserves a look, the gravest first."""

    def warning(kind: str, things: int | Sequence[object], sentence: str) -> CheckFinding:
        """Return a warning; {count|one thing|many things} in the sentence is the count with its words."""
        count = things if isinstance(things, int) else len(things)
        words = re.compile(r"\{count\|(.*?)\|(.*?)\}")
        counted = words.sub(lambda m: f"{count:,} {m[1] if count == 1 else m[2]}", sentence)
        return CheckFinding("warning", kind, count, counted)

    if check.pictures is not None:
        yield from _on_images(check.pictures, warning)
    tags = [language.language for language in check.languages]
    if long := [tag for tag in tags if len(tag.partition("-")[0]) > 3]:
        yield warning(
            "language names",
            long,
            f"{{count|language is no usual tag|languages are no usual tags}} ({shown(long)}): "
            "write BCP 47 tags such as 'en' or 'zh-Hant', whose first part has 2 or 3 letters; the tag "
            "determines the script of the language and whether it has spaces between words",
        )
    if len(tags) == 1:
        yield warning(
            "one language",
            1,
            f"the only language is {tags[0]!r}: at least two are needed to compare texts across them; "
            "add texts in another",
        )
    if doubled := doubled_languages(manifest):
        yield warning("language twice", 1, doubled)
    elif variants := regional_variants(manifest.languages):
        named = ", ".join(f"{one!r} beside {other!r}" for one, other in variants)
        sentence = (
            f"{named}: they count as two languages, and most items have both: write one tag if they are "
        )
        kind = "language with and without a region"
        yield CheckFinding("note", kind, len(variants), f"{sentence}meant to be one")
    if few := [pair for pair in check.directions if pair.n_pictures <= DEPTH]:
        what = "images" if check.pictures is not None else "items"
        pairs = listed((f"{pair.source}-{pair.target} {pair.n_pictures}" for pair in few), 3)
        yield warning(
            "small pairs",
            few,
            f"{len(few)} of {len(check.directions):,} language pairs {'has' if len(few) == 1 else 'have'} "
            f"{DEPTH} source {what} or fewer ({pairs}), since items with both languages are divided between "
            f"sources and targets: Backretrieval's R@{DEPTH} needs more than {DEPTH}; give more items, a "
            "smaller k (--measure R@k) or other pairs (--pairs)",
        )
    for language in check.languages:
        of = f"of {language.n_texts:,} in {language.language!r}"
        for kind, ids, what, remedy in (
            ("empty texts", language.empty, "empty", "fill them in or remove their rows"),
            (
                "other script",
                language.other_script,
                "mostly in another script",
                "check whether they are in another language",
            ),
            (
                "repeated texts",
                language.repeated,
                "the same as an earlier one",
                "equal texts have tied ranks; remove unintended repetitions",
            ),
        ):
            if ids:
                sentence = f"{{count|text {of} is|texts {of} are}} {what} (ids {shown(ids)}): {remedy}"
                yield warning(kind, ids, sentence)
    if ids := check.html:
        yield warning(
            "HTML",
            ids,
            "{count|text holds|texts hold} entities or tags of HTML, such as &amp; or <br> "
            f"(ids {shown(ids)}): encoders read them as they are; write the characters themselves",
        )
    if check.shared_texts:
        (first, second), most = max(check.shared_texts.items(), key=lambda entry: entry[1])
        yield warning(
            "equal texts",
            len(check.shared_texts),
            f"{len(check.shared_texts)} of {len(check.pairs)} pairs of languages have equal texts (most: "
            f"{first!r} and {second!r}, {most:,}): check whether they are untranslated or have the wrong "
            "language",
        )
    if ids := check.doubled_ids:
        yield warning(
            "ids in several languages",
            ids,
            f"{{count|id stands|ids stand}} in several languages ({shown(ids)}), each time for "
            "another item: if rows with one id are one product, give the column of ids as --item-column, or "
            "add a column 'item'",
        )
    if check.n_items_without_text:
        sentence = "{count|item has|items have} no text in any language: fill them in or remove their rows"
        yield warning("items without text", check.n_items_without_text, sentence)
    if len(check.languages) > 1 and not check.n_items_multilingual:
        images = ": none are named" if check.pictures is None else ""
        needs = f", but needs vectors of images (vectors:PATH){images}" if images else ""
        yield warning(
            "no multilingual items",
            1,
            "no item has texts in two languages: true cross-lingual retrieval (xlr) needs some, "
            f"Backretrieval (bkr) does not{needs}; where there are any, name the column that tells the item "
            "with --item-column",
        )


def _on_images(images: ImageCheck, warning: Callable[..., CheckFinding]) -> Iterator[CheckFinding]:
    paths = [path for _, path in images.missing]
    urls = [url for url in map(url_in, paths) if url is not None]
    files = [path for path in paths if url_in(path) is None]
    several = [path for path in files if _SEVERAL.search(path)]
    backslashes = [path for path in files if "\\" in path and path not in several]
    if missing := [path for path in files if path not in {*several, *backslashes}]:
        yield warning(
            "missing images",
            missing,
            f"{{count|image file is|image files are}} missing ({listed(missing, 2)}): add the "
            "files or correct the paths; if you give vectors of the images, the files are not needed",
        )
    if backslashes:
        yield warning(
            "backslashes in paths",
            backslashes,
            f"{{count|image path has|image paths have}} backslashes ({listed(backslashes, 2)}): write /",
        )
    if urls:
        yield warning(
            "URLs as images",
            urls,
            f"{{count|image is a URL|images are URLs}} ({listed(urls, 2)}), and nothing is downloaded: "
            f"{NO_URL}",
        )
    if several:
        yield warning(
            "several images",
            several,
            f"{{count|cell names|cells name}} several images ({listed(several, 2)}): one "
            "image belongs to a text, so keep the path of the first",
        )
    if images.shared:
        examples = [f"{name}: {count:,} items" for name, count in images.shared]
        shared = warning("shared images", images.shared, shared_sentence(images.shared))
        yield replace(shared, examples=shortened(examples))
    if broken := images.unreadable:
        yield warning(
            "broken images",
            broken,
            f"{{count|image|images}} cannot be read "
            f"(rows {shown([row for row, _ in broken])}; first: {broken[0][1]}): replace the files",
        )
    if same := images.same_bytes:
        yield warning(
            "equal images",
            same,
            f"{{count|image has|images have}} the same bytes as another file "
            f"(first: {same[0][0]} and {same[0][1]}): name one file for both where they are one item",
        )
    if images.n_rows_without:
        yield warning(
            "no image",
            images.n_rows_without,
            f"{{count|text has|texts have}} no image "
            f"(ids {shown(images.without)}): evaluate with an image encoder such as pixels will refuse "
            f"{'it' if images.n_rows_without == 1 else 'them'}; give each its image, remove the rows, "
            "or use vectors of the images",
        )
