"""Ranking on several machines, by Ray: shards of vectors on shared storage, a task for each pair of shards.

`RayRanker` is the ranker; `shards` are the files that vectors travel in, `tasks` what a machine does,
`connection` how the cluster is reached. See docs/reference/ranking.md.
"""

from xlingual.ranking.cluster.ranker import RayRanker

__all__ = ["RayRanker"]
