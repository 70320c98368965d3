"""Distance correlation (CORR): do texts lie as far apart as their pictures.

Spearman's correlation between text and picture cosine distances over pairs of a source and a target: the
Backretrieval paper's baseline, without any retrieval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.samples import stream
from xlingual.embed import TextVectors
from xlingual.encoders import EncoderLike
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.ragged import sums
from xlingual.evaluation.scores import Score
from xlingual.evaluation.setup import EncoderSpecs, Options, Report, Task, Workspace, collected_warnings
from xlingual.evaluation.summary import Baseline, Scored, ScoreTable
from xlingual.measures import DistanceCorrelation
from xlingual.ranking import Cosine, UnitVectors, one_library_thread
from xlingual.ranking import pairs as pair_scores
from xlingual.records import Floats, Ints
from xlingual.results import Results
from xlingual.stats import Part, RankedTable, spearman, spearman_influence

NAME = "distance-correlation"
EXACT_PAIRS = 4_000_000  # up to so many pairs all are used
SAMPLED_PAIRS = 1_000_000  # above, so many are drawn with replacement
_KEPT_BYTES = 1 << 29  # ranked picture distances kept for the next encoder


@dataclass(frozen=True)
class _Pairs:
    """Pairs of a source and a target of one task: positions in the sample; `all_of` is None for all pairs."""

    source: Ints  # [p]
    target: Ints  # [p]
    all_of: int | None


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
) -> Results:
    """Evaluate text encoders by the correlation of text and picture distances, on a non-matching sample.

    Up to four million pairs all are used; above, a uniform sample of a million, and the entry's note gives
    the standard error that this adds. Arguments as in `backretrieval`.

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    options = Options(pairs, sample_size, splits, seeds, seed, threads, progress)
    with collected_warnings() as warnings:
        workspace = Workspace(NAME, manifest, options, text_encoders, matching=False)
        results = _Run(workspace, image_encoder).results()
    results.warnings = warnings
    return results


class _Run:
    """One evaluation; the ranks of picture distances are shared by all encoders."""

    def __init__(self, workspace: Workspace, image_spec: EncoderLike) -> None:
        self.workspace = workspace
        self.image_name, self.image_encoder, self.pictures = workspace.pictures(image_spec)
        self._ranked: dict[tuple[bytes, bytes, int | None], RankedTable] = {}

    def results(self) -> Results:
        """Return everything that was found."""
        workspace = self.workspace
        measure = DistanceCorrelation()
        table = ScoreTable(NAME, self.image_name, workspace.tasks, list(workspace.text_encoders), [measure])
        for name, vectors in workspace.encoded():
            tell = workspace.progress(f"correlating distances: {name}")
            for number, task in enumerate(workspace.tasks):
                with workspace.timings.stage("correlate"), one_library_thread():
                    found, note = self._score(task, vectors)
                signature = workspace.signature(task, measure.name, name, images=self.image_encoder.identity)
                table.scored[name, measure.name, number] = Scored(found, None, signature, note)
                table.baselines[measure.name, number] = Baseline(chance=0.0)
                tell(number + 1, len(workspace.tasks))
        results = Results(table.entries(), table.summaries(), PerQuery(workspace.manifest).table())
        return workspace.finished(results)

    def _score(self, task: Task, vectors: TextVectors) -> tuple[Score | None, str | None]:
        """Return the score of one encoder in one task, and a note: why there is none, or how it was drawn."""
        chosen = _chosen_pairs(task)
        texts = RankedTable.of(
            _scores(vectors.unit(task.sample.source), vectors.unit(task.sample.target), chosen)
        )
        pictures = self._picture_ranks(task, chosen)
        value = spearman(texts, pictures)
        if value is None:
            what = "text" if np.ptp(texts.midrank) == 0 else "picture"
            return None, f"no correlation: all {what} distances are equal"
        influence = spearman_influence(texts, pictures, value)
        note = None
        if chosen.all_of is not None:
            error = float(np.std(influence)) / len(influence) ** 0.5
            note = f"from {len(influence):,} of {chosen.all_of:,} pairs, standard error {error:.4f}"
        return self._by_item(task, chosen, value, influence), note

    def _by_item(self, task: Task, chosen: _Pairs, value: float, influence: Floats) -> Score:
        """Return the score with one residual for each item: its rows or its columns of influence."""
        manifest = self.workspace.manifest
        share = influence / len(influence)
        rows = sums(chosen.source, share, len(task.sample.source))
        columns = sums(chosen.target, share, len(task.sample.target))
        items = np.concatenate([manifest.cluster[task.sample.source], manifest.cluster[task.sample.target]])
        part = Part(np.concatenate([rows, columns]), (items,))
        twice = float(share @ share)  # a pair's own square, once in its row and once in its column
        return Score(value, (part,), (-1.0, 1.0), 2.0, twice)

    def _picture_ranks(self, task: Task, chosen: _Pairs) -> RankedTable:
        """Return the ranked picture similarities of a task, from an earlier encoder where they are kept."""
        sources = self.pictures.code[task.sample.source]
        targets = self.pictures.code[task.sample.target]
        seed = None if chosen.all_of is None else task.sample.seed  # which pairs were drawn
        key = (sources.tobytes(), targets.tobytes(), seed)
        if key not in self._ranked:
            left, right = (self._unit(codes) for codes in (sources, targets))
            ranked = RankedTable.of(_scores(left, right, chosen))
            if sum(t.midrank.nbytes + t.order.nbytes for t in self._ranked.values()) > _KEPT_BYTES:
                self._ranked.clear()
            self._ranked[key] = ranked
        return self._ranked[key]

    def _unit(self, pictures: Ints) -> UnitVectors:
        vectors = self.pictures.pool.vectors
        return UnitVectors(vectors.raw, vectors.rows[self.pictures.pool.code[pictures]])


def _chosen_pairs(task: Task) -> _Pairs:
    """Return all pairs of a task, or a sample of them where there are too many."""
    n, m = len(task.sample.source), len(task.sample.target)
    if n * m <= EXACT_PAIRS:
        source, target = np.divmod(np.arange(n * m), m)
        return _Pairs(source, target, None)
    rng = stream(task.sample.seed, f"pairs {n} {m}")
    return _Pairs(rng.integers(0, n, SAMPLED_PAIRS), rng.integers(0, m, SAMPLED_PAIRS), n * m)


def _scores(left: UnitVectors, right: UnitVectors, chosen: _Pairs) -> Floats:
    """Return the cosines of the pairs to 9 decimals, float64 [p]; distances are one minus these."""
    similarity = Cosine(left, right)
    if chosen.all_of is not None:
        return pair_scores(similarity, chosen.source, chosen.target)
    block = similarity.block(np.arange(len(left)), np.arange(len(right)))
    rounded: Floats = np.round(block.ravel(), 9)
    return rounded
