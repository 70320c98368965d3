"""Semantic textual similarity (STS): correlation of cosines with people's scores, for several encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.evaluation.estimates import Estimate, Gap
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.perquery import repeated
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.measures.agreement import PearsonCorrelation, SpearmanCorrelation
from xlingual.ragged import components
from xlingual.records import Texts
from xlingual.requests import answers
from xlingual.requests.evaluating import StsRequest
from xlingual.results import Interval, Results
from xlingual.results.views import AgreementAgainst, StsViews
from xlingual.stats import ResidualPart, interval, variance
from xlingual.stats.corrections import holm
from xlingual.stats.dependent import of_difference, williams, zou_overlapping
from xlingual.stats.intervals import LEVEL, effective_clusters, rule_of_three, t_quantile
from xlingual.stats.weighted import Ordered, influence, pearson, spearman, weights
from xlingual.store import StoreLike, open_store
from xlingual.streams import stream

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "sts"
MEASURES = (PearsonCorrelation(), SpearmanCorrelation())
PEARSON, SPEARMAN = (measure.name for measure in MEASURES)
# encoders that see spelling alone, by name
TRIVIAL = {"word-overlap": "wordgram:?weight=overlap", "tfidf": "wordgram:", "chargram": "chargram:"}
DECIMALS = 9  # cosines that are equal to so many are tied
MOST_UNDEFINED = 0.1  # share of the replicates
_CALM = 1e-9  # a spread of nothing
_INSIDE = 1 - 1e-9
_FEW = 20  # clusters: of fewer, how dependent pairs are cannot be estimated

Cosines = dict[tuple[str, int], Floats]  # by encoder and file


@answers(StsRequest)
@keeping_warnings
def sts(
    files: str | Path | SentencePairs | Sequence[str | Path | SentencePairs],
    *,
    language: str,
    text_encoders: EncoderSpecs,
    baseline: str | None = None,
    trivial: bool = False,
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
        seed: of the bootstrap.
        threads: threads of the encoders' libraries; they change no number.
        progress: called with (what, done, total).
        store: where vectors are kept: a folder or a Store; "default" is the user's own, None keeps none.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    if problem := tag_problem(language):
        raise InputError(f"{parameter('language')}: {problem}")
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"{parameter('seed')} must be 0 to {MOST_SEED}, got {seed}")
    pairs = read_sentence_pairs(files)
    run = Run(NAME, Options(seed=seed, threads=threads, progress=progress, store=open_store(store)))
    run.ranks = run.ranks_texts = False
    names = _take_encoders(run, text_encoders, language, TRIVIAL if trivial else {})
    if baseline is not None and baseline not in names:
        raise InputError(
            f"{parameter('baseline', baseline)} is none of the encoders.{did_you_mean(baseline, names)} "
            f"They are {listed(names)}"
        )
    cosines, identities = _cosines(run, pairs, language)
    clusters = _clusters(pairs)
    with run.stage("correlate"):
        agreements = _agreements(pairs, clusters, cosines, seed, run.progress("correlating"))
    subjects = [Subject(language, file.name, seed) for file in pairs]
    numbers = Numbers(NAME, MEASURES, subjects)
    results = evaluate(
        run,
        numbers,
        (
            _ranked(name, subjects[number], pairs[number], identities[name, number], agreements[name, number])
            for name, number in cosines
        ),
        None,
        Recording(),
        compare=partial(_compare, numbers, names, baseline),
    )
    results.tables["pairs"] = _pair_table(pairs, language, clusters, cosines)
    return results


def _take_encoders(run: Run, specs: EncoderSpecs, language: str, more: Mapping[str, str]) -> list[str]:
    """Make the encoders, refuse those that cannot encode sentence pairs, and return their names."""
    made = encoders.text_encoders(specs, languages=[language], fit_texts=load_fit_texts)
    if taken := next((name for name in more if name in made), None):
        raise InputError(
            f"--baselines has an encoder named {taken!r}: leave yours out, or give it another name, NAME=SPEC"
        )
    for name, encoder in made.items():
        if isinstance(encoder, VectorsEncoder):
            raise InputError(
                f"text encoder {name!r}: vectors: files have one row for each text of a manifest, which "
                "sentence pairs do not have: name a model, or a function with python:"
            )
    run.by_name |= made | (encoders.text_encoders(more, languages=[language]) if more else {})
    return list(run.by_name)


def _cosines(
    run: Run, files: Sequence[SentencePairs], language: str
) -> tuple[Cosines, dict[tuple[str, int], str]]:
    """Return the cosine of every pair, and each encoder's identity, by encoder and file."""
    sentences = [list(dict.fromkeys([*file.first, *file.second])) for file in files]
    texts = [
        Texts(own, [language] * len(own), [f"{file.name}/{place}" for place in range(len(own))])
        for file, own in zip(files, sentences, strict=True)
    ]
    run.fit(run.by_name, *texts)
    cosines: Cosines = {}
    identities = {}
    for name, (number, file) in product(run.text_encoders, enumerate(files)):
        batch = texts[number]
        vectors = run.encode(
            name, lambda *it, batch=batch: embed_batch(batch, *it, **run.embedding())
        ).vectors
        row = {text: place for place, text in enumerate(sentences[number])}
        sides = [
            vectors[[row[text] for text in side]].astype(np.float64) for side in (file.first, file.second)
        ]
        cosines[name, number] = row_cosines(*sides)
        identities[name, number] = run.identity(run.text_encoders[name], batch)
    return cosines, identities


def row_cosines(first: Floats, second: Floats) -> Floats:
    """Return the cosine [n] of the rows of two arrays [n, d], rounded; a zero vector has cosine 0."""
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosine = np.einsum("nd,nd->n", first, second) / np.where(norms > 0, norms, 1.0)
    return np.asarray(np.round(cosine, DECIMALS) + 0.0)  # no −0


def _clusters(files: Sequence[SentencePairs]) -> list[Ints]:
    """Return the cluster of each pair: pairs that share a sentence, also through others and over files."""
    number: dict[str, int] = {}
    ends = [
        [[number.setdefault(text, len(number)) for text in side] for side in (file.first, file.second)]
        for file in files
    ]
    cluster = components(len(number), *np.concatenate([np.array(one) for one in ends], axis=1))
    return [cluster[first] for first, _ in ends]


def _agreements(
    files: Sequence[SentencePairs],
    clusters: Sequence[Ints],
    cosines: Cosines,
    seed: int,
    report: Callable[[int, int], None],
) -> dict[tuple[str, int], dict[str, ScoreAgreement]]:
    """Return the correlations by encoder and file, without those that are undefined.

    All encoders have the same draws. Files that share sentences are drawn together, others apart.
    """
    found: dict[tuple[str, int], dict[str, ScoreAgreement]] = {}
    every = np.concatenate(clusters)
    of_file = np.repeat(np.arange(len(files)), [len(file) for file in files])
    group = components(len(files) + int(every.max()) + 1, of_file, len(files) + every)[: len(files)]
    for label in dict.fromkeys(group.tolist()):
        members = np.flatnonzero(group == label).tolist()
        starts = np.cumsum([len(files[number]) for number in members])[:-1]
        rng = stream(seed, "sts " + " ".join(files[number].digest for number in members))
        ordered = {key: Ordered.of(values) for key, values in cosines.items() if key[1] in members}
        gold = {number: Ordered.of(files[number].score) for number in members}
        draws: dict[tuple[str, str, int], list[Floats]] = {}
        for drawn in weights(np.concatenate([clusters[number] for number in members]), rng):
            weight = dict(zip(members, np.split(drawn, starts, axis=1), strict=True))
            for key, order in ordered.items():
                file, own = files[key[1]], weight[key[1]]
                draws.setdefault((PEARSON, *key), []).append(pearson(cosines[key], file.score, own))
                draws.setdefault((SPEARMAN, *key), []).append(spearman(order, gold[key[1]], own))
        for key, order in ordered.items():
            x, y = cosines[key], files[key[1]].score
            values = {PEARSON: pearson(x, y)[0], SPEARMAN: spearman(order, gold[key[1]])[0]}
            found[key] = {
                measure: ScoreAgreement(
                    float(value),
                    np.concatenate(draws[measure, *key]),
                    clusters[key[1]],
                    (x, y) if measure == PEARSON else None,
                )
                for measure, value in values.items()
                if np.ptp(x) > 0 and np.isfinite(value)
            }
        report(len({number for _, number in found}), len(files))
    return found


def _ranked(
    name: str, subject: Subject, file: SentencePairs, identity: str, agreements: Mapping[str, ScoreAgreement]
) -> Ranked:
    """Return the correlations of an encoder on a file; nothing is ranked here."""
    flat = [measure for measure in (PEARSON, SPEARMAN) if measure not in agreements]
    return Ranked(
        encoder=name,
        subject=subject,
        queries=np.arange(len(file)),
        clusters=(),
        n_candidates=len(file),
        values={},
        estimates=agreements,
        baselines=dict.fromkeys((PEARSON, SPEARMAN), Baseline(chance=0.0)),
        conditions={"source": subject.source, "target": file.name, "data": file.digest[:12]},
        system={"encoder": identity},
        notes=dict.fromkeys(flat, "no correlation: all cosines are equal"),
        ties=None,
    )


def _compare(numbers: Numbers, names: Sequence[str], baseline: str | None) -> None:
    """Enter the differences to the baseline, by file and on average; p corrected over all (Holm).

    Where no baseline is named, that is the encoder of the highest mean over files.
    """
    for measure in (PEARSON, SPEARMAN):
        means = {name: numbers.mean(name, measure, numbers.subjects) for name in names}
        known = {name: mean.value for name, mean in means.items() if mean is not None}
        if (reference := baseline or max(known, key=lambda name: known[name], default=None)) is None:
            continue
        gaps = {
            (name, subject): _gap(*(numbers[who, measure, subject].estimate for who in (name, reference)))
            for name, subject in product(names, numbers.subjects)
            if name != reference
        }
        p = {key: gap.p for key, gap in gaps.items() if gap is not None and gap.p is not None}
        corrected = dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True))
        for (name, subject), gap in gaps.items():
            over = _gap(means[name], means[reference]) if len(numbers.subjects) > 1 else None
            views = StsViews(
                *(
                    AgreementAgainst(reference, one.value, one.ci, one.p, one.test, one.note, p_holm)
                    if one is not None
                    else None
                    for one, p_holm in ((gap, corrected.get((name, subject))), (over, None))
                )
            )
            numbers.view((name, measure, subject), views)


def _gap(first: Estimate | None, second: Estimate | None) -> Gap | None:
    return None if first is None or second is None else first.minus(second)


def _pair_table(
    files: Sequence[SentencePairs], language: str, clusters: Sequence[Ints], cosines: Cosines
) -> pa.Table:
    """Return a row for each encoder, file and pair: people's score and the encoder's cosine."""
    import pyarrow as pa

    parts = []
    for (name, number), own in cosines.items():
        file = files[number]
        columns = {
            key: repeated([word], [len(file)])
            for key, word in (("encoder", name), ("source", language), ("target", file.name))
        }
        columns["pair"] = from_strings(file.ids, pa.string())
        columns["cluster"] = from_numpy(clusters[number], pa.int64())
        columns |= {
            key: from_numpy(value, pa.float64()) for key, value in (("score", file.score), ("cosine", own))
        }
        parts.append(pa.table(columns))
    return pa.concat_tables(parts).unify_dictionaries()


@dataclass(frozen=True)
class ScoreAgreement(Estimate):
    """A correlation with people's scores, and those of its replicates [B].

    `tested` are the cosines and the scores [n] of Pearson's correlation in one file, whose differences have a
    test.
    """

    replicates: Floats
    cluster: Ints  # of each pair
    tested: tuple[Floats, Floats] | None = None

    @property
    def note(self) -> str | None:
        """Why there is no interval."""
        lost = 1 - np.count_nonzero(np.isfinite(self.replicates)) / len(self.replicates)
        return f"no interval: undefined in {lost:.0%} of the draws" if lost > MOST_UNDEFINED else None

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return tanh(z ± t·s): z Fisher's transform, s the standard deviation of the replicates' z.

        t has the effective number of clusters less one as degrees of freedom. Where no replicate differs (a
        perfect correlation), Wilson's interval on −1 to 1 with as many queries as clusters.
        """
        if self.note is not None:
            return None
        count, drawn = effective_clusters(self.cluster), len(np.unique(self.cluster))
        error = float(np.std(_z(self.replicates[np.isfinite(self.replicates)]), ddof=1))
        if error <= _CALM or abs(self.value) >= _INSIDE:
            none = ResidualPart(np.zeros(len(self.cluster)), (self.cluster,))
            return interval(self.value, [none], bounds=(-1.0, 1.0), level=level)
        half = t_quantile(level, count - 1) * error * float(np.sqrt(drawn / max(drawn - 1, 1)))
        what = "clusters" if drawn < len(self.cluster) else "pairs"
        low, high = np.tanh([np.arctanh(self.value) - half, np.arctanh(self.value) + half])
        return Interval(float(low), float(high), level, f"z ± t·s, bootstrap of {what}")

    @classmethod
    def mean(cls, several: Sequence[ScoreAgreement]) -> ScoreAgreement:
        """Return the mean over files, replicate by replicate."""
        if len(several) == 1:
            return several[0]
        value, replicates = (
            np.mean([getattr(one, name) for one in several], axis=0) for name in ("value", "replicates")
        )
        return cls(float(value), replicates, np.concatenate([one.cluster for one in several]))

    def minus(self, other: ScoreAgreement) -> Gap:
        """Return the difference: Williams' test with Zou's interval where it is of Pearson's in one file.

        n is then the number of pairs divided by the design effect of their clusters. Elsewhere Zou's interval
        has its ingredients from the replicates; where these allow none, it is their percentiles.
        """
        value, note = self.value - other.value, None
        if self.tested is not None and other.tested is not None:
            (x, gold), (y, _) = self.tested, other.tested
            r_xy, n = float(pearson(x, y)[0]), self._independent(other.value, x, y, gold)
            unit = f"n = {n} of {len(gold)} pairs" if n < len(gold) else f"n = {n}"
            try:
                p = williams(self.value, other.value, r_xy, n)[1]
                ci = zou_overlapping(self.value, other.value, r_xy, n)
                return Gap(value, Interval(ci.low, ci.high, ci.level, "Zou 2007"), p, f"Williams, {unit}")
            except ValueError as error:
                note = f"no test: {error}"
        elif (first := self.interval()) is not None and (second := other.interval()) is not None:
            defined = np.isfinite(self.replicates) & np.isfinite(other.replicates)
            z = _z(self.replicates[defined]), _z(other.replicates[defined])
            if min(np.std(side) for side in (*z, z[0] - z[1])) > _CALM:
                both, c = ((self.value, first), (other.value, second)), float(np.corrcoef(*z)[0, 1])
                return Gap(value, of_difference(*both, c, "Zou 2007 on the bootstrap"))
        moved = self.replicates - other.replicates
        moved = moved[np.isfinite(moved)]
        low, high = np.quantile(moved, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if len(moved) else (value, value)
        if high - low > _CALM:
            ends = min(float(low), value), max(float(high), value)
            return Gap(value, Interval(*ends, LEVEL, "percentiles, bootstrap"), note=note)
        count = effective_clusters(self.cluster)
        return Gap(value, rule_of_three(value, count, 2.0, LEVEL, "clusters of pairs"), note=note)

    def _independent(self, other: float, x: Floats, y: Floats, gold: Floats) -> int:
        """Return as how many independent pairs these count: pairs divided by the design effect.

        That is the variance of the difference with clusters over that without; under 1 it is chance.
        """
        n, clusters = len(gold), len(np.unique(self.cluster))
        if clusters == n:
            return n
        moved = influence(x, gold, self.value) - influence(y, gold, other)
        plain = variance([ResidualPart(moved)])
        effect = variance([ResidualPart(moved, (self.cluster,))]) / plain if plain > 0 else 1.0
        worth = n / max(effect, 1.0)
        return int(min(worth, clusters) if clusters < _FEW else worth)


def _z(values: Floats) -> Floats:
    return np.asarray(np.arctanh(np.clip(values, -_INSIDE, _INSIDE)))
