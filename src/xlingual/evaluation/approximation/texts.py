"""Whether the search found the nearest texts."""

from __future__ import annotations

import numpy as np

from xlingual.data.samples import Sample
from xlingual.embed import TextVectors
from xlingual.evaluation.nearest import Nearest
from xlingual.ranking import Cosine
from xlingual.records import Ints


def recall_of_nearest(
    vectors: TextVectors, sample: Sample, queries: Ints, found: Nearest, exact: Nearest
) -> float:
    """Return the share of the checked queries whose text found is as near as the truly nearest; ties count.

    `found` is of all sources of the sample, `exact` of the checked ones.
    """
    place = np.searchsorted(found.query, queries)
    present = place < len(found.query)
    present[present] = found.query[place[present]] == queries[present]
    first = np.searchsorted(exact.query, np.arange(len(queries)))
    ours, theirs = found.target[place[present]], exact.target[first[present]]
    used, number = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    similarity = Cosine(vectors.unit(sample.source[queries]), vectors.unit(sample.target[used]))
    asked = np.flatnonzero(present)
    keys = [similarity.exact(asked, which) for which in np.split(number, 2)]
    return float(np.count_nonzero(keys[0] >= keys[1]) / len(queries))
