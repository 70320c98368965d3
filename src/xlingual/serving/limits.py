"""How often a rater, and an address, may send requests: more than clicks, less than slows others down."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """So many requests at once, and then so many a second."""

    burst: float
    per_second: float


@dataclass(frozen=True)
class Limits:
    """The limits of a server. A click, and a page without its images, is one request.

    Many raters may share an address (an office, a proxy), so the limit of an address is much higher.
    Requests that find nothing are limited most: nobody gets a link by trying. Images have a separate limit,
    so that pages with many images show all of them.
    """

    token: Rate = Rate(120, 20)
    images: Rate = Rate(1000, 100)
    address: Rate = Rate(2000, 600)
    not_found: Rate = Rate(30, 0.5)
    body: int = 64 * 1024  # bytes of a request


class Buckets:
    """A bucket of permits for each key that refills steadily; the keys not seen for longest are forgotten."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic, most: int = 10_000) -> None:
        self._rate, self._clock, self._most = rate, clock, most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key → permits left, when

    def take(self, key: str) -> bool:
        """Take a permit; return whether there was one."""
        moment = self._clock()
        level, before = self._levels.pop(key, (self._rate.burst, moment))
        level = min(self._rate.burst, level + (moment - before) * self._rate.per_second)
        allowed = level >= 1
        self._levels[key] = (level - 1 if allowed else level, moment)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return allowed
