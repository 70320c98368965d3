"""One run of an evaluation, whatever its task: options, encoders one after another, and how it went."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypedDict, TypeVar

from msgspec import structs

from xlingual.data.samples import SampleLike
from xlingual.embed.encoding import Spent
from xlingual.embed.sides import (
    PoolVectors,
    RoleVectors,
    TextVectors,
    batch_identity,
    load_queries,
    refuse_fitted_rows,
)
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import DataWarning, InputError, did_you_mean, parameter, warn
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.near_duplicates import CLUSTERS, DECLARED, NearDuplicates
from xlingual.evaluation.run_systems import Place, RunSystem
from xlingual.evaluation.similarity import COSINE, OwnCorrections, TrainingQueries, repair_of
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors, is_dense
from xlingual.ranking import Banked, Cpu, Ranker
from xlingual.records import Texts
from xlingual.results import Results
from xlingual.results.provenance import note_vectors
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import Store

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.pool import MultilingualPool

EncoderSpecs: TypeAlias = "Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike"
Progress: TypeAlias = Callable[[str, int, int], None]  # progress: what, done, total


class Storing(TypedDict):
    """Keywords of all functions of `embed`."""

    store: Store | None
    progress: Progress | None


class Embedding(Storing):
    """Keywords of those for texts."""

    spent: Spent | None


@dataclass(frozen=True)
class Options:
    """Options that tasks share; see the command line's help for their meaning."""

    pairs: str | Sequence[str] | None = None
    sample: SampleLike = "all"
    seeds: int = 1
    seed: int = 0
    threads: int = 1
    progress: Progress | None = None
    skip_broken: bool = False
    store: Store | None = None
    given_ranker: Ranker | None = None
    queries: int | None = None
    cluster: str = DECLARED
    texts_per_item: int | Literal["all"] = "all"
    similarity: str = COSINE

    def __post_init__(self) -> None:
        repair_of(self.similarity)  # raises InputError where it is not known
        if self.cluster not in CLUSTERS:
            raise InputError(
                f"{parameter('cluster', self.cluster)}: expected {' or '.join(CLUSTERS)}."
                f"{did_you_mean(self.cluster, CLUSTERS)} A column is named with {parameter('cluster_column')}"
            )

    @property
    def ranker(self) -> Ranker:
        """The ranker: the one given, else this machine with `threads`."""
        return self.given_ranker or Cpu(self.threads)


@dataclass
class Tally:
    """How many pairs were screened in float32, and how many scored in float64."""

    screened: int = 0
    decided: int = 0

    def add(self, similarity: Any) -> None:  # noqa: ANN401  (whatever counts its work likewise)
        """Add the counts of a similarity."""
        self.screened += similarity.screened
        self.decided += similarity.decided


TextSides: TypeAlias = "TextVectors | RoleVectors"  # texts as queries and as candidates
E = TypeVar("E", TextVectors, TextSides, PoolVectors)
P = ParamSpec("P")


class Run:
    """The parts of every evaluation: options, text encoders, and a record of how it went."""

    data: Manifest | MultilingualPool | None = None  # what is evaluated, for results in memory
    ranks = True  # whether anything is ranked
    ranks_texts = True  # whether an encoder's own correction of hubs is used

    def __init__(self, task: str, options: Options) -> None:
        self.task, self.options = task, options
        self.by_name: dict[str, Encoder | RunSystem] = {}  # text encoders, and runs of search engines
        self.text_encoders: dict[str, Encoder] = {}
        self.identities: dict[str, str] = {}  # of the text encoders
        self.seconds: dict[str, float] = {}  # by stage
        self.tally = Tally()
        self.truncated: dict[str, dict[str, int]] = {}
        self.dropped: dict[str, int] = {}
        self.near: NearDuplicates | None = None
        self.costs: dict[str, dict[str, float]] = {}
        # queries without results, by (system, source, target, seed)
        self.unanswered: dict[tuple[str, str, str, int], int] = {}
        self.compared: dict[str, str] = {}  # how the vectors of an encoder are compared, where not by cosine
        self.own_corrections = OwnCorrections()  # of encoders that bring one along
        self._spent: Spent | None = None  # of the text encoder that encodes now
        self._bank: TrainingQueries | None = None  # of the similarity, where it has one

    @contextmanager
    def stage(self, name: str, what: str | None = None) -> Iterator[None]:
        """Add the time of the block to a stage; report progress of `what` where it begins and ends."""
        report = self.progress(what) if what else lambda done, total: None
        report(0, 1)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        report(1, 1)

    def progress(self, what: str) -> Callable[[int, int], None]:
        """Return the progress callback of one piece of work."""
        report = self.options.progress
        return lambda done, total: None if report is None else report(what, done, total)

    def storing(self) -> Storing:
        """Return the store and the progress callback, for the functions of `embed`."""
        return {"store": self.options.store, "progress": self.options.progress}

    def embedding(self) -> Embedding:
        """Return these, and what counts the texts that are encoded, for the functions for texts."""
        return {**self.storing(), "spent": self._spent}

    def fit(
        self,
        systems: Mapping[str, Encoder | RunSystem],
        *texts: Texts,
        queries: Callable[[str], Texts] = load_queries,
    ) -> None:
        """Take the systems, encoders fitted; refuse one that was fitted on the texts it is evaluated on.

        `queries` loads the training queries that a similarity names, which are refused likewise.
        """
        repair = repair_of(self.options.similarity)
        if repair is not None:
            self._bank = self._bank or TrainingQueries(repair, queries)
            self._bank.refuse(texts)
        dense = {name: system for name, system in systems.items() if isinstance(system, Encoder)}
        with self.stage("texts: fit", "fitting encoders"):
            refuse_fitted_rows(dense, *texts, **self.storing())
        if repair is None:
            self.own_corrections.take(systems, used=self.ranks_texts)
            self.compared |= self.own_corrections.similarities
        elif lists := next((name for name in systems if name not in dense), None):
            raise InputError(
                f"{parameter('similarity', repair.written)} changes the similarity of vectors, and "
                f"{lists!r} returns lists: leave one of them out"
            )
        self.by_name |= systems
        self.text_encoders |= dense
        self.identities |= {name: self.identity(encoder, *texts) for name, encoder in dense.items()}

    def repair(self, name: str, languages: Sequence[str]) -> Banked | None:
        """Return the repair of hubs for an encoder and queries in some languages, None for plain cosine.

        A bank of training queries has the vectors of that encoder, as queries.
        """
        if self._bank is None:
            return self.own_corrections.bound(name)
        with self.stage("texts: encode training queries"):
            return self._bank.bound(name, self.text_encoders[name], languages, **self.storing())

    @property
    def similarity(self) -> str | None:
        """What signatures call the similarity; None for plain cosine."""
        return None if self._bank is None else self._bank.name

    def identity(self, encoder: Encoder, *texts: Texts) -> str:
        """Return everything that an encoder's vectors of these texts depend on, as one line."""
        return batch_identity(encoder, *texts)

    def encode(self, name: str, embed: Callable[[str, Encoder], E]) -> E:
        """Return the vectors that `embed` makes with a text encoder; note what they cost."""
        with self.stage("texts: encode", f"encoding texts: {name}"):
            self._spent = spent = Spent()
            try:
                embedded = embed(name, self.text_encoders[name])
            finally:
                self._spent = None
        sides: TextSides | PoolVectors = embedded
        if isinstance(sides, PoolVectors):
            parts: list[AnyVectors] = [sides.questions, sides.candidates]
        elif isinstance(sides, RoleVectors):
            parts = [sides.queries.vectors, sides.candidates.vectors]
        else:
            parts = [sides.vectors]
        note_dense(f"text encoder {name!r}", *parts)
        first, last = parts[0], parts[-1]
        if isinstance(first, SparseVectors | TokenVectors) and first.compared_by != COSINE:
            self.compared[name] = first.compared_by
        per_row = last.sizes.mean() if isinstance(last, SparseVectors | TokenVectors) else 1.0
        numbers = 1 if isinstance(last, SparseVectors) else last.shape[1]
        index = 4 if isinstance(last, SparseVectors) else 0  # beside each number of a sparse row
        cost = self.costs.setdefault(name, {})
        cost["dimensions"] = last.shape[1]
        cost["bytes_per_text"] = round(float(per_row) * numbers * (last.dtype.itemsize + index), 1)
        if spent.per_second is not None:
            cost["texts_per_second"] = round(spent.per_second, 1)
        for language, count in (embedded.truncated or {}).items():
            counts = self.truncated.setdefault(name, {})
            counts[language] = counts.get(language, 0) + count
        return embedded

    def signature(
        self, conditions: Mapping[str, str], measure: str, ties: str | None = "expected", **system: str
    ) -> str:
        """Return the signature of a number: its conditions, then the system's identities."""
        ties_of = {} if ties is None else {"ties": ties}
        own = {"task": self.task, **conditions, "measure": measure, **ties_of, "conventions": CONVENTIONS}
        names = [system.pop("compared", None), self.similarity]  # it is deployed with the encoder
        similarity = "+".join(name for name in names if name)
        return str(Signature(own, {**system, "similarity": similarity} if similarity else system))

    def system(self, encoder: str, place: Place, ties: str = "expected") -> dict[str, str]:
        """Return an encoder's identity, and how its vectors are compared where not by cosine.

        `place` is the search that a number is of: a system may have a file for each.
        """
        system = self.by_name[encoder]
        if isinstance(system, RunSystem):
            return {"encoder": system.identity(place, ties)}
        own = {"encoder": self.identities[encoder]}
        return {**own, "compared": self.compared[encoder]} if encoder in self.compared else own

    def clusters(self) -> dict[str, str]:
        """Return the condition of a signature about clusters: none where they are the declared ones."""
        return {} if self.options.cluster == DECLARED else {"clusters": self.options.cluster}

    def finished(self, results: Results) -> Results:
        """Return the results with the record of the run."""
        results.data, results.timings = self.data, dict(self.seconds)
        results.truncated, results.dropped = self.truncated, self.dropped
        for name, system in self.by_name.items():
            if isinstance(system, RunSystem):
                self.costs[name] = dict(system.cost)
                results.encoders = {**results.encoders, name: {"returns_lists": True}}
        names = self.by_name or self.costs
        results.costs = {name: self.costs[name] for name in names if self.costs.get(name)}
        results.entries = [
            structs.replace(entry, n_unanswered=self.unanswered[key])
            if (key := (entry.encoder, entry.source, entry.target, entry.seed)) in self.unanswered
            else entry
            for entry in results.entries
        ]
        if self.ranks:
            counts = {"pairs_screened": self.tally.screened, "pairs_decided": self.tally.decided}
            near = {} if self.near is None else {"near_duplicates": self.near.about()}
            results.diagnostics = {**counts, "ranking": self.options.ranker.about(), **near}
        return results

    def count_unanswered(self, system: str, source: str, target: str, seed: int, lists: Lists) -> None:
        """Keep how many queries without results a system has."""
        if count := int((lists.lengths == 0).sum()):
            self.unanswered[system, source, target, seed] = count


def note_dense(who: str, *parts: AnyVectors) -> None:
    """Note the digest of an encoder's vectors in the results, where they are dense."""
    if all(map(is_dense, parts)):
        note_vectors(who, parts)


def keeping_warnings(evaluate: Callable[P, Results]) -> Callable[P, Results]:
    """Make an evaluation add the data warnings that were raised in it to its results."""

    @wraps(evaluate)
    def warned(*args: P.args, **options: P.kwargs) -> Results:
        with collected_warnings() as messages:
            results = evaluate(*args, **options)
        results.warnings = messages
        return results

    return warned


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the data warnings raised inside, and pass each on to the caller's own handling afterwards.

    Where the work fails they are passed on too, since they may say why.
    """
    messages: list[str] = []
    caught: list[warnings.WarningMessage] = []
    failed = True
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            yield messages
        failed = False
    finally:
        own = [warning for warning in caught if issubclass(warning.category, DataWarning)]
        messages += dict.fromkeys(str(warning.message) for warning in own)
        for other in () if failed else [warning for warning in caught if warning not in own]:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
        for text in messages:
            # where warnings are errors and the work fails, the error that is raised counts
            with suppress(DataWarning) if failed else nullcontext():
                warn(text)
