"""Systems that return lists instead of vectors, and how they are named beside encoders.

A run is what a search engine returned, from a file. What it is compared with are the queries and candidates
of an evaluation (`Search`), of which each system gives its `Lists`.
"""

from xlingual.data.names import Names
from xlingual.systems.base import ListSystem, Place, Search
from xlingual.systems.joined import RunsLike, joined
from xlingual.systems.registry import SystemLike, systems
from xlingual.systems.run import RunSystem

__all__ = [
    "ListSystem",
    "Names",
    "Place",
    "RunSystem",
    "RunsLike",
    "Search",
    "SystemLike",
    "joined",
    "systems",
]
