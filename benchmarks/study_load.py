"""A study under load: thirty raters click at once over loopback, and every answer is there afterwards.

Each rater opens every page and answers each suggestion, four times a second, far faster than people do. A
click is timed from the request to the whole answer, which says "saved" once it is on the disk.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from xlingual.study.database import Ratings
from xlingual.study.folder import write_study
from xlingual.study.links import ensure_links
from xlingual.study.records import Credit, Query, Shown, Study, StudyKey, StudyPage

RATERS, QUERIES, SUGGESTIONS = 30, 4, 10
PAUSE_S = 0.25
LIMIT_MS = 100


def make(folder: Path) -> tuple[Study, list[str]]:
    """Write a study and return it with its raters' paths."""
    queries = tuple(
        Query(
            Shown(f"q{q}", f"Query {q}", "en"),
            tuple(Shown(f"q{q}s{s}", f"Предложение {s}. " * 8, "ru") for s in range(SUGGESTIONS)),
        )
        for q in range(QUERIES)
    )
    order = tuple(StudyPage(query.shown.id, tuple(one.id for one in query.suggestions)) for query in queries)
    study = Study(
        "load", "Load", "2026-01-01T00:00:00+00:00", "en", "ru", queries, (order,), SUGGESTIONS, RATERS, 0, ""
    )
    names = [one.id for query in queries for one in query.suggestions]
    key = StudyKey("load", {"a": "A"}, {name: (Credit("a", 1, 0.5),) for name in names})
    return write_study(folder, study, key, "# Load\n"), [
        link.path for link in ensure_links(folder, RATERS)[1:]
    ]


class Clicker(threading.Thread):
    """One rater, from the first page to the last."""

    def __init__(self, host: str, port: int, path: str, study: Study, seed: int) -> None:
        super().__init__()
        self._connection = http.client.HTTPConnection(host, port, timeout=60)
        self._path, self._pages, self._random = path, study.orders[0], Random(seed)
        self.scores: dict[tuple[str, str], int] = {}
        self.clicks: list[float] = []
        self.pages: list[float] = []

    def run(self) -> None:
        """Open each page and answer it."""
        time.sleep(self._random.random() * PAUSE_S)  # raters do not click in step
        for number, page in enumerate(self._pages, 1):
            self.pages.append(self._ask("GET", f"/page/{number}"))
            for name in page.suggestions:
                time.sleep(PAUSE_S * (0.5 + self._random.random()))
                score = self._random.randint(1, 4)
                self.clicks.append(self._ask("POST", f"/page/{number}", f"score-{name}={score}"))
                self.scores[page.query, name] = score

    def _ask(self, method: str, path: str, body: str | None = None) -> float:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
        begun = time.perf_counter()
        self._connection.request(method, self._path + path, body, headers)
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        return (time.perf_counter() - begun) * 1000


def main() -> None:
    """Print the median and the 95th percentile of clicks and pages."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "study"
        study, paths = make(folder)
        command = [sys.executable, "-u", "-m", "xlingual", "study", "serve", str(folder), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = urlsplit(server.stdout.readline().split(" at ")[1].split()[0])
            host, port = str(address.hostname), int(address.port or 0)
            raters = [Clicker(host, port, path, study, seed) for seed, path in enumerate(paths)]
            begun = time.perf_counter()
            for rater in raters:
                rater.start()
            for rater in raters:
                rater.join()
            seconds = time.perf_counter() - begun
        finally:
            server.terminate()
            server.wait()
        with Ratings(folder) as ratings:
            stored = {(one.rater, one.query, one.suggestion): one.score for one in ratings.all()}
    sent = {(str(n), *place): score for n, one in enumerate(raters, 1) for place, score in one.scores.items()}
    assert len(sent) == RATERS * QUERIES * SUGGESTIONS
    assert stored == sent
    clicks, pages = (
        sorted(ms for one in raters for ms in getattr(one, what)) for what in ("clicks", "pages")
    )
    p95 = clicks[int(len(clicks) * 0.95)]
    print(f"{RATERS} raters, {len(clicks)} clicks, {len(clicks) / seconds:.0f} a second; all are on the disk")
    print(f"click: median {clicks[len(clicks) // 2]:.1f} ms, p95 {p95:.1f} ms (limit {LIMIT_MS} ms)")
    print(f"page:  median {pages[len(pages) // 2]:.1f} ms, p95 {pages[int(len(pages) * 0.95)]:.1f} ms")
    assert p95 < LIMIT_MS
