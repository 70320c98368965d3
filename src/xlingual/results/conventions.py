"""Names of measures in results of earlier conventions: what they meant then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from xlingual.errors import listed
from xlingual.signature import Signature, version

if TYPE_CHECKING:
    import pyarrow as pa

    from xlingual.results.entries import Entry


def remarks(entries: Sequence[Entry], per_query: pa.Table) -> list[str]:
    """Return a sentence for each task with a measure whose name means something else today.

    Image–sentence ranking needs none: its reports say R@k for Success@k, as they did before.
    """
    old: dict[str, dict[str, list[Entry]]] = {}
    for entry in entries:
        if entry.measure.startswith(("R@", "SetR@")) and _version(entry) == 1:
            old.setdefault(entry.task, {}).setdefault(entry.measure, []).append(entry)
    found = []
    for task, measures in old.items():
        if task == "crosslingual-retrieval" and not _several_targets(chain(*measures.values()), per_query):
            continue
        if task not in ("crosslingual-retrieval", "multilingual-pool"):
            continue
        hits = [name for name in measures if name.startswith("R@")]
        shares = [name for name in measures if name not in hits]
        meant = [_was(hits, "the hit rate", [f"Success{name[1:]}" for name in hits])] if hits else []
        meant += [_was(shares, "set recall", [name.removeprefix("Set") for name in shares])] if shares else []
        found.append(
            f"{task}: written under conventions 1, where {' and '.join(meant)}: evaluate again to compare "
            "with newer results"
        )
    return found


def _was(names: Sequence[str], what: str, now: Sequence[str]) -> str:
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} {what} (now called {listed(now)})"


def _version(entry: Entry) -> int:
    try:
        return version(Signature.parse(entry.signature).conditions)
    except (ValueError, TypeError, AttributeError):  # reading the entries reports what is wrong with them
        return 0


def _several_targets(entries: Iterable[Entry], per_query: pa.Table) -> bool:
    """Tell whether there are more targets than items with a query, so that some item has several.

    Where only some sources were queried this is not known, and the answer is yes.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        for entry in {(one.source, one.target, one.seed): one for one in entries}.values():
            own = pc.scalar(True)
            for name in ("task", "measure", "encoder", "source", "target", "seed"):
                own = own & (pc.field(name) == getattr(entry, name))
            if entry.n_target > len(pc.unique(per_query.filter(own)["item"])):
                return True
    except (pa.ArrowException, KeyError, TypeError):  # a damaged table: reading it reports that
        return True
    return False
