"""The image pivot as candidates of a repair: maps fitted on near images of the part to fit on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from xlingual.align.choose import CANDIDATES, affordable
from xlingual.align.fit import CENTRE, NONE, Options, Settings, fit
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import Alike, alike
from xlingual.align.search import Step
from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.sides import batch_identity
from xlingual.encoders import Encoder, ImageModelLike, image_model
from xlingual.errors import InputError, parameter
from xlingual.evaluation.run import Storing
from xlingual.ranking import Ranker
from xlingual.results.repair import PIVOT_SPEC
from xlingual.transforms.affine import Affine
from xlingual.transforms.moments import FitData
from xlingual.workflows.pivoting.data import Embedded, Parts, rows_to_use
from xlingual.workflows.pivoting.search import check, language_to
from xlingual.workflows.pivoting.trained import image_encoder_of
from xlingual.workflows.repairing.parts import WholeVectors


@dataclass(frozen=True)
class _Fit:
    """Fits one map; what is fitted on are images and texts of the nodes, not the vectors that steps share."""

    nodes: Nodes
    candidates: Alike
    settings: Settings
    options: Options

    def __call__(self, _: FitData) -> Affine:
        return fit(self.nodes, self.candidates, self.settings, self.options).map


@dataclass(frozen=True)
class PivotOf:
    """The image encoder of a pivot in a repair, and the data that have images."""

    data: Manifest
    name: str
    encoder: Encoder
    identity: str

    @classmethod
    def of(
        cls,
        spec: ImageModelLike,
        data: Manifest | MultilingualPool,
        judge: ImageModelLike | None,
        storing: Storing,
    ) -> PivotOf:
        """Return it; raise InputError for a pool, and where Backretrieval would be shown by the same one."""
        if not isinstance(data, Manifest):
            raise InputError(f"{parameter('pivot')}: a pool has no images: leave it out")
        name, encoder = image_encoder_of(spec, data)
        if judge is not None:
            _, judging = image_model(judge, languages=list(data.languages))
            if isinstance(judging, Encoder) and judging.identity == encoder.identity:
                raise InputError(
                    f"{parameter('pivot')} and {parameter('image_encoder')} are the same image encoder: its "
                    "Backretrieval would be too high for maps that are fitted on its images; name another one"
                )
        return cls(data, name, encoder, batch_identity(encoder))

    def steps(
        self,
        part: MultilingualPool,
        whole: WholeVectors,
        seed: int,
        ranker: Ranker,
        storing: Storing,
    ) -> list[tuple[Step, ...]]:
        """Return the maps to try, fitted on the texts of a part that have images.

        Pairs are texts of different items with near images, and of one item or image. Raises InputError
        where there are too few, or images cannot be told apart.
        """
        data = self.data
        asked, answered = whole.places.rows(part)
        rows = np.intersect1d(rows_to_use(data, None, self.encoder, skip=False), np.union1d(asked, answered))
        nothing = np.zeros(0, dtype=np.int64)
        images = Embedded.of(
            data, None, (self.name, self.encoder), Parts(rows, nothing, data.cluster), storing
        )
        both = [np.asarray(whole.candidates[rows]), np.asarray(whole.questions[rows])]
        nodes = replace(images, text=both).nodes(rows)
        options = Options(to=language_to(None, nodes), seed=seed)
        candidates = alike(nodes, ranker=ranker)
        check(data.source, nodes, candidates, options, self.name)
        return [
            (Step(f"{PIVOT_SPEC}:{settings.name}", _Fit(nodes, candidates, settings, options)),)
            for settings in affordable(CANDIDATES, nodes.dim * len(np.unique(nodes.language)))
            if settings.kind not in (NONE, CENTRE)
        ]
