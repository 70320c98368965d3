"""An encoder before and after its repair, side by side: its space, own and other languages, and hubs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xlingual.report import leaders
from xlingual.report.blocks import Block, Matrix, Prose, Section
from xlingual.report.figures.multilingual_pool import by_pair, shares, space
from xlingual.report.pages import hubs
from xlingual.report.pages.pool_tables import RANKS, glance
from xlingual.report.pool_views import TASK, EncoderViews, views_of
from xlingual.results import Results
from xlingual.results.repair import BeforeAndAfter
from xlingual.tasks import task_of

_ABOUT = (
    "The unchanged and the repaired encoder, on questions and candidates that were not used for the choice. "
    "The plots are those of the evaluation of a multilingual pool."
)


@dataclass(frozen=True)
class SideBySide:
    """The views of the encoder before and after, in this order."""

    runs: Sequence[Results]
    found: list[EncoderViews]
    full: str | None

    @classmethod
    def of(cls, both: BeforeAndAfter) -> SideBySide:
        """Return the views of an evaluation of both."""
        runs = leaders.as_runs(both.test)
        rows = leaders.leaderboard(runs, TASK, leaders.measures(runs, TASK)[0])
        rows = sorted(rows, key=lambda row: row.encoder != both.found.encoder)
        return cls(runs, views_of(runs, rows), both.full)

    def by_pair(self) -> Matrix | None:
        """Return mAP of a single answer by language pair, a map for before and one for after."""
        maps = by_pair(self.found, "one_target")
        return None if maps is None else replace(maps, title="mAP of a single answer, before and after")

    def section(self) -> Section:
        """Return the section about the space, languages and hubs."""
        return Section("The space, before and after", list(self._blocks()), _ABOUT)

    def _blocks(self) -> Iterator[Block]:
        yield from space(self.runs, self.found)
        if (table := glance(self.found, task_of(TASK))) is not None:
            yield table.of([i for i, one in enumerate(table.columns) if one.key != RANKS])
        if (of_languages := shares(self.found)) is not None:
            yield of_languages
        yield from hubs.blocks(self.runs, [one.row for one in self.found], folded=False)
        if self.full is not None:
            yield Prose("Alignment, single languages and the worst questions: ", "note-line", link=self.full)
