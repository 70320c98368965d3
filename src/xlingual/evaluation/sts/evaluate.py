"""Semantic textual similarity (STS): correlation of cosines with people's scores, for several encoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xlingual import encoders
from xlingual.data.languages import tag_problem
from xlingual.data.samples import MOST_SEED
from xlingual.data.sentence_pairs import SentencePairs, read_sentence_pairs
from xlingual.embed import batch_identity, embed_batch, load_fit_texts, refuse_fitted_rows
from xlingual.encoders.base import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.setup import EncoderSpecs, Options, Report, Timings, collected_warnings
from xlingual.evaluation.sts.agreement import Agreement
from xlingual.evaluation.sts.numbers import PEARSON, SPEARMAN, NumberTable
from xlingual.evaluation.sts.replicates import Ordered, pearson, spearman, weights
from xlingual.evaluation.sts.sentences import Sentences, cosines
from xlingual.evaluation.sts.tables import no_queries, pair_table
from xlingual.requests import answers
from xlingual.requests.evaluating import StsRequest
from xlingual.results import Results
from xlingual.store import StoreLike, open_store
from xlingual.streams import stream

if TYPE_CHECKING:
    from xlingual.records import Floats


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
    progress: Report | None = None,
    store: StoreLike = "default",
) -> Results:
    """Evaluate text encoders by how the cosines of sentence pairs correlate with people's scores.

    Args:
        files: one or several files of sentence pairs, or `SentencePairs`.
        language: of all sentences.
        text_encoders: one spec or encoder, several, or a mapping of names to them.
        baseline: name of the encoder that the others are held against; None: the best one.
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
        run = _Run(read_sentence_pairs(files, columns), language, options)
        run.prepare(text_encoders, baseline)
        results = run.results()
    results.warnings = warnings
    return results


class _Run:
    """One evaluation: files of pairs, their distinct sentences, and the encoders."""

    def __init__(self, files: Sequence[SentencePairs], language: str, options: Options) -> None:
        self.files, self.language, self.options = files, language, options
        self.sentences = Sentences.of(files, language)
        self.timings = Timings()
        self.truncated: dict[str, dict[str, int]] = {}
        self.encoders: dict[str, Encoder] = {}
        self.baseline: str | None = None

    def prepare(self, specs: EncoderSpecs, baseline: str | None) -> None:
        """Make the encoders, and refuse what cannot be evaluated, before any work is done."""
        self.encoders = encoders.text_encoders(specs, languages=[self.language], fit_texts=load_fit_texts)
        if baseline is not None and baseline not in self.encoders:
            raise InputError(
                f"--baseline {baseline!r} is none of the encoders.{did_you_mean(baseline, self.encoders)} "
                f"They are {listed(self.encoders)}"
            )
        self.baseline = baseline
        for name, encoder in self.encoders.items():
            _refuse_unfit(name, encoder, self.language)
        with self.timings.stage("texts: fit"), self.options.working("fitting encoders"):
            refuse_fitted_rows(self.encoders, self.sentences.texts)

    def results(self) -> Results:
        """Return everything that was found."""
        table = NumberTable(self.language, self.files, list(self.encoders), self.baseline, self.options.seed)
        for name, encoder in self.encoders.items():
            with self.timings.stage("texts: encode"), self.options.working(f"encoding texts: {name}"):
                self._encode(table, name, encoder)
        with self.timings.stage("correlate"):
            self._correlate(table)
            results = Results(table.entries(), table.summaries(), no_queries())
        results.tables["pairs"] = pair_table(
            self.files, self.language, self.sentences.cluster, list(self.encoders), table.cosines
        )
        results.timings = dict(self.timings.seconds)
        results.truncated = self.truncated
        return results

    def _encode(self, table: NumberTable, name: str, encoder: Encoder) -> None:
        """Take an encoder's cosines of all pairs; one that looks at its whole batch gets each file apart."""
        every = list(range(len(self.files)))
        for members in [[number] for number in every] if encoder.depends_on_batch else [every]:
            texts, position = self.sentences.batch(members)
            found = embed_batch(texts, name, encoder, **self.options.embedding())
            for language, count in (found.truncated or {}).items():
                counts = self.truncated.setdefault(name, {})
                counts[language] = counts.get(language, 0) + count
            identity = batch_identity(encoder, texts, store=self.options.store)
            for number in members:
                first, second = self.sentences.pairs[number]
                table.cosines[name, number] = cosines(found.vectors, (position[first], position[second]))
                table.identities[name, number] = identity

    def _correlate(self, table: NumberTable) -> None:
        """Fill the table; files that share sentences are drawn again together, others apart."""
        done = 0
        for members in self.sentences.groups():
            replicates = self._replicates(table, members)
            for number in members:
                for name in self.encoders:
                    x, y = table.cosines[name, number], self.files[number].score
                    values = {
                        PEARSON: float(pearson(x, y)[0]),
                        SPEARMAN: float(spearman(Ordered.of(x), Ordered.of(y))[0]),
                    }
                    for measure, value in values.items():
                        table.found[measure, name, number] = Agreement.of(
                            value,
                            replicates[measure, name, number],
                            self.sentences.cluster[number],
                            flat=bool(np.ptp(x) == 0),
                        )
                done += 1
                self.options.report("correlating", done, len(self.files))

    def _replicates(self, table: NumberTable, members: Sequence[int]) -> dict[tuple[str, str, int], Floats]:
        """Return the replicates [B] of every correlation of some files, all encoders in the same draws."""
        starts = np.cumsum([0, *(len(self.files[number]) for number in members)])
        rng = stream(self.options.seed, "sts " + " ".join(self.files[number].digest for number in members))
        gold = {number: self.files[number].score for number in members}
        ranked = {
            (name, number): Ordered.of(table.cosines[name, number])
            for name in self.encoders
            for number in members
        }
        ranked_gold = {number: Ordered.of(scores) for number, scores in gold.items()}
        blocks: dict[tuple[str, str, int], list[Floats]] = {}
        for drawn in weights(np.concatenate([self.sentences.cluster[number] for number in members]), rng):
            for place, number in enumerate(members):
                weight = drawn[:, starts[place] : starts[place + 1]]
                for name in self.encoders:
                    x, order = table.cosines[name, number], ranked[name, number]
                    found = {
                        PEARSON: pearson(x, gold[number], weight),
                        SPEARMAN: spearman(order, ranked_gold[number], weight),
                    }
                    for measure, values in found.items():
                        blocks.setdefault((measure, name, number), []).append(values)
        return {key: np.concatenate(parts) for key, parts in blocks.items()}


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
