"""Claims: one number of an evaluation in one line that a paper can carry and that `verify` checks.

    xlingual:bkr|R@10=.351[.312,.393]|cllsa_2860|mean of 2 pairs|conventions 4|eb7f364e3ccdf6b3

Task, measure with its value and interval, encoder, language pair or mean, conventions, and the first 16
digits of the result digest. The digest finds the result; the rest must be what the result says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from xlingual.errors import InputError
from xlingual.results.digest import digest_of
from xlingual.results.entries import Entry, Summary
from xlingual.results.evaluation import Results
from xlingual.signature import CONVENTIONS
from xlingual.tasks import TASKS, task_of

PREFIX = "xlingual:"
DIGITS = 16  # of the result digest
_LEAST = 3  # decimals, and digits that say something
_PLAIN = "@/ +-.,_()=:"  # characters of names that stand as they are
_VALUE = re.compile(r"(?P<measure>[^=]+)=(?P<value>-?[\d.]+)(?:\[(?P<low>-?[\d.]+),(?P<high>-?[\d.]+)\])?")
_EXAMPLE = "xlingual:bkr|R@10=.351[.312,.393]|ENCODER|en-de|conventions 4|0123456789abcdef"


@dataclass(frozen=True)
class Claim:
    """A number of an evaluation; numbers are texts, for their digits say how exact they are."""

    task: str
    measure: str
    value: str
    ends: tuple[str, str] | None  # of the interval
    encoder: str
    where: str  # "en-de", "en-de, seed 3", or the mean over pairs and seeds
    conventions: str
    digest: str

    def __str__(self) -> str:
        interval = f"[{','.join(self.ends)}]" if self.ends else ""
        parts = [
            f"{PREFIX}{(*task_of(self.task).short, self.task)[0]}",
            f"{self.measure}={self.value}{interval}",
            quote(self.encoder, safe=_PLAIN),
            quote(self.where, safe=_PLAIN),
            f"conventions {self.conventions}",
            self.digest,
        ]
        return "|".join(parts)

    @classmethod
    def parse(cls, text: str) -> Claim:
        """Return the claim of a line; raise InputError where it is none."""
        parts = text.strip().removeprefix(PREFIX).split("|")
        number = _VALUE.fullmatch(parts[1]) if len(parts) == 6 else None
        names = {short: name for name, task in TASKS.items() for short in (*task.short, name)}
        if number is None or parts[0] not in names or not re.fullmatch("[0-9a-f]{16,64}", parts[5]):
            raise InputError(f"{text!r} is no claim: expected a line of `xlingual cite`, such as {_EXAMPLE}")
        ends = None if number["low"] is None else (number["low"], number["high"])
        encoder, where = map(unquote, parts[2:4])
        conventions = parts[4].removeprefix("conventions ")
        return cls(
            names[parts[0]], number["measure"], number["value"], ends, encoder, where, conventions, parts[5]
        )

    def problems(self, results: Results) -> list[str]:
        """Return what the claim says that the results do not; none where it is true of them."""
        own = [row for row in _rows(results) if _key(row) == (self.task, self.measure, self.encoder)]
        row = next((row for row in own if _where(row) == self.where), None)
        if row is None:
            return [f"the result has no {self.measure} of {self.encoder!r} for {self.where!r}"]
        said = [("value", self.value, row.value)]
        if self.ends:
            low, high = (None, None) if row.ci is None else (row.ci.low, row.ci.high)
            said += [("lower end", self.ends[0], low), ("upper end", self.ends[1], high)]
        found = [
            f"the {name} of {self.measure} is {'none' if true is None else shown(true)}, not {claimed}"
            for name, claimed, true in said
            if true is None or shown(true) != claimed
        ]
        if self.conventions != (own_version := _conventions(results)):
            found.append(f"the result has conventions {own_version}, not {self.conventions}")
        return found


def claims(
    results: Results,
    *,
    encoders: Sequence[str] = (),
    measure: str | None = None,
    pair: str | None = None,
) -> list[Claim]:
    """Return claims of results: of each encoder the mean over pairs and seeds, or the numbers of one pair.

    Args:
        results: of an evaluation.
        encoders: names; none: all.
        measure: canonical name; None: the first.
        pair: such as "en-de"; None: the mean.

    Raises:
        InputError: the results have no such number.

    """
    rows = list(_rows(results))
    measure = measure or next((row.measure for row in rows), "")
    own = [row for row in rows if row.measure == measure and (not encoders or row.encoder in encoders)]
    wanted = [row for row in own if _of(row, pair) and row.value is not None]
    if not wanted:
        known = {
            "measures": dict.fromkeys(row.measure for row in rows),
            "encoders": dict.fromkeys(row.encoder for row in rows),
            "pairs": dict.fromkeys(f"{row.source}-{row.target}" for row in rows if row.source),
        }
        there = "; ".join(f"{name} {', '.join(found)}" for name, found in known.items() if found)
        raise InputError(f"these results have no such number. They have: {there}")
    digest = digest_of(results)
    return [claim_of(row, results, digest) for row in wanted]


def claim_of(row: Entry | Summary, results: Results, digest: str) -> Claim:
    """Return the claim of a row of results, whose result digest is given."""
    return Claim(
        row.task,
        row.measure,
        shown(row.value or 0.0),
        None if row.ci is None else (shown(row.ci.low), shown(row.ci.high)),
        row.encoder,
        _where(row),
        _conventions(results),
        digest[:DIGITS],
    )


def shown(value: float) -> str:
    """Return a number with three decimals, or as many as show three digits, without a zero in front.

    >>> shown(0.3512), shown(-0.00123), shown(12.0), shown(0.0)
    ('.351', '-.00123', '12.000', '.000')
    """
    decimals = _LEAST
    while 0 < abs(value) * 10**decimals < 10 ** (_LEAST - 1) and decimals < 12:
        decimals += 1
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{decimals}f}")


def _conventions(results: Results) -> str:
    """Return the version of the conventions of results; where they do not say it, that of this program."""
    made = results.provenance
    return CONVENTIONS if made is None else made.program.conventions


def _rows(results: Results) -> Iterator[Summary | Entry]:
    yield from results.summary
    yield from results.entries


def _key(row: Summary | Entry) -> tuple[str, str, str]:
    return row.task, row.measure, row.encoder


def _of(row: Summary | Entry, pair: str | None) -> bool:
    """Return whether a row is a summary of a pair, of all pairs where none is named."""
    if isinstance(row, Entry):
        return False
    return row.source is None if pair is None else f"{row.source}-{row.target}" == pair


def _where(row: Summary | Entry) -> str:
    if isinstance(row, Entry):
        return f"{row.source}-{row.target}, seed {row.seed}"
    if row.source is not None:
        return f"{row.source}-{row.target}"
    return f"mean of {row.n_pairs} pair{'' if row.n_pairs == 1 else 's'}"
