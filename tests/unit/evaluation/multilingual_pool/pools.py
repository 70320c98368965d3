"""Small pools with known scores: the counts of the pass, made from the whole score matrix."""

import numpy as np

from xlingual.evaluation.multilingual_pool.one_pass import PoolCounts


def pool_counts(scores, languages, question_language, candidate_language, relevant, **nodes):
    """Return what the pass leaves behind, from a full score matrix.

    `scores` [n, m] are compared exactly; `relevant` bool [n, m] has a true in every row; `nodes` are the
    cluster [n] and the article [n] of the questions. Keys are the ranks of the distinct scores.
    """
    scores, relevant = np.asarray(scores), np.asarray(relevant, dtype=bool)
    question, candidate = np.nonzero(relevant)
    keys = np.unique(scores, return_inverse=True)[1].reshape(scores.shape)
    own = keys[question, candidate][:, None]
    member = np.eye(len(languages), dtype=np.int64)[np.asarray(candidate_language)]  # [m, G]
    return PoolCounts(
        languages=tuple(languages),
        question=question,
        candidate=candidate,
        key=own[:, 0],
        above=(keys[question] > own) @ member,
        tied=(keys[question] == own) @ member,
        question_language=np.asarray(question_language, dtype=np.int64),
        candidate_language=np.asarray(candidate_language, dtype=np.int64),
        cluster=np.asarray(nodes.get("cluster", np.arange(len(scores)))),
        article=nodes.get("article"),
    )


def synthetic_counts(questions=1190, languages=11, candidates=13_014, tie=0.0, seed=0):
    """Return counts of the shape of a large parallel pool, drawn at random; a share of the lines ties."""
    rng = np.random.default_rng(seed)
    G, n = languages, questions * languages
    candidate_language = np.sort(rng.integers(0, G, candidates))
    sizes = np.bincount(candidate_language, minlength=G)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    candidate = (first + rng.integers(0, sizes, (n, G))).ravel()
    question = np.repeat(np.arange(n), G)
    score = rng.integers(0, 12 if tie else 1 << 40, (n, G))  # of the relevant candidates
    irrelevant = np.minimum(rng.geometric(0.05, (n, G, 1)) * rng.random((n, G, G)), sizes - 1).astype(
        np.int64
    )
    order = np.argsort(np.argsort(-score, axis=1), axis=1)
    irrelevant = np.take_along_axis(np.sort(irrelevant, axis=1), order[:, :, None], axis=1)
    same = score[:, :, None] == score[:, None, :]
    irrelevant = np.take_along_axis(irrelevant, same.argmax(axis=2)[:, :, None], axis=1)
    tied = same.astype(np.int64)
    if tie:
        extra = rng.random((n, G, G)) < tie
        tied = tied + np.take_along_axis(extra, same.argmax(axis=2)[:, :, None], axis=1)
    return PoolCounts(
        languages=tuple(f"l{i:02}" for i in range(G)),
        question=question,
        candidate=candidate,
        key=score.ravel(),
        above=(irrelevant + (score[:, None, :] > score[:, :, None])).reshape(-1, G),
        tied=tied.reshape(-1, G),
        question_language=np.repeat(np.arange(G), questions),
        candidate_language=candidate_language,
        cluster=np.tile(np.arange(questions) // 5, G),
        article=np.tile(np.arange(questions) // 25, G),
    )
