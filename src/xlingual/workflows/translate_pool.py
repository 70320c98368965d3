"""A pool translated by a model or a dictionary; a translation that is stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xlingual.data.pools.build import check_targets, source_language, translate_rows
from xlingual.data.pools.folder import refuse_pool_in, write_pool
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.rows import PoolRows
from xlingual.encoders.spec import SCHEMES, parse, read_options
from xlingual.encoders.translate import Translator, is_same_language, translator
from xlingual.encoders.wordlists import UnknownWords
from xlingual.errors import InputError, warn
from xlingual.files import make_folder, writing
from xlingual.hidden import shown

PARTS = "translations"  # folder of what is translated so far, while the pool is not whole
_AT_ONCE = 256  # texts that are translated again at most where a translation was stopped
_EXAMPLE = "translate:hf-facebook/m2m100_418M, or translate:dictionaries/{lang}-{to}.tsv"
Progress = Callable[[str, int, int], None]


def translate_pool(
    pool: PoolRows,
    out: str | Path,
    to: Sequence[str],
    by: str,
    *,
    source: str | None = None,
    context: bool = True,
    format: str = "parquet",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> MultilingualPool:
    """Write a pool, with the rows of one language in the languages `to` as well, to the folder `out`.

    `by` is translate:hf-MODEL or translate:DICT.tsv with options of that scheme other than `to`; `{lang}` in
    it stands for the language that is translated, `{to}` for the one that it is translated into. `source` is
    the language that is translated; it may be left out where all questions are in one. Which rows are made,
    and what they keep: see `translate_rows`. Return the pool that is written.

    What is translated is kept in `out` as it comes, so that the same call goes on where one was stopped; it
    is removed in the end. `progress(what, done, total)` is called from time to time. A DataWarning says how
    many texts were cut or how many words were not known. Raises InputError where something cannot be used,
    before anything is translated.
    """
    own = source_language(pool, source)
    check_targets(pool, to)
    engines = {tag: _engine(by, own, tag) for tag in to}
    if not overwrite:
        refuse_pool_in(out)
    folder = make_folder(Path(out) / PARTS)
    paths = {tag: folder / f"{own}-{tag}.jsonl" for tag in to}

    def translated(texts: list[str], tag: str) -> list[str]:
        return _translated(
            texts, engines.pop(tag), own, tag, paths[tag], progress
        )  # a model's memory is free then

    made = MultilingualPool.of(translate_rows(pool, to, translated, source=own, context=context))
    write_pool(made, out, format, overwrite=overwrite)
    for path in paths.values():
        path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
    return made


def _engine(by: str, own: str, to: str) -> Translator:
    """Return what translates into a language; raise InputError where it is not there."""
    if is_same_language(own, to):
        raise InputError(f"--to {to}: the texts are in {own} already: leave it out")
    spec = parse(by)
    scheme = SCHEMES["translate"]
    if spec.scheme != scheme.name or spec.base is not None or not spec.argument.strip():
        raise InputError(f"--by {shown(by)!r}: expected {_EXAMPLE}, without '::'")
    if "to" in dict(spec.options):
        raise InputError(f"--by {shown(by)!r}: leave 'to' out: the languages are those of --to")
    engine: Translator = translator(
        spec.argument.replace("{to}", to), read_options(replace(spec, name=None), scheme), [own], to
    )
    assert engine.identity  # reads the digest of the files, so that one that lacks is found now
    return engine


def _translated(
    texts: list[str], engine: Translator, own: str, to: str, path: Path, progress: Progress | None
) -> list[str]:
    """Return the translations of different texts; those that `path` holds are not made again."""
    head = {"by": engine.identity, "from": own, "to": to}
    known = _known(path, head)
    missing = [text for text in texts if text not in known]
    unknown, what = UnknownWords(), f"translating into {to}"
    with writing(path), path.open("a", encoding="utf-8") as file:
        if not known:
            file.truncate(0)
            file.write(json.dumps(head) + "\n")
        for start in range(0, len(missing), _AT_ONCE):
            if progress is not None:
                progress(what, len(texts) - len(missing) + start, len(texts))
            part = missing[start : start + _AT_ONCE]
            found = engine.translate(part, own)
            unknown.add(own, found.unknown, found.words)
            for text, translation, cut in zip(part, found.text, found.truncated, strict=True):
                known[text] = translation, cut
                file.write(json.dumps([text, translation, cut], ensure_ascii=False) + "\n")
            file.flush()
    if progress is not None:
        progress(what, len(texts), len(texts))
    notes = unknown.notes("of the different texts, words that the dictionary does not have")
    if shortened := sum(known[text][1] for text in texts):
        notes.append(f"{shortened} of {len(texts)} texts are longer than the model reads, and were cut")
    if empty := sum(not known[text][0].strip() for text in texts):
        notes.append(f"{empty} of {len(texts)} translations are empty")
    for note in notes:
        warn(f"translations into {to}: {note}")
    return [known[text][0] for text in texts]


def _known(path: Path, head: Mapping[str, str]) -> dict[str, tuple[str, bool]]:
    """Return what a file holds already, text → translation and whether it was cut; none of another model.

    A last line that is not whole, as a stopped process may leave, is removed.
    """
    if not path.exists():
        return {}
    whole = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    try:
        first, *rows = map(json.loads, whole)
        if first != head:
            return {}
        known = {text: (translation, cut) for text, translation, cut in rows}
    except (ValueError, TypeError):
        return {}
    with writing(path):
        path.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
    return known
