"""Rows of delimited text; where the quotes of a row are wrong, reading goes on at its next line."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator


def delimited(lines: Iterable[str], mark: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    r"""Yield (number of the line in which a row begins, its cells); the error where its quotes are wrong.

    A quote that is not closed would take in all that follows, so only the line that it is in is given up.
    Empty lines are passed over.

    >>> [row for _, row in delimited(['a,"b\n', "c,d\n"], ",")]
    [Error('unexpected end of data'), ['c', 'd']]
    """
    unread, again, taken = iter(lines), deque[str](), list[str]()

    def source() -> Iterator[str]:
        while (line := again.popleft() if again else next(unread, None)) is not None:
            taken.append(line)
            yield line

    number, reader = 1, csv.reader(source(), delimiter=mark, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            again.extendleft(reversed(taken[1:]))
            del taken[1:]
            reader = csv.reader(source(), delimiter=mark, strict=True)
            yield number, error
        else:
            if row:
                yield number, row
        number += len(taken)
        taken.clear()
