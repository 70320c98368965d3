"""Who scores Backretrieval: exactly here; what a search found is checked in `approximate`."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.arrays import Ints
from xlingual.embed import TextVectors
from xlingual.evaluation.backretrieval.baselines import Reference
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.evaluation.backretrieval.way_back import SideRanks
from xlingual.evaluation.estimates import score
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.scorer import Scorable, Scorer


class BackretrievalScorer(Scorer):
    """Scores what exact ranking found; one that checks a search looks at what was found on the way."""

    def texts(self, encoder: str, vectors: TextVectors, found: Sequence[Nearest]) -> None:
        """Take the nearest texts of an encoder, of each task."""

    def pictures(self, ranks: SideRanks, task: int) -> None:
        """Take the ranks of a task, while they are at hand."""

    def knows_ranks(self, encoder: str, task: int, measure: Scorable) -> bool:
        """Return whether the rank of every single query is known."""
        return True

    def baseline(self, task: int, measure: Scorable, found: Reference, ways: Sequence[Ints]) -> Baseline:
        """Return chance, oracle and ceiling of a task; the oracle's queries hang on the nodes `ways`."""
        values, ceiling = found.oracle.get(measure.name), found.ceiling.get(measure.name)
        return Baseline(
            found.chance[measure.name],
            None if values is None else score(measure, values, ways),
            None if ceiling is None else float(ceiling.mean()),
        )
