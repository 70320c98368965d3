"""What the numbers depend on, read from the signatures of the entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from xlingual.report import numbers
from xlingual.results import Entry, Results, by_key
from xlingual.signature import Signature


def collected(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """Return every condition of the signatures with all its values, in order of appearance."""
    signatures = dict.fromkeys(entry.signature for entry in entries)
    return _gathered(pair for one in signatures for pair in parsed(one).conditions.items())


def systems(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """Return each encoder's name with what identifies it."""
    signatures = dict.fromkeys((entry.encoder, entry.signature) for entry in entries)
    # percent signs keep a signature in one piece; here words are read
    return _gathered(
        (name, unquote(value)) for name, one in signatures for value in parsed(one).system.values()
    )


def similarity(entries: Iterable[Entry]) -> list[str]:
    """Return a sentence where something else than cosine ranks, and one for each way to compare vectors."""
    systems = dict.fromkeys((entry.encoder, entry.signature) for entry in entries)
    encoders: dict[str, dict[str, None]] = {}  # by how their vectors are compared
    repairs: dict[str, dict[str, None]] = {}
    for encoder, signature in systems:
        system = parsed(signature).system
        by_words = system.get("encoder", "").rpartition("::")[2].startswith("bm25:")
        for name in system.get("similarity", "").split("+"):
            if by_words and name == "dot":  # what BM25 is
                continue
            if name in _COMPARED:
                encoders.setdefault(name, {})[encoder] = None
            elif name:
                repairs.setdefault(name, {})[encoder] = None
    lines = {", ".join(who): _COMPARED[name] for name, who in encoders.items()}
    found = [f"{who}: ranked by {how}, not by cosine." for who, how in lines.items()]
    everyone = {encoder for encoder, _ in systems}
    if all(who.keys() == everyone for who in repairs.values()):
        return found + ranked_by(", ".join(repairs))
    own = (f"{', '.join(who)}: ranked by {how}, not by cosine" for how, who in repairs.items())
    return found + [f"{sentence}: its hubs are repaired." for sentence in own]


_COMPARED = {
    "dot": "the dot product of sparse vectors",
    "maxsim": "MaxSim of the vectors of tokens",
    "meanmaxsim": "MaxSim per token of the query",
}


def ranked_by(similarity: str | None) -> list[str]:
    """Return a sentence that names a similarity, none for cosine; several are those of some encoders each."""
    if similarity and similarity.startswith("cosine, "):
        return [f"Encoders are ranked each by its own similarity: {similarity}. Hubs of some are repaired."]
    return [f"Ranked by {similarity}, not by cosine: hubs are repaired."] if similarity else []


def unequal(runs: Sequence[Results], task: str) -> list[str]:
    """Return the conditions whose values differ between runs."""
    by_run = [collected(by_key(run.entries, task=task)) for run in runs]
    sets = [{key: set(values) for key, values in found.items()} for found in by_run]
    keys = dict.fromkeys(key for found in by_run for key in found)
    return [key for key in keys if any(found.get(key) != sets[0].get(key) for found in sets)]


def fewer_items(request: Mapping[str, Any], samples: Iterable[str]) -> list[str]:
    """Return a sentence where samples, conditions such as "365#0", are smaller than was asked for."""
    drawn = {sample.partition("#")[0].partition("-")[0] for sample in samples}
    sizes, most = sorted(int(size) for size in drawn if size.isdigit()), request.get("sample")
    if not sizes or not isinstance(most, int) or sizes[0] >= most:
        return []
    requested = f"The data have fewer items than the requested {numbers.count(most)}"
    return [f"{requested}: N = {numbers.span(sizes)} for each side."]


def parsed(signature: str) -> Signature:
    """Return the parts of a signature; one that cannot be read is the value of a single key."""
    try:
        return Signature.parse(signature)
    except ValueError:
        return Signature({"signature": signature}, {})


def _gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in found.items()}
