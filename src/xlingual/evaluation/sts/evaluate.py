"""Semantic textual similarity (STS): correlation of cosines with people's scores, for several encoders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xlingual import encoders
from xlingual.arrays import Floats, Ints
from xlingual.arrow import from_numpy, from_strings
from xlingual.data.languages import tag_problem
from xlingual.data.samples import MOST_SEED
from xlingual.data.sentence_pairs import SentencePairs, read_sentence_pairs
from xlingual.embed.sides import embed_batch, load_fit_texts
from xlingual.encoders import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.evaluation.estimates import Estimate, Gap
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.perquery import repeated
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.sts.agreement import ScoreAgreement, cosines
from xlingual.measures.agreement import PearsonCorrelation, SpearmanCorrelation
from xlingual.ragged import components
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
# encoders that see spelling alone, by name
TRIVIAL = {"word-overlap": "wordgram:?weight=overlap", "tfidf": "wordgram:", "chargram": "chargram:"}


@answers(StsRequest)
@keeping_warnings
def sts(
    files: str | Path | SentencePairs | Sequence[str | Path | SentencePairs],
    *,
    language: str,
    text_encoders: EncoderSpecs,
    baseline: str | None = None,
    trivial: bool = False,
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
        trivial: evaluate the encoders of `TRIVIAL` too, which know no meaning.
        columns: what the columns are called, where not id, score, sentence1, sentence2.
        seed: of the bootstrap.
        threads: threads of the encoders' libraries; they change no number.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    if problem := tag_problem(language):
        raise InputError(f"{parameter('language')}: {problem}")
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"{parameter('seed')} must be 0 to {MOST_SEED}, got {seed}")
    options = Options(seed=seed, threads=threads, progress=progress, store=open_store(store))
    run = _Sts(read_sentence_pairs(files, columns), language, options)
    run.prepare(text_encoders, baseline, TRIVIAL if trivial else {})
    return run.results()


class _Sts(Run):
    """One evaluation: files of pairs, their distinct sentences, and the cosines by encoder and file."""

    ranks = ranks_texts = False

    def __init__(self, files: Sequence[SentencePairs], language: str, options: Options) -> None:
        super().__init__(NAME, options)
        self.files, self.language = files, language
        self.baseline: str | None = None
        self.sentences = Sentences.of(files, language)
        self.cosines: dict[tuple[str, int], Floats] = {}
        self.identity_of: dict[tuple[str, int], str] = {}

    def prepare(self, specs: EncoderSpecs, baseline: str | None, more: Mapping[str, str]) -> None:
        """Make the encoders, and refuse what cannot be evaluated, before any work is done."""
        made = encoders.text_encoders(specs, languages=[self.language], fit_texts=load_fit_texts)
        if taken := [name for name in more if name in made]:
            raise InputError(
                f"--baselines has an encoder named {taken[0]!r}: leave yours out, or give it another name, "
                f"NAME=SPEC"
            )
        made |= encoders.text_encoders(more, languages=[self.language]) if more else {}
        if baseline is not None and baseline not in made:
            raise InputError(
                f"{parameter('baseline', baseline)} is none of the encoders.{did_you_mean(baseline, made)} "
                f"They are {listed(made)}"
            )
        for name, encoder in made.items():
            _refuse_unfit(name, encoder, self.language)
        self.fit(made, self.sentences.texts)
        self.baseline = baseline

    def results(self) -> Results:
        """Return everything that was found."""
        subjects = [Subject(self.language, file.name, self.options.seed) for file in self.files]
        numbers = Numbers(NAME, MEASURES, subjects)
        compare = partial(self._compare_with_baseline, numbers)
        results = evaluate(self, numbers, self._ranks(subjects), None, Recording(), compare=compare)
        results.tables["pairs"] = self._pair_table()
        results.truncated = {name: counts for name, counts in self.truncated.items() if counts}
        return results

    def _ranks(self, subjects: Sequence[Subject]) -> Iterator[Ranked]:
        """Yield the correlations of each encoder and file; nothing is ranked here."""
        for name in self.text_encoders:
            self._encode(name)
        with self.stage("correlate"):
            correlations = self._correlate()
        for name, (number, file) in product(self.text_encoders, enumerate(self.files)):
            by_measure = {measure: correlations[measure, name, number] for measure in (PEARSON, SPEARMAN)}
            flat = "no correlation: all cosines are equal"
            estimates = {measure: one for measure, one in by_measure.items() if one is not None}
            yield Ranked(
                encoder=name,
                subject=subjects[number],
                queries=np.arange(len(file)),
                clusters=(),
                n_candidates=len(file),
                values={},
                estimates=estimates,
                baselines=dict.fromkeys((PEARSON, SPEARMAN), Baseline(chance=0.0)),
                conditions={"source": self.language, "target": file.name, "data": file.digest[:12]},
                system={"encoder": self.identity_of[name, number]},
                notes={measure: flat for measure, one in by_measure.items() if one is None},
                ties=None,
            )

    def _encode(self, name: str) -> None:
        """Take an encoder's cosines of all pairs; files are apart where its vectors depend on the batch."""
        every = list(range(len(self.files)))
        for members in [[n] for n in every] if self.text_encoders[name].depends_on_batch else [every]:
            texts, position = self.sentences.batch(members)
            found = self.encode(name, lambda *it, batch=texts: embed_batch(batch, *it, **self.embedding()))
            identity = self.identity(self.text_encoders[name], texts)
            for number in members:
                self.cosines[name, number] = cosines(found.vectors, *position[self.sentences.pairs[number]])
                self.identity_of[name, number] = identity

    def _correlate(self) -> dict[tuple[str, str, int], ScoreAgreement | None]:
        """Return each correlation; files that share sentences are drawn again together, others apart."""
        found: dict[tuple[str, str, int], ScoreAgreement | None] = {}
        report, done = self.progress("correlating"), 0
        for members in self.sentences.groups():
            replicates = self._replicates(members)
            for number in members:
                y, cluster = self.files[number].score, self.sentences.cluster[number]
                for name in self.text_encoders:
                    x = self.cosines[name, number]
                    for measure, (value,), tested in (
                        (PEARSON, pearson(x, y), (x, y)),
                        (SPEARMAN, spearman(Ordered.of(x), Ordered.of(y)), None),
                    ):
                        key, flat = (measure, name, number), np.ptp(x) == 0 or not np.isfinite(value)
                        one = ScoreAgreement(float(value), replicates[key], cluster, tested)
                        found[key] = None if flat else one
                done += 1
                report(done, len(self.files))
        return found

    def _replicates(self, members: Sequence[int]) -> dict[tuple[str, str, int], Floats]:
        """Return the replicates [B] of every correlation of some files, all encoders in the same draws."""
        starts = np.cumsum([len(self.files[number]) for number in members])[:-1]
        rng = stream(self.options.seed, "sts " + " ".join(self.files[number].digest for number in members))
        ranked = {key: Ordered.of(self.cosines[key]) for key in product(self.text_encoders, members)}
        gold = {number: Ordered.of(self.files[number].score) for number in members}
        blocks: dict[tuple[str, str, int], list[Floats]] = {}
        for drawn in weights(np.concatenate([self.sentences.cluster[number] for number in members]), rng):
            weight = dict(zip(members, np.split(drawn, starts, axis=1), strict=True))
            for (name, number), order in ranked.items():
                r = pearson(self.cosines[name, number], self.files[number].score, weight[number])
                blocks.setdefault((PEARSON, name, number), []).append(r)
                rho = spearman(order, gold[number], weight[number])
                blocks.setdefault((SPEARMAN, name, number), []).append(rho)
        return {key: np.concatenate(parts) for key, parts in blocks.items()}

    def _compare_with_baseline(self, numbers: Numbers) -> None:
        """Enter the differences to the baseline, per file and on average; p corrected over all (Holm).

        Where no baseline is named, that is the encoder of the highest mean over files.
        """
        for measure in (PEARSON, SPEARMAN):
            self._compare_by(numbers, measure)

    def _compare_by(self, numbers: Numbers, measure: str) -> None:
        """Enter the differences of one measure."""
        means = {name: numbers.mean(name, measure, numbers.subjects) for name in self.text_encoders}
        known = {name: mean.value for name, mean in means.items() if mean is not None}
        if (baseline := self.baseline or max(known, key=lambda name: known[name], default=None)) is None:
            return
        gaps = {
            (name, subject): _gap(*(numbers[who, measure, subject].estimate for who in (name, baseline)))
            for name in self.text_encoders
            for subject in numbers.subjects
            if name != baseline
        }
        p = {key: gap.p for key, gap in gaps.items() if gap is not None and gap.p is not None}
        corrected = dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True))
        for (name, subject), gap in gaps.items():
            over = _gap(means[name], means[baseline]) if len(self.files) > 1 else None
            views = StsViews(
                _against(baseline, gap, corrected.get((name, subject))), _against(baseline, over)
            )
            numbers[name, measure, subject] = replace(numbers[name, measure, subject], views=views)

    def _pair_table(self) -> pa.Table:
        """Return a row for each encoder, file and pair: people's score and the encoder's cosine."""
        import pyarrow as pa

        parts = []
        for name, (number, file) in product(self.text_encoders, enumerate(self.files)):
            words = {"encoder": name, "source": self.language, "target": file.name}
            columns = {key: repeated([word], [len(file)]) for key, word in words.items()}
            columns["pair"] = from_strings(file.ids, pa.string())
            columns["cluster"] = from_numpy(self.sentences.cluster[number], pa.int64())
            columns["score"] = from_numpy(file.score, pa.float64())
            columns["cosine"] = from_numpy(self.cosines[name, number], pa.float64())
            parts.append(pa.table(columns))
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
    if encoder.languages is not None and language not in encoder.languages:
        raise InputError(
            f"text encoder {name!r} does not have the language {language!r} of {parameter('language')}: "
            f"it has {listed(encoder.languages, 20)}"
        )


@dataclass(frozen=True)
class Sentences:
    """Each text once; of every file which texts its pairs hold, and the clusters of its pairs.

    Pairs that share a sentence are in one cluster, also through other pairs and over files.
    """

    texts: Texts
    pairs: list[Ints]  # by file: first and second sentence [2, n], as indices into `texts`
    cluster: list[Ints]  # by file [n]; one name space

    @classmethod
    def of(cls, files: Sequence[SentencePairs], language: str) -> Sentences:
        """Return the texts of all files, numbered in the order of their first appearance."""
        ids: dict[str, str] = {}
        for file in files:
            for column, side in ((1, file.first), (2, file.second)):
                for row, text in zip(file.ids, side, strict=True):
                    ids.setdefault(text, f"{file.name}/{row}/{column}")
        number = {text: i for i, text in enumerate(ids)}
        pairs = [
            np.array([[number[text] for text in side] for side in (file.first, file.second)], dtype=np.int64)
            for file in files
        ]
        first, second = np.concatenate(pairs, axis=1)
        cluster = components(len(ids), first, second)
        texts = Texts(text=list(ids), language=[language] * len(ids), ids=list(ids.values()))
        return cls(texts, pairs, [cluster[one] for one, _ in pairs])

    def batch(self, files: Sequence[int]) -> tuple[Texts, Ints]:
        """Return the texts of some files, each once, and the position of every text among them (-1: none)."""
        rows = np.unique(np.concatenate([self.pairs[file].ravel() for file in files]))
        position = np.full(len(self.texts), -1, dtype=np.int64)
        position[rows] = np.arange(len(rows))
        return self.texts.take(rows), position

    def groups(self) -> list[list[int]]:
        """Return the files that share sentences, directly or through others, as groups of their numbers."""
        groups: list[tuple[set[int], list[int]]] = []
        for file, cluster in enumerate(self.cluster):
            own, members = set(cluster.tolist()), [file]
            for known, others in [group for group in groups if group[0] & own]:
                groups.remove((known, others))
                own, members = own | known, others + members
            groups.append((own, members))
        return sorted(sorted(members) for _, members in groups)
