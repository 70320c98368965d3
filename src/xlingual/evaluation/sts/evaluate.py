"""Semantic textual similarity (STS): correlation of cosines with people's scores, for several encoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xlingual import encoders
from xlingual.arrays import Floats, Ints
from xlingual.data.languages import tag_problem
from xlingual.data.samples import MOST_SEED
from xlingual.data.sentence_pairs import SentencePairs, read_sentence_pairs
from xlingual.embed import embed_batch, load_fit_texts
from xlingual.encoders import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.estimates import Estimate, Gap
from xlingual.evaluation.numbers import Baseline, Number, Numbers, Subject
from xlingual.evaluation.perquery import repeated
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, collected_warnings
from xlingual.evaluation.sts.agreement import Agreement
from xlingual.measures.agreement import PearsonCorrelation, SpearmanCorrelation
from xlingual.records import Texts
from xlingual.requests import answers
from xlingual.requests.evaluating import StsRequest
from xlingual.results import Results
from xlingual.results.views import AgreementAgainst, StsViews
from xlingual.stats.corrections import holm
from xlingual.stats.weighted import Ordered, pearson, spearman, weights
from xlingual.store import StoreLike, open_store
from xlingual.streams import stream

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "sts"
MEASURES = (PearsonCorrelation(), SpearmanCorrelation())
PEARSON, SPEARMAN = (measure.name for measure in MEASURES)
DECIMALS = 9  # cosines that are equal to so many are tied
_BLOCK = 4096


@answers(StsRequest)
def sts(
    files: str | Path | SentencePairs | Sequence[str | Path | SentencePairs],
    *,
    language: str,
    text_encoders: EncoderSpecs,
    baseline: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
    store: StoreLike = "default",
) -> Results:
    """Evaluate text encoders by how the cosines of sentence pairs correlate with people's scores.

    Args:
        files: one or several files of sentence pairs, or `SentencePairs`.
        language: of all sentences.
        text_encoders: one spec or encoder, several, or a mapping of names to them.
        baseline: name of the encoder that the others are compared with; None: the best one.
        columns: what the columns are called, where not id, score, sentence1, sentence2.
        seed: of the bootstrap.
        threads: threads of the encoders' libraries; they change no number.
        progress: is told (what, done, of all).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    problem = tag_problem(language)
    if problem is not None:
        raise InputError(f"--lang: {problem}")
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"--seed must be 0 to {MOST_SEED}, got {seed}")
    with collected_warnings() as warnings:
        options = Options(seed=seed, threads=threads, progress=progress, store=open_store(store))
        run = _Sts(read_sentence_pairs(files, columns), language, options)
        run.prepare(text_encoders, baseline)
        results = run.results()
    results.warnings = warnings
    return results


class _Sts(Run):
    """One evaluation: files of pairs, their distinct sentences, and what was found by encoder and file."""

    def __init__(self, files: Sequence[SentencePairs], language: str, options: Options) -> None:
        super().__init__(NAME, options)
        self.files, self.language = files, language
        self.baseline: str | None = None
        self.sentences = Sentences.of(files, language)
        self.cosines: dict[tuple[str, int], Floats] = {}
        self.identity_of: dict[tuple[str, int], str] = {}

    def prepare(self, specs: EncoderSpecs, baseline: str | None) -> None:
        """Make the encoders, and refuse what cannot be evaluated, before any work is done."""
        made = encoders.text_encoders(specs, languages=[self.language], fit_texts=load_fit_texts)
        if baseline is not None and baseline not in made:
            raise InputError(
                f"--baseline {baseline!r} is none of the encoders.{did_you_mean(baseline, made)} "
                f"They are {listed(made)}"
            )
        for name, encoder in made.items():
            _refuse_unfit(name, encoder, self.language)
        self.fit(made, self.sentences.texts)
        self.baseline = baseline

    def results(self) -> Results:
        """Return everything that was found."""
        places = [Subject(self.language, file.name, self.options.seed) for file in self.files]
        numbers = Numbers(NAME, MEASURES, places)
        for name in self.text_encoders:
            self._encode(name)
        with self.stage("correlate"):
            found = self._correlate()
            for name in self.text_encoders:
                for number, place in enumerate(places):
                    for measure in MEASURES:
                        one = self._number(measure.name, number, name, found[measure.name, name, number])
                        numbers[name, measure.name, place] = one
            for measure in MEASURES:
                self._hold_against_baseline(numbers, measure.name)
            results = numbers.results()
        results.tables["pairs"] = self._pair_table()
        self.truncated = {name: counts for name, counts in self.truncated.items() if counts}
        return self.finished(results, ranked=False)

    def _encode(self, name: str) -> None:
        """Take an encoder's cosines of all pairs; one that looks at its whole batch gets each file apart."""
        every = list(range(len(self.files)))
        apart = self.text_encoders[name].depends_on_batch
        for members in [[number] for number in every] if apart else [every]:
            texts, position = self.sentences.batch(members)
            found = self.encode(name, lambda *it, batch=texts: embed_batch(batch, *it, **self.embedding()))
            identity = self.identity(self.text_encoders[name], texts)
            for number in members:
                first, second = self.sentences.pairs[number]
                self.cosines[name, number] = cosines(found.vectors, (position[first], position[second]))
                self.identity_of[name, number] = identity

    def _correlate(self) -> dict[tuple[str, str, int], Agreement | None]:
        """Return each correlation; files that share sentences are drawn again together, others apart."""
        found: dict[tuple[str, str, int], Agreement | None] = {}
        tell = self.progress("correlating")
        for members in self.sentences.groups():
            replicates = self._replicates(members)
            for number in members:
                for name in self.text_encoders:
                    x, y = self.cosines[name, number], self.files[number].score
                    values = {PEARSON: pearson(x, y), SPEARMAN: spearman(Ordered.of(x), Ordered.of(y))}
                    for measure, (value,) in values.items():
                        drawn, cluster = replicates[measure, name, number], self.sentences.cluster[number]
                        tested = (x, y) if measure == PEARSON else None
                        flat = np.ptp(x) == 0 or not np.isfinite(value)
                        one = None if flat else Agreement(float(value), drawn, cluster, tested)
                        found[measure, name, number] = one
                tell(len({number for *_, number in found}), len(self.files))
        return found

    def _replicates(self, members: Sequence[int]) -> dict[tuple[str, str, int], Floats]:
        """Return the replicates [B] of every correlation of some files, all encoders in the same draws."""
        starts = np.cumsum([0, *(len(self.files[number]) for number in members)])
        rng = stream(self.options.seed, "sts " + " ".join(self.files[number].digest for number in members))
        keys = [(name, number) for name in self.text_encoders for number in members]
        ranked = {key: Ordered.of(self.cosines[key]) for key in keys}
        ranked_gold = {number: Ordered.of(self.files[number].score) for number in members}
        blocks: dict[tuple[str, str, int], list[Floats]] = {}
        for drawn in weights(np.concatenate([self.sentences.cluster[number] for number in members]), rng):
            for name, number in keys:
                place = members.index(number)
                weight = drawn[:, starts[place] : starts[place + 1]]
                r = pearson(self.cosines[name, number], self.files[number].score, weight)
                rho = spearman(ranked[name, number], ranked_gold[number], weight)
                blocks.setdefault((PEARSON, name, number), []).append(r)
                blocks.setdefault((SPEARMAN, name, number), []).append(rho)
        return {key: np.concatenate(parts) for key, parts in blocks.items()}

    def _number(self, measure: str, number: int, name: str, found: Agreement | None) -> Number:
        file = self.files[number]
        conditions = {"source": self.language, "target": file.name, "data": file.digest[:12]}
        return Number(
            found,
            self.signature(conditions, measure, ties=None, encoder=self.identity_of[name, number]),
            n_source=len(file),
            n_target=len(file),
            note="no correlation: all cosines are equal" if found is None else None,
            baseline=Baseline(chance=0.0),
        )

    def _hold_against_baseline(self, numbers: Numbers, measure: str) -> None:
        """Enter the differences to the baseline, per file and on average; p corrected over all (Holm).

        Where no baseline is named, that is the encoder of the highest mean over files.
        """
        means = {name: numbers.mean(name, measure, numbers.places) for name in self.text_encoders}
        known = {name: mean.value for name, mean in means.items() if mean is not None}
        baseline = self.baseline or max(known, key=lambda name: known[name], default=None)
        if baseline is None:
            return
        gaps = {
            (name, place): _gap(
                numbers[name, measure, place].estimate, numbers[baseline, measure, place].estimate
            )
            for name in self.text_encoders
            for place in numbers.places
            if name != baseline
        }
        p = {key: gap.p for key, gap in gaps.items() if gap is not None and gap.p is not None}
        corrected = dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True))
        for (name, place), gap in gaps.items():
            over = _gap(means[name], means[baseline]) if len(self.files) > 1 else None
            views = StsViews(_against(baseline, gap, corrected.get((name, place))), _against(baseline, over))
            numbers[name, measure, place] = replace(numbers[name, measure, place], views=views)

    def _pair_table(self) -> pa.Table:
        """Return a row for each encoder, file and pair: what people said and what the encoder says."""
        import pyarrow as pa

        parts = [
            pa.table(
                {
                    "encoder": repeated([name], [len(file)]),
                    "source": repeated([self.language], [len(file)]),
                    "target": repeated([file.name], [len(file)]),
                    "pair": pa.array(file.ids, pa.string()),
                    "cluster": pa.array(self.sentences.cluster[number], pa.int64()),
                    "score": pa.array(file.score, pa.float64()),
                    "cosine": pa.array(self.cosines[name, number], pa.float64()),
                }
            )
            for name in self.text_encoders
            for number, file in enumerate(self.files)
        ]
        return pa.concat_tables(parts).unify_dictionaries()


def _gap(own: Estimate | None, other: Estimate | None) -> Gap | None:
    return None if own is None or other is None else own.minus(other)


def _against(baseline: str, gap: Gap | None, p_holm: float | None = None) -> AgreementAgainst | None:
    """Return a difference to the baseline as results hold it; None where there is none."""
    if gap is None:
        return None
    return AgreementAgainst(baseline, gap.value, gap.ci, gap.p, gap.test, gap.note, p_holm)


def _refuse_unfit(name: str, encoder: Encoder, language: str) -> None:
    """Refuse an encoder that cannot encode sentences of the language."""
    if isinstance(encoder, VectorsEncoder):
        raise InputError(
            f"text encoder {name!r}: vectors: files have one row for each text of a manifest, which sentence "
            "pairs do not have: name a model, or a function with python:"
        )
    known = encoder.languages
    if known is not None and language not in known:
        raise InputError(
            f"text encoder {name!r} does not have the language {language!r} of --lang: it has "
            f"{listed(known, 20)}"
        )


@dataclass(frozen=True)
class Sentences:
    """Each text once; of every file which texts its pairs hold, and the clusters of its pairs.

    Pairs that share a sentence are in one cluster, also through other pairs and over files.
    """

    texts: Texts
    pairs: tuple[tuple[Ints, Ints], ...]  # by file: both sentences [n], as indices into `texts`
    cluster: tuple[Ints, ...]  # by file [n]; one name space

    @classmethod
    def of(cls, files: Sequence[SentencePairs], language: str) -> Sentences:
        """Return the texts of all files, numbered in the order of their first appearance."""
        number: dict[str, int] = {}
        ids: list[str] = []
        pairs = []
        for file in files:
            sides = []
            for place, side in ((1, file.first), (2, file.second)):
                for row, text in zip(file.ids, side, strict=True):
                    if text not in number:
                        number[text] = len(number)
                        ids.append(f"{file.name}/{row}/{place}")
                sides.append(np.array([number[text] for text in side], dtype=np.int64))
            pairs.append((sides[0], sides[1]))
        texts = Texts(text=list(number), language=[language] * len(number), ids=ids)
        return cls(texts, tuple(pairs), _clusters(pairs, len(number)))

    def batch(self, files: Sequence[int]) -> tuple[Texts, Ints]:
        """Return the texts of some files, each once, and the place of every text among them (-1: none)."""
        rows = np.unique(np.concatenate([side for file in files for side in self.pairs[file]]))
        position = np.full(len(self.texts), -1, dtype=np.int64)
        position[rows] = np.arange(len(rows))
        return self.texts.take(rows), position

    def groups(self) -> list[list[int]]:
        """Return the files that share sentences, directly or through others, as groups of their numbers."""
        groups: list[tuple[set[int], list[int]]] = []
        for file, cluster in enumerate(self.cluster):
            held, members = set(cluster.tolist()), [file]
            apart = []
            for known, others in groups:
                if known & held:
                    held, members = known | held, others + members
                else:
                    apart.append((known, others))
            groups = [*apart, (held, members)]
        return sorted(sorted(members) for _, members in groups)


def cosines(vectors: np.ndarray, pairs: tuple[Ints, Ints]) -> Floats:
    """Return the cosine [n] of each pair of rows of vectors [m, d], in float64, rounded to 9 decimals.

    A zero vector has cosine 0 to everything.
    """
    first, second = pairs
    out = np.empty(len(first))
    for start in range(0, len(first), _BLOCK):
        part = slice(start, start + _BLOCK)
        a, b = (vectors[side[part]].astype(np.float64) for side in (first, second))
        norms = np.sqrt(np.sum(a * a, axis=1)) * np.sqrt(np.sum(b * b, axis=1))
        out[part] = np.sum(a * b, axis=1) / np.where(norms > 0, norms, 1.0)
    return np.round(out, DECIMALS) + 0.0  # no −0


def _clusters(pairs: Sequence[tuple[Ints, Ints]], n_texts: int) -> tuple[Ints, ...]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    links = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(n_texts, n_texts))
    component = connected_components(links, directed=False)[1].astype(np.int64)
    return tuple(component[one] for one, _ in pairs)
