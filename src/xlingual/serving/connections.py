"""Connections that bring no request shut nobody out: they are closed in time, or when places run short."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(frozen=True)
class Patience:
    """How long a request may take to arrive, and how many connections there may be.

    Attributes:
        headers_s: seconds until the headers of a request must be there, however slowly bytes come.
        body_s: seconds that its body may take after that.
        of_address: connections of one address; raters of an office or behind a proxy share one.
        most: connections of all addresses.

    """

    headers_s: float = 10.0
    body_s: float = 20.0
    of_address: int = 300
    most: int = 800


def patient_protocol(patience: Patience) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP/1.1 protocol with limits on connections whose request is not complete.

    Where places run short (of an address, or of all), the connection that has waited longest for its request
    gives way to the new one: half-sent requests push each other out, not the raters. If every connection has
    its request, the new one is closed.
    """
    waiting: dict[Any, None] = {}  # connections without a whole request, the oldest first
    of_address: Counter[str] = Counter()

    class PatientProtocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._address = self.client[0] if self.client else ""
            of_address[self._address] += 1
            if of_address[self._address] > patience.of_address:
                self._make_room([one for one in waiting if one._address == self._address])
            elif of_address.total() > patience.most:
                self._make_room(list(waiting))
            if not transport.is_closing():
                self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._stop_waiting()
            elif self._deadline is None:  # the next request of a connection that was kept open has begun
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            of_address[self._address] -= 1
            if not of_address[self._address]:
                del of_address[self._address]
            super().connection_lost(exc)

        def _make_room(self, candidates: list[PatientProtocol]) -> None:
            """Close the connection that has waited longest; this one where none waits."""
            given_up = candidates[0] if candidates else self
            given_up._stop_waiting()
            given_up.transport.abort()

        def _wait(self) -> None:
            waiting[self] = None
            self._deadline = self.loop.call_later(patience.headers_s, self._late)

        def _late(self) -> None:
            """Close the connection; one whose headers are there is given time for its body, once."""
            if self.conn.their_state is h11.SEND_BODY:
                self._deadline = self.loop.call_later(patience.body_s, self._close)
            else:
                self._close()

        def _close(self) -> None:
            self._stop_waiting()
            self.transport.abort()

        def _stop_waiting(self) -> None:
            waiting.pop(self, None)
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return PatientProtocol
