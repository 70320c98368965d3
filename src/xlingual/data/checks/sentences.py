"""The findings of a check in a manifest's contents: the problem, its count, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xlingual.data.checks.records import Check, CheckFinding, ImageCheck, LanguageCheck
from xlingual.data.languages import regional_variants
from xlingual.data.manifest import Manifest
from xlingual.data.reading.build import doubled_language_warning
from xlingual.data.reading.values import shown
from xlingual.errors import listed
from xlingual.images import NO_URL, url_in

DEPTH = 10  # of Backretrieval's usual measure, R@10
_IMAGE = r"\.(?:jpe?g|png|webp|gif|bmp|tiff?|ppm)"
_SEVERAL = re.compile(rf"{_IMAGE}\s*[|;,\n]\s*\S.*{_IMAGE}\s*", re.IGNORECASE)


def content_findings(check: Check, manifest: Manifest) -> Iterator[CheckFinding]:
    """Yield a finding for each kind of thing that deserves a look, the gravest first."""
    if check.pictures is not None:
        yield from _on_pictures(check.pictures)
    yield from _on_tags([language.language for language in check.languages])
    if doubled := doubled_language_warning(manifest):
        yield _warning("language twice", 1, doubled)
    elif variants := regional_variants(manifest.languages):
        named = ", ".join(f"{one!r} beside {other!r}" for one, other in variants)
        yield CheckFinding(
            "note",
            "language with and without a region",
            len(variants),
            f"{named}: they count as two languages, and most items have both: write one tag if they are "
            "meant to be one",
        )
    yield from _on_directions(check)
    for language in check.languages:
        yield from _on_language(language)
    if found := check.html:
        yield _warning(
            "HTML",
            len(found),
            f"{_count(found, 'text holds', 'texts hold')} entities or tags of HTML, such as &amp; or <br> "
            f"(ids {shown(found)}): encoders read them as they are; write the characters themselves",
        )
    if check.shared_texts:
        (first, second), most = max(check.shared_texts.items(), key=lambda entry: entry[1])
        yield _warning(
            "equal texts",
            len(check.shared_texts),
            f"{len(check.shared_texts)} of {len(check.pairs)} pairs of languages have equal texts (most: "
            f"{first!r} and {second!r}, {most:,}): check whether they are untranslated or have the wrong "
            "language",
        )
    yield from _on_items(check)


def _warning(kind: str, count: int, sentence: str) -> CheckFinding:
    return CheckFinding("warning", kind, count, sentence)


def _on_pictures(images: ImageCheck) -> Iterator[CheckFinding]:
    paths = [path for _, path in images.missing]
    urls = [url for url in map(url_in, paths) if url is not None]
    several = [path for path in paths if url_in(path) is None and _SEVERAL.search(path)]
    missing = [path for path in paths if url_in(path) is None and not _SEVERAL.search(path)]
    if missing:
        yield _warning(
            "missing images",
            len(missing),
            f"{_count(missing, 'image file is', 'image files are')} missing ({listed(missing, 2)}): add the "
            "files or correct the paths; if you give vectors of the images, the files are not needed",
        )
    if urls:
        yield _warning(
            "URLs as images",
            len(urls),
            f"{_count(urls, 'image is a URL', 'images are URLs')} ({listed(urls, 2)}), and nothing is "
            f"downloaded: {NO_URL}",
        )
    if several:
        yield _warning(
            "several images",
            len(several),
            f"{_count(several, 'cell names', 'cells name')} several images ({listed(several, 2)}): one "
            "image belongs to a text, so keep the path of the first",
        )
    if broken := images.unreadable:
        yield _warning(
            "broken images",
            len(broken),
            f"{_count(broken, 'image', 'images')} cannot be read "
            f"(rows {shown([row for row, _ in broken])}; first: {broken[0][1]}): replace the files",
        )
    if same := images.same_bytes:
        yield _warning(
            "equal images",
            len(same),
            f"{_count(same, 'image has', 'images have')} the same bytes as another file "
            f"(first: {same[0][0]} and {same[0][1]}): name one file for both where they are one item",
        )
    if images.n_rows_without:
        yield _warning(
            "no image",
            images.n_rows_without,
            f"{_count(images.n_rows_without, 'text has', 'texts have')} no image "
            f"(ids {shown(images.without)}): evaluate with an image encoder such as pixels will refuse "
            f"{'it' if images.n_rows_without == 1 else 'them'}; give each its image, remove the rows, "
            "or use vectors of the images",
        )


def _on_tags(tags: Sequence[str]) -> Iterator[CheckFinding]:
    long = [tag for tag in tags if len(tag.partition("-")[0]) > 3]
    if long:
        yield _warning(
            "language names",
            len(long),
            f"{_count(long, 'language is no usual tag', 'languages are no usual tags')} ({shown(long)}): "
            "write BCP 47 tags such as 'en' or 'zh-Hant', whose first part has 2 or 3 letters; the tag "
            "determines the script of the language and whether it has spaces between words",
        )
    if len(tags) == 1:
        yield _warning(
            "one language",
            1,
            f"the only language is {tags[0]!r}: at least two are needed to compare texts across them; "
            "add texts in another",
        )


def _on_directions(check: Check) -> Iterator[CheckFinding]:
    few = [pair for pair in check.directions if pair.n_pictures <= DEPTH]
    if few:
        what = "images" if check.pictures is not None else "items"
        has = "has" if len(few) == 1 else "have"
        named = listed((f"{pair.source}-{pair.target} {pair.n_pictures}" for pair in few), 3)
        yield _warning(
            "small pairs",
            len(few),
            f"{len(few)} of {len(check.directions):,} language pairs {has} {DEPTH} "
            f"source {what} or fewer ({named}), since items with both languages are divided between sources "
            f"and targets: Backretrieval's R@{DEPTH} needs more than {DEPTH}; give more items, a smaller k "
            "(--measure R@k) or other pairs (--pairs)",
        )


def _on_language(language: LanguageCheck) -> Iterator[CheckFinding]:
    where = f"of {language.n_texts:,} in {language.language!r}"
    for kind, found, what, remedy in (
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
        if found:
            count = _count(found, f"text {where} is", f"texts {where} are")
            yield _warning(kind, len(found), f"{count} {what} (ids {shown(found)}): {remedy}")


def _on_items(check: Check) -> Iterator[CheckFinding]:
    if ids := check.doubled_ids:
        yield _warning(
            "ids in several languages",
            len(ids),
            f"{_count(ids, 'id stands', 'ids stand')} in several languages ({shown(ids)}), each time for "
            "another item: if rows with one id are one product, give the column of ids as --item-column, or "
            "add a column 'item'",
        )
    if check.n_items_without_text:
        yield _warning(
            "items without text",
            check.n_items_without_text,
            f"{_count(check.n_items_without_text, 'item has', 'items have')} no text in any language: "
            "fill them in or remove their rows",
        )
    if len(check.languages) > 1 and not check.n_items_multilingual:
        images = (
            "Backretrieval (bkr) does not"
            if check.pictures is not None
            else "Backretrieval (bkr) does not, but needs vectors of images (vectors:PATH): none are named"
        )
        yield _warning(
            "no multilingual items",
            1,
            f"no item has texts in two languages: true cross-lingual retrieval (xlr) needs some, {images}; "
            "where there are any, name the column that tells the item with --item-column",
        )


def _count(things: int | Sequence[object], one: str, many: str) -> str:
    number = things if isinstance(things, int) else len(things)
    return f"{number:,} {one if number == 1 else many}"
