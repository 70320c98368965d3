"""One run of an evaluation, whatever its task: options, encoders one after another, and how it went."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, TypeAlias, TypedDict, TypeVar

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
from xlingual.evaluation.similarity import COSINE, Fitted, OwnCorrections, TrainingQueries, repair_of
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors, is_dense
from xlingual.ranking import Banked, Cpu, Ranker
from xlingual.records import Texts
from xlingual.results import Results
from xlingual.results.entries import Entry
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

    @property
    def repair(self) -> Fitted | None:
        """The repair of hubs of the similarity, None for plain cosine; `Run.repair` has its bank."""
        return repair_of(self.similarity)


class Counted(Protocol):
    """A similarity that counts its work."""

    @property
    def screened(self) -> int:
        """Pairs in tiles so far."""

    @property
    def decided(self) -> int:
        """Pairs scored exactly so far."""


@dataclass
class Tally:
    """How many pairs were screened in float32, and how many scored in float64."""

    screened: int = 0
    decided: int = 0

    def add(self, similarity: Counted) -> None:
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
        self.text_encoders: dict[str, Encoder] = {}
        self.by_name: dict[str, Encoder | RunSystem] = {}  # these, and runs of search engines
        self.identities: dict[str, str] = {}  # of the text encoders
        self.seconds: dict[str, float] = {}  # by stage
        self.tally = Tally()
        self.truncated: dict[str, dict[str, int]] = {}
        self.dropped: dict[str, int] = {}
        self.near: NearDuplicates | None = None
        self.costs: dict[str, dict[str, float]] = {}
        # queries without results, by (system, source, target, seed)
        self.unanswered: dict[tuple[str, str, str, int], int] = {}
        self._spent: Spent | None = None  # of the text encoder that encodes now
        self.compared: dict[str, str] = {}  # how the vectors of an encoder are compared, where not by cosine
        self._bank: TrainingQueries | None = None  # of the similarity, where it has one
        self.own_corrections = OwnCorrections()  # of encoders that bring one along

    @contextmanager
    def stage(self, name: str, what: str | None = None) -> Iterator[None]:
        """Add the time of the block to a stage; report progress of `what` where it begins and ends."""
        report = self.progress(what) if what else None
        if report:
            report(0, 1)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        if report:
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
        repair = self.options.repair
        if repair is not None:
            self._bank = self._bank or TrainingQueries(repair, queries)
            self._bank.refuse(texts)
        made = {name: one for name, one in systems.items() if isinstance(one, Encoder)}
        with self.stage("texts: fit", "fitting encoders"):
            refuse_fitted_rows(made, *texts, **self.storing())
        if len(made) < len(systems) and repair is not None:
            raise InputError(
                f"{parameter('similarity', repair.written)} changes the similarity of vectors, and "
                f"{next(name for name in systems if name not in made)!r} returns lists: leave one of them out"
            )
        if repair is None:
            self.own_corrections.take(systems, used=self.ranks_texts)
            self.compared |= self.own_corrections.similarities
        self.by_name |= systems
        for name, encoder in made.items():
            self.text_encoders[name] = encoder
            self.identities[name] = self.identity(encoder, *texts)

    def repair(self, name: str, languages: Sequence[str], *, roles: bool = True) -> Banked | None:
        """Return the repair of hubs for an encoder and queries in some languages, None for plain cosine.

        A bank of training queries has the vectors of that encoder, as queries unless `roles` say nothing.
        """
        if self._bank is None:
            return self.own_corrections.bound(name)
        with self.stage("texts: encode training queries"):
            return self._bank.bound(name, self.text_encoders[name], languages, roles=roles, **self.storing())

    @property
    def similarity(self) -> str | None:
        """What signatures call the similarity; None for plain cosine."""
        return None if self._bank is None else self._bank.name

    def identity(self, encoder: Encoder, *texts: Texts) -> str:
        """Return everything that an encoder's vectors of these texts depend on, as one line."""
        return batch_identity(encoder, *texts)

    def encode(self, name: str, embed: Callable[[str, Encoder], E]) -> E:
        """Return the vectors that `embed` makes with a text encoder, and count the texts it truncated."""
        with self.stage("texts: encode", f"encoding texts: {name}"):
            self._spent = Spent()
            try:
                found = embed(name, self.text_encoders[name])
            finally:
                spent, self._spent = self._spent, None
        self._count_cost(name, _parts(found)[-1], spent)
        note_dense(f"text encoder {name!r}", *_parts(found))
        side = found.queries if isinstance(found, RoleVectors) else found
        vectors = side.questions if isinstance(side, PoolVectors) else getattr(side, "vectors", None)
        if isinstance(vectors, SparseVectors | TokenVectors) and vectors.compared_by != COSINE:
            self.compared[name] = vectors.compared_by
        if found.truncated is not None:
            counts = self.truncated.setdefault(name, {})
            for language, count in found.truncated.items():
                counts[language] = counts.get(language, 0) + count
        return found

    def _count_cost(self, name: str, vectors: AnyVectors, spent: Spent) -> None:
        """Keep what a vector takes, and how fast texts were encoded, if any were."""
        rate = spent.per_second
        per_row = vectors.sizes.mean() if isinstance(vectors, SparseVectors | TokenVectors) else 1.0
        numbers = 1 if isinstance(vectors, SparseVectors) else vectors.shape[1]
        index = 4 if isinstance(vectors, SparseVectors) else 0  # beside each number of a sparse row
        own = {
            "dimensions": vectors.shape[1],
            "bytes_per_text": round(float(per_row) * numbers * (vectors.dtype.itemsize + index), 1),
        }
        speed = {} if rate is None else {"texts_per_second": round(rate, 1)}
        self.costs[name] = {**self.costs.get(name, {}), **own, **speed}

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
        results.data = self.data
        results.timings = dict(self.seconds)
        results.truncated = self.truncated
        lists = {name: one for name, one in self.by_name.items() if isinstance(one, RunSystem)}
        costs = self.costs | {name: dict(one.cost) for name, one in lists.items()}
        results.costs = {name: costs[name] for name in self.by_name or costs if costs.get(name)}
        results.dropped = self.dropped
        results.entries = [self._with_unanswered(entry) for entry in results.entries]
        results.encoders = results.encoders | {name: {"returns_lists": True} for name in lists}
        if self.ranks:
            found = {"pairs_screened": self.tally.screened, "pairs_decided": self.tally.decided}
            near = {} if self.near is None else {"near_duplicates": self.near.about()}
            results.diagnostics = {**found, "ranking": self.options.ranker.about(), **near}
        return results

    def count_unanswered(self, system: str, source: str, target: str, seed: int, lists: Lists) -> None:
        """Keep how many queries without results a system has."""
        if count := int((lists.lengths == 0).sum()):
            self.unanswered[system, source, target, seed] = count

    def _with_unanswered(self, entry: Entry) -> Entry:
        count = self.unanswered.get((entry.encoder, entry.source, entry.target, entry.seed))
        return entry if count is None else structs.replace(entry, n_unanswered=count)


def _parts(found: TextSides | PoolVectors) -> list[AnyVectors]:
    """Return the vectors of both sides, or of all texts."""
    if isinstance(found, PoolVectors):
        return [found.questions, found.candidates]
    sides = [found.queries, found.candidates] if isinstance(found, RoleVectors) else [found]
    return [side.vectors for side in sides]


def note_dense(who: str, *parts: AnyVectors) -> None:
    """Note the digest of an encoder's vectors in the results, where they are dense."""
    if all(map(is_dense, parts)):
        note_vectors(who, parts)


def keeping_warnings(evaluate: Callable[P, Results]) -> Callable[P, Results]:
    """Make an evaluation add the data warnings that were raised in it to its results."""

    @wraps(evaluate)
    def kept(*given: P.args, **more: P.kwargs) -> Results:
        with collected_warnings() as messages:
            found = evaluate(*given, **more)
        found.warnings = messages
        return found

    return kept


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the data warnings raised inside, and pass each on to the caller's own handling afterwards.

    Where the work fails they are passed on too, since they may say why.
    """
    messages: list[str] = []
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            yield messages
    except BaseException:
        for text in _sentences(caught):
            with suppress(DataWarning):  # where warnings are errors, the one that is raised counts
                warn(text)
        raise
    messages += _sentences(caught)
    for warning in caught:
        if not issubclass(warning.category, DataWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    for text in messages:
        warn(text)


def _sentences(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    return list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, DataWarning)))
