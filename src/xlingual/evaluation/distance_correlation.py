"""Distance correlation (CORR): do texts lie as far apart as their pictures.

Spearman's correlation between text and picture cosine distances over pairs of a source and a target: the
Backretrieval paper's baseline, without any retrieval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from xlingual.data.manifest import Manifest
from xlingual.embed import TextVectors
from xlingual.encoders import EncoderLike
from xlingual.evaluation.correlate import Correlation, Pairs, PictureRanks, RankedTables, correlation
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.setup import EncoderSpecs, Options, Report, Workspace, by_pair, collected_warnings
from xlingual.evaluation.summary import Baseline, Scored, ScoreTable
from xlingual.measures import DistanceCorrelation
from xlingual.ranking import one_library_thread
from xlingual.requests import answers
from xlingual.requests.evaluating import DistanceCorrelationRequest
from xlingual.results import Results
from xlingual.store import StoreLike, open_store

NAME = "distance-correlation"


@answers(DistanceCorrelationRequest)
def distance_correlation(
    manifest: Manifest,
    *,
    text_encoders: EncoderSpecs,
    image_encoder: EncoderLike,
    pairs: str | Sequence[str] | None = None,
    sample_size: int | None = None,
    splits: str | Path | None = None,
    seeds: int = 1,
    seed: int = 0,
    threads: int = 1,
    progress: Report | None = None,
    store: StoreLike = "default",
    skip_broken: bool = False,
    cluster: str = DECLARED,
) -> Results:
    """Evaluate text encoders by the correlation of text and picture distances, on a non-matching sample.

    Up to four million pairs all are used; above, a uniform sample of a million, and the entry's note gives
    the standard error that this adds. Arguments as in `backretrieval`.

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    options = Options(
        *(pairs, sample_size, splits, seeds, seed, threads, progress, skip_broken, open_store(store)),
        cluster=cluster,
    )
    with collected_warnings() as warnings:
        workspace = Workspace(
            NAME, manifest, options, text_encoders, matching=False, image_spec=image_encoder
        )
        results = _Run(workspace).results()
    results.warnings = warnings
    return results


class _Run:
    """One evaluation; the ranks of picture distances are shared by all encoders."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.image_name, self.image_identity, pictures = workspace.pictures()
        workspace.join_near_duplicates(pictures)
        self.pairs = [Pairs.of(task.sample) for task in workspace.tasks]
        self.pictures = PictureRanks(pictures, workspace.tasks, self.pairs)

    def results(self) -> Results:
        """Return everything that was found."""
        workspace = self.workspace
        measure = DistanceCorrelation()
        table = ScoreTable(NAME, self.image_name, workspace.tasks, list(workspace.text_encoders), [measure])
        for name, vectors in workspace.encoded():
            tell = workspace.progress(f"correlating distances: {name}")
            for number, found in self._correlations(vectors):
                task = workspace.tasks[number]
                signature = workspace.signature(task, measure.name, name, images=self.image_identity)
                table.scored[name, measure.name, number] = Scored(found.score, None, signature, found.note)
                table.baselines[measure.name, number] = Baseline(chance=0.0)
                tell(number + 1, len(workspace.tasks))
        results = Results(table.entries(), table.summaries(), PerQuery(workspace.manifest).table())
        return workspace.finished(results)

    def _correlations(self, vectors: TextVectors) -> Iterator[tuple[int, Correlation]]:
        """Yield the number of each task and what one encoder scores in it."""
        tasks, cluster = self.workspace.tasks, self.workspace.manifest.cluster
        for numbers in by_pair(tasks).values():
            with self.workspace.timings.stage("correlate"), one_library_thread():
                sides = [(tasks[n].sample.source, tasks[n].sample.target) for n in numbers]
                texts = RankedTables(vectors.unit, sides, [self.pairs[n] for n in numbers])
            for place, number in enumerate(numbers):
                with self.workspace.timings.stage("correlate"), one_library_thread():
                    pictures = self.pictures.of(number)
                    found = correlation(tasks[number], self.pairs[number], texts[place], pictures, cluster)
                yield number, found
