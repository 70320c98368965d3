"""A ranker that keeps finished parts, so that a long pass that was interrupted goes on where it stopped.

Queries are cut into blocks; what a block's reductions have seen is written to a folder as one file (`parts`)
when all candidates of its queries are seen. The same pass, made again by another program, finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.errors import warn
from xlingual.ranking.folders import Folder, FolderLike, open_folder, remove_old
from xlingual.ranking.parts import (
    DamagedPartError,
    PassState,
    divisible,
    packed,
    part_name,
    unpacked,
    vectors_digest,
)
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Progress, Reduction
from xlingual.ranking.similarity import Cosine, Similarity
from xlingual.ranking.vectors import UnitVectors

LONG = 10**13  # pairs × dimensions: a pass of minutes on one core; shorter ones are not kept
BLOCK = 10**12  # of one part: what an interruption can lose
_ROWS = 256  # of a part, at least: products of fewer queries are slow


class Kept:
    """Ranks with `inner`, and keeps finished blocks of queries in a folder; the answer is the same.

    `folder` is a path or a URL that fsspec reaches. Passes of fewer than `least` pairs × dimensions are
    handed on as they are, and so are those over scores that somebody gives; a block has about `block`.
    `forget` removes what was kept for this program's passes, when they are no longer needed.
    """

    def __init__(
        self, inner: Ranker, folder: FolderLike, *, least: float = LONG, block: float = BLOCK
    ) -> None:
        self.inner, self.least, self.block = inner, least, block
        self.folder: Folder = open_folder(folder)
        self.found = 0  # blocks that were there already
        self._used: set[str] = set()
        self._writable = True

    def scan(
        self, similarity: Similarity, reductions: Sequence[Reduction], *, progress: Progress | None = None
    ) -> None:
        """Let every reduction see every pair once, or what was seen before."""
        n, m = similarity.shape
        if not isinstance(similarity, Cosine) or not divisible(similarity, reductions):
            self.inner.scan(similarity, reductions, progress=progress)
            return
        dim = similarity.queries.dim
        if n * m * dim < self.least:
            self.inner.scan(similarity, reductions, progress=progress)
            return
        remove_old(self.folder)
        height = max(_ROWS, int(self.block / (m * dim)))
        blocks = [slice(start, min(start + height, n)) for start in range(0, n, height)]
        candidates = vectors_digest(similarity.candidates)
        there = self._there()
        damaged: list[str] = []
        for rows in blocks:
            requests = [reduction.alone(rows, slice(0, m)) for reduction in reductions]
            name = part_name(vectors_digest(similarity.queries, rows), candidates, requests)
            self._used.add(name)
            seen = self._read(name, damaged) if name in there else None
            if seen is None:
                seen = self._seen(similarity, rows, requests, progress)
                self._write(name, seen)
            else:
                self.found += 1
            similarity.screened += seen.screened
            similarity.decided += seen.decided
            for reduction, state in zip(reductions, seen.states, strict=True):
                part = reduction.within(rows, slice(0, m))
                part.restore(state)
                reduction.merge([part])
            if progress is not None:
                progress(rows.stop * m, n * m)
        self._tell_damaged(damaged)

    def about(self) -> dict[str, str | int | float]:
        """Return what ranked: that of the inner ranker."""
        return self.inner.about()

    def forget(self) -> None:
        """Remove the parts of all passes that were made with this object."""
        for name in self._used:
            self.folder.remove(name)
        self._used = set()
        self.folder.tidy()

    def _seen(
        self,
        similarity: Cosine,
        rows: slice,
        requests: Sequence[Reduction],
        progress: Progress | None,
    ) -> PassState:
        """Return the requests for a block of queries alone, for a separate pass."""
        queries = similarity.queries
        block = Cosine(UnitVectors(queries.raw, queries.rows[rows]), similarity.candidates)
        n, m = similarity.shape
        within = None if progress is None else lambda done, _: progress(rows.start * m + done, n * m)
        self.inner.scan(block, requests, progress=within)
        return PassState([request.state() for request in requests], block.screened, block.decided)  # type: ignore[attr-defined]

    def _there(self) -> set[str]:
        try:
            return self.folder.names()
        except OSError:  # writing will say so
            return set()

    def _read(self, name: str, damaged: list[str]) -> PassState | None:
        try:
            return unpacked(self.folder.read(name))
        except FileNotFoundError:
            return None
        except (DamagedPartError, OSError) as error:
            damaged.append(f"{name}: {error}")
            return None

    def _write(self, name: str, seen: PassState) -> None:
        if not self._writable:
            return
        try:
            self.folder.write(name, packed(seen))
        except OSError as error:
            self._writable = False
            warn(
                f"what is ranked cannot be kept in {self.folder} ({error.strerror or error}): an interrupted "
                "run would begin again; choose another folder with --store DIR"
            )

    def _tell_damaged(self, damaged: Sequence[str]) -> None:
        if damaged:
            many = "a finished part was" if len(damaged) == 1 else f"{len(damaged)} finished parts were"
            warn(f"{many} damaged and computed again (in {self.folder}; first: {damaged[0]})")
