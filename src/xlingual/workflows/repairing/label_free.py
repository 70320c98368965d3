"""The label-free criteria of a transform on one part of the data: no translation is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.evaluation.multilingual_pool.language_identification import ALL, language_identification
from xlingual.evaluation.multilingual_pool.space import space_statistics
from xlingual.ranking import CPU, Ranker
from xlingual.repair.label_free import (
    NEAREST,
    Neighbours,
    hub_skewness,
    kept_over_own_share,
    known,
    mutual_neighbours,
    nearest,
    neighbourhoods_kept,
    own_language_share,
    within_languages,
)
from xlingual.results.unlabelled_repair import Criteria, TriedUnlabelled
from xlingual.transforms.affine import Affine


@dataclass(frozen=True)
class Unlabelled:
    """Vectors of n texts, their languages, and clusters of texts that are not independent."""

    vectors: Vectors  # [n, d]
    languages: Sequence[str]  # [n]
    cluster: Ints  # [n]
    ranker: Ranker = CPU

    @classmethod
    def of_known(
        cls, vectors: Vectors, languages: Sequence[str], cluster: Ints, ranker: Ranker = CPU
    ) -> Unlabelled:
        """Return those of the texts whose vector is not zero."""
        rows = known(vectors)
        return cls(vectors[rows], [languages[row] for row in rows.tolist()], cluster[rows], ranker)

    @cached_property
    def _plain(self) -> dict[str, Neighbours]:
        return within_languages(self.vectors, self.languages, NEAREST, self.ranker)

    def judged(self, spec: str, map: Affine | None) -> TriedUnlabelled:
        """Return what a choice goes by, of the vectors through a map; `spec` is its name."""
        return self._judged(spec, map, self._moved(map))[0]

    def criteria(self, map: Affine | None) -> Criteria:
        """Return all criteria of the vectors through a map."""
        moved = self._moved(map)
        found, near = self._judged("", map, moved)
        accuracy, chance = self._identified(moved)
        return Criteria(
            value=found.value,
            own_share=found.own_share,
            neighbourhoods_kept=found.neighbourhoods_kept,
            language_id=accuracy,
            language_id_chance=chance,
            hub_skewness=hub_skewness(near),
            mutual_neighbours=mutual_neighbours(moved, self.languages, self.ranker),
        )

    def _moved(self, map: Affine | None) -> Vectors:
        return self.vectors if map is None else map.apply(self.vectors, self.languages)

    def _judged(self, spec: str, map: Affine | None, moved: Vectors) -> tuple[TriedUnlabelled, Neighbours]:
        near = nearest(moved, NEAREST, self.ranker)
        own = self._plain if map is None else within_languages(moved, self.languages, NEAREST, self.ranker)
        share = own_language_share(near, self.languages)
        kept = neighbourhoods_kept(self._plain, own)
        return TriedUnlabelled(spec, kept_over_own_share(kept, share), share, kept), near

    def _identified(self, moved: Vectors) -> tuple[float | None, float | None]:
        """Return the accuracy of language identification, and that of chance; None for too few clusters."""
        tags = list(dict.fromkeys(self.languages))
        code = np.array([tags.index(tag) for tag in self.languages], dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        space = space_statistics(
            moved[:0],
            moved,
            question_language=none,
            candidate_language=code,
            question_cluster=none,
            candidate_cluster=self.cluster,
            languages=tags,
        )
        found = language_identification(space)
        return found.accuracy.get(ALL), found.chance.get(ALL)
