"""Image–sentence ranking: does a sentence find its image, and an image its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.sides import ImageIndex, TextVectors, embed_images, embed_texts, queries_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.hubs import HUBS_OF
from xlingual.evaluation.image_sentence.captions import (
    ShownImages,
    Slice,
    both_ways,
    captions,
    rows_with_images,
)
from xlingual.evaluation.image_sentence.image_hubs import ImageHubs
from xlingual.evaluation.image_sentence.numbers import Direction, ImageNumbers, direction
from xlingual.evaluation.image_sentence.rankings import rankings_of
from xlingual.evaluation.image_sentence.ranks import RankedWay, ranked_pairs
from xlingual.evaluation.image_sentence.refusals import refuse_other_dimensions, refuse_small_pools
from xlingual.evaluation.image_sentence.systems import (
    EncoderPair,
    baseline_of,
    check_baselines,
    make_systems,
)
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.pair_run import counted_out, images_of_rows, usable_rows
from xlingual.evaluation.rankings import Evaluated, Ranking
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.trec import write_trec
from xlingual.measures import Measure, RankMeasure, as_success, parse_rank_measures
from xlingual.ranking import Pool, Ranker
from xlingual.requests import answers
from xlingual.requests.evaluating import ImageSentenceRequest
from xlingual.results import Results
from xlingual.store import StoreLike, open_store

NAME = "image-sentence"
MEASURES = ("Success@1", "Success@5", "Success@10", "MedR/floor")


@takes_data()
@answers(ImageSentenceRequest)
@keeping_warnings
def image_sentence(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs,
    *,
    image_encoders: Sequence[EncoderLike] | EncoderLike = (),
    languages: Sequence[str] | None = None,
    fold: int | None = None,
    measures: str | Sequence[str | Measure] = MEASURES,
    baselines: str | Sequence[str] = (),
    skip_broken: bool = False,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    examples: bool = True,
    **columns: Unpack[DataOptions],
) -> Results:
    """Evaluate pairs of a text and an image encoder by ranking images for sentences and the other way.

    Args:
        manifest: texts with images; an item may have several texts of a language.
        text_encoders: one spec or encoder, several, or a mapping of names to them. One that has an attribute
            `languages` is evaluated on these only.
        image_encoders: one for all, or one for each text encoder in the same order.
        languages: of the texts; None: all that a text encoder has.
        fold: the mean over consecutive slices of so many images, each ranked as a separate pool.
        measures: Success@k, RR, RR@k, MedR, or MedR/floor, the median rank as the literature has it. Its
            R@k, any caption counts, is Success@k: `R@k` is taken as that.
        baselines: names of text encoders; in each language the others are compared with the first
            of them that has it.
        skip_broken: leave out texts whose image is missing or cannot be opened.
        threads: threads side by side; they change no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        trec: folder for runs and qrels, both ways.
        trec_depth: how many candidates of each query a run holds, None for all.
        examples: keep texts and thumbnails (hubs) in the results.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    ranked = as_success(parse_rank_measures(measures))
    if trec is not None and fold is not None:
        raise InputError(
            f"{parameter('trec')} writes one ranking of each query, and {parameter('fold')} makes several: "
            "leave one out"
        )
    if fold is not None and fold < 2:
        raise InputError(
            f"{parameter('fold')}: {fold} is too few: a slice needs two images at least; 1000 is usual"
        )
    options = Options(
        threads=threads,
        progress=progress,
        skip_broken=skip_broken,
        store=open_store(store),
        given_ranker=ranker,
    )
    named = [baselines] if isinstance(baselines, str) else list(baselines)
    run = ImageSentence(manifest, options, fold)
    run.prepare(text_encoders, image_encoders, languages, named)
    return run.results(ranked, named, trec, trec_depth, examples)


class ImageSentence(Run):
    """One evaluation: a manifest, systems, and the captions of each language."""

    ranks_texts = False

    def __init__(self, manifest: Manifest, options: Options, fold: int | None) -> None:
        super().__init__(NAME, options)
        self.manifest, self.fold = manifest, fold
        self.systems: list[EncoderPair] = []
        self.captions: dict[str, Ints] = {}
        self.image_identities: dict[str, str] = {}  # by system
        self._images: dict[int, tuple[ImageIndex, ShownImages]] = {}

    def prepare(
        self,
        text_specs: EncoderSpecs,
        image_specs: Sequence[EncoderLike] | EncoderLike,
        languages: Sequence[str] | None,
        baselines: Sequence[str],
    ) -> None:
        """Make the systems, and refuse what cannot be evaluated, before any work is done."""
        manifest = self.manifest
        named = languages is not None
        wanted = list(dict.fromkeys(manifest.languages if languages is None else languages))
        if not wanted:
            raise InputError(
                "no language is named: give one, as in "
                f"{parameter('languages', ['en', 'de'])}, or leave it out"
            )
        for language in wanted:
            manifest.rows_of(language)
        self.systems = make_systems(manifest, text_specs, image_specs, wanted, named=named)
        wanted = [tag for tag in wanted if any(tag in system.languages for system in self.systems)]
        opens = any(system.images.opens_images for system in self.systems)
        usable = usable_rows(manifest, wanted) if self.options.skip_broken and opens else None
        rows = rows_with_images(manifest, opens, usable)
        self.captions = captions(manifest, rows, wanted, named)
        own = np.concatenate(list(self.captions.values()))
        requested = np.isin(manifest.language, [manifest.languages.index(tag) for tag in wanted])
        self.dropped = counted_out(requested, np.isin(np.arange(len(manifest)), own))
        self.shown_rows = rows[np.isin(manifest.item[rows], np.unique(manifest.item[own]))]
        for system in self.systems:
            evaluated = manifest.texts(self.rows_of(system))
            self.fit({system.name: system.texts}, evaluated, queries=queries_for(manifest))
            self.image_identities[system.name] = self.identity(system.images)
        check_baselines(baselines, self.systems)

    def rows_of(self, system: EncoderPair) -> Ints:
        """Return the captions that a system encodes, in the order of the manifest."""
        rows = [own for language, own in self.captions.items() if language in system.languages]
        if not rows:
            raise InputError(
                f"text encoder {system.name!r} has none of the languages that have texts with images "
                f"({', '.join(self.captions)}): leave it out"
            )
        return np.sort(np.concatenate(rows))

    def results(
        self,
        measures: Sequence[RankMeasure],
        baselines: Sequence[str],
        trec: str | Path | None,
        depth: int | None,
        examples: bool = True,
    ) -> Results:
        """Return the results of all systems."""
        of_language = {tag: baseline_of(tag, baselines, self.systems) for tag in self.captions}
        numbers = ImageNumbers(NAME, measures, self.systems, of_language)
        row_clusters: list[Ints] = []
        hubs = ImageHubs(self.manifest, examples)
        for system in self.systems:
            images, shown = self.images_of(system)
            texts = self.encode(system.name, partial(self._texts, system))
            refuse_other_dimensions(system, texts, images)
            row_clusters.append(shown.row_cluster)
            for language in (tag for tag in self.captions if tag in system.languages):
                slices = shown.slices(self.manifest, self.captions[language], self.fold, language)
                refuse_small_pools(slices, measures, language)
                ranked = [
                    self._ranked(system, texts, images, language, one, 0 if place else HUBS_OF)
                    for place, one in enumerate(slices)
                ]
                for subject in both_ways(language):
                    counts, places = [ways[subject].counts for ways in ranked], ranked[0][subject].places
                    found = direction(subject, shown, slices, counts)
                    signatures = {measure: self._signature(system, found, measure) for measure in measures}
                    of_hubs = hubs.add(system.name, found, slices[0], shown, places)
                    numbers.add(system.name, found, signatures, of_hubs)
        with self.stage("statistics", "computing intervals"):
            results = numbers.results(self.manifest, row_clusters[0])
            results.tables = hubs.table()
        self.forget_images()
        results.evaluated = Evaluated(self.manifest, self.rankings)
        if trec is not None:
            with self.stage("trec", "writing rankings"):
                write_trec(results, trec, depth)
        return self.finished(results)

    def rankings(self, encoder: str) -> Iterator[Ranking]:
        """Yield the lists of a system both ways for each language; raise InputError for slices."""
        if self.fold is not None:
            raise InputError(f"lists are of one ranking, and {parameter('fold')} makes several: leave it out")
        system = next(one for one in self.systems if one.name == encoder)
        images, shown = self.images_of(system)
        self.few.check(f"image encoder {system.image_name!r}", images.pool.vectors.raw)
        texts = self.encode_again(encoder, partial(self._texts, system))
        for language, rows in self.captions.items():
            if language in system.languages:
                (one,) = shown.slices(self.manifest, rows, None, language)
                yield from rankings_of(encoder, language, self.manifest, one, shown, texts, images)
        self.forget_images()

    def forget_images(self) -> None:
        """Free the vectors of images."""
        self._images.clear()

    def _signature(self, system: EncoderPair, direction: Direction, measure: RankMeasure) -> str:
        conditions = {
            "source": direction.subject.source,
            "target": direction.subject.target,
            "data": self.manifest.digest[:12],
            "sample": "all#0" if self.fold is None else f"fold:{self.fold}#0",
            **images_of_rows(self.manifest),
            "candidates": str(direction.pool),
        }
        images = self.image_identities[system.name]
        encoder = self.identities[system.name]
        return self.signature(conditions, measure.name, encoder=encoder, image_encoder=images)

    def images_of(self, system: EncoderPair) -> tuple[ImageIndex, ShownImages]:
        """Return the images; those of an image encoder that several systems share are encoded once."""
        key = id(system.images)
        if key not in self._images:
            self._images.clear()  # keeps only one set of vectors in memory
            with self.stage("images: encode", "encoding images"):
                index = embed_images(
                    self.manifest,
                    system.image_name,
                    system.images,
                    self.shown_rows,
                    shown=False,  # reports show those of hubs only
                    **self.storing(),
                )
            self.few.keep(f"image encoder {system.image_name!r}", index.pool.vectors.raw)
            self._images[key] = index, ShownImages.of(self.manifest, index.code)
        return self._images[key]

    def _texts(self, system: EncoderPair, name: str, encoder: Encoder) -> TextVectors:
        return embed_texts(self.manifest, name, encoder, self.rows_of(system), **self.embedding())

    def _ranked(
        self,
        system: EncoderPair,
        texts: TextVectors,
        images: ImageIndex,
        language: str,
        one: Slice,
        first: int,
    ) -> dict[Subject, RankedWay]:
        """Return the ranks of images for sentences, and of sentences for images."""
        vectors = images.pool.vectors
        with self.stage("rank"):
            found = ranked_pairs(
                Pool.of(texts.vectors, texts.position[one.texts]),
                Pool.of(vectors.raw, vectors.rows[images.points[one.images]]),
                one.text,
                one.image,
                ranker=self.options.ranker,
                progress=self.progress(f"ranking {language}: {system.name}"),
                first=first,
            )
        self.tally.add(found.similarity)
        return found.by_way(language)
