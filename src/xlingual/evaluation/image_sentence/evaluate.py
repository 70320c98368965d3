"""Image–sentence ranking: does a sentence find its image, and an image its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.images import cut, thumbnails
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.sides import ImageIndex, TextVectors, embed_images, embed_texts, queries_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.hubs import HUBS_OF, NamedHubs, hubs_of
from xlingual.evaluation.image_sentence.directions import Direction, Directions, both_ways
from xlingual.evaluation.image_sentence.ranks import DEPTHS, RankedPairs, ranked_pairs
from xlingual.evaluation.image_sentence.sides import (
    EncoderPair,
    ShownImages,
    Side,
    captions,
    encoder_pairs,
    rows_with_images,
)
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.pair_run import counted_out, images_of_rows, usable_rows
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.trec import IMAGE, Ranking, images_of, texts_of
from xlingual.measures import Measure, RankMeasure, SuccessAt, as_success, parse_rank_measures
from xlingual.measures.hubness import Places
from xlingual.ranking import Pool, Ranker, UnitVectors
from xlingual.requests import answers
from xlingual.requests.evaluating import ImageSentenceRequest
from xlingual.results import Results
from xlingual.results.views import HubCounts, ImageSentenceViews
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
    chosen, recording = (
        as_success(parse_rank_measures(measures)),
        Recording(examples, False, trec, trec_depth),
    )
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
    run = ImageSentence(manifest, options, fold)
    run.prepare(text_encoders, image_encoders, languages)
    named = [baselines] if isinstance(baselines, str) else baselines
    return run.results(chosen, run.directions(named), recording)


class ImageSentence(Run):
    """One evaluation: a manifest, systems, and the captions of each language."""

    ranks_texts = False

    def __init__(self, manifest: Manifest, options: Options, fold: int | None) -> None:
        super().__init__(NAME, options)
        self.manifest = self.data = manifest
        self.fold = fold
        self.systems: list[EncoderPair] = []
        self.captions: dict[str, Ints] = {}
        self.image_identities: dict[str, str] = {}  # by system
        self._images: dict[int, tuple[ImageIndex, ShownImages]] = {}
        self._picture = thumbnails(manifest.image_source)

    def prepare(
        self,
        text_specs: EncoderSpecs,
        image_specs: Sequence[EncoderLike] | EncoderLike,
        languages: Sequence[str] | None,
    ) -> None:
        """Make the systems, and refuse what cannot be evaluated, before any work is done."""
        manifest = self.manifest
        chosen = list(dict.fromkeys(manifest.languages if languages is None else languages))
        if not chosen:
            raise InputError(
                "no language is named: give one, as in "
                f"{parameter('languages', ['en', 'de'])}, or leave it out"
            )
        for language in chosen:
            manifest.rows_of(language)
        self.systems = encoder_pairs(manifest, text_specs, image_specs, chosen)
        spoken = [tag for tag in chosen if any(tag in system.languages for system in self.systems)]
        if languages is not None and len(spoken) < len(chosen):
            missing = next(tag for tag in chosen if tag not in spoken)
            raise InputError(
                f"no text encoder has {missing!r}: choose other languages ({parameter('languages')}), or add "
                "an encoder for it"
            )
        opens = any(system.images.opens_images for system in self.systems)
        usable = usable_rows(manifest, spoken) if self.options.skip_broken and opens else None
        rows = rows_with_images(manifest, opens, usable)
        self.captions = captions(manifest, rows, spoken, languages is not None)
        texts = np.concatenate(list(self.captions.values()))
        requested = np.isin(manifest.language, [manifest.languages.index(tag) for tag in spoken])
        self.dropped = counted_out(requested, np.isin(np.arange(len(manifest)), texts))
        self.shown_rows = rows[np.isin(manifest.item[rows], np.unique(manifest.item[texts]))]
        for place, system in enumerate(self.systems):
            common = tuple(tag for tag in self.captions if tag in system.languages)
            if not common:
                raise InputError(
                    f"text encoder {system.name!r} has none of the languages that have texts with images "
                    f"({', '.join(self.captions)}): leave it out"
                )
            self.systems[place] = system = replace(system, languages=common)
            evaluated = manifest.texts(self._rows_of(system))
            self.fit({system.name: system.texts}, evaluated, queries=queries_for(manifest))
            self.image_identities[system.name] = self.identity(system.images)

    def directions(self, baselines: Sequence[str]) -> Directions:
        """Return no direction yet, and the baseline of each language: the first named that has it."""
        names = [system.name for system in self.systems]
        for name in baselines:
            if name not in names:
                raise InputError(
                    f"{parameter('baselines', name)}: no text encoder.{did_you_mean(name, names)} Text "
                    f"encoders: {listed(names, 20)}"
                )
        if baselines and len(names) < 2:
            raise InputError(
                f"{parameter('baselines')} needs another text encoder to compare with: give a second one"
            )
        languages = {system.name: system.languages for system in self.systems}
        return Directions(
            {tag: next((b for b in baselines if tag in languages[b]), None) for tag in self.captions}
        )

    def _rows_of(self, system: EncoderPair) -> Ints:
        """Return the captions that a system encodes, in the order of the manifest."""
        return np.sort(np.concatenate([self.captions[tag] for tag in system.languages]))

    def results(
        self, measures: Sequence[RankMeasure], directions: Directions, recording: Recording
    ) -> Results:
        """Return the results of all systems."""
        numbers = Numbers(
            NAME,
            measures,
            [subject for language in self.captions for subject in both_ways(language)],
            {system.name: system.image_name for system in self.systems},
            partial={
                system.name: f"over {listed(system.languages, 20)} only: the encoder is for no other"
                for system in self.systems
                if len(system.languages) < len(self.captions)
            },
            compared=len(self.captions),
            same_queries=directions.same_queries,
        )
        clusters = self._images_of(self.systems[0])[1].row_cluster
        m = self.manifest
        rows = QueryRows(m.ids, m.item, m.item_ids, clusters, m.labels)
        ranked, compare = self._stream(measures, directions), partial(directions.compare, numbers)
        results = evaluate(self, numbers, ranked, rows, recording, compare=compare)
        if {SuccessAt(k) for k in DEPTHS} <= set(measures):
            results.summary += directions.sums(numbers)
        self._images.clear()
        return results

    def _images_of(self, system: EncoderPair) -> tuple[ImageIndex, ShownImages]:
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
            self._images[key] = index, ShownImages.of(self.manifest, index.code)
        return self._images[key]

    def _stream(self, measures: Sequence[RankMeasure], directions: Directions) -> Iterator[Ranked]:
        """Rank images and sentences by each system, in each language that it has."""
        for system in self.systems:
            images, shown = self._images_of(system)
            texts = self.encode(system.name, partial(self._texts, system))
            n_dimensions = int(texts.vectors.shape[1]), images.pool.vectors.dim
            if n_dimensions[0] != n_dimensions[1]:
                raise InputError(
                    f"text encoder {system.name!r} gives {n_dimensions[0]} dimensions and image encoder "
                    f"{system.image_name!r} gives {n_dimensions[1]}: sentences and images must lie in one "
                    "space; give both encoders of one model"
                )
            for language in system.languages:
                slices = shown.slices(self.manifest, self.captions[language], self.fold, language)
                _refuse_small_pools(slices, measures, language)
                ranked = self._rank(system, language, slices, texts, images)
                for way, subject in enumerate(both_ways(language)):
                    sides = [side.turned if way else side for side in slices]
                    direction = Direction(sides, [pairs.ways[way] for pairs in ranked])
                    directions.by_system[system.name, subject] = direction
                    hubs = self._hubs(subject, sides[0], ranked[0].places[way])
                    yield replace(
                        self._ranked(system, subject, direction, measures, hubs.hubs.counts),
                        hubs=hubs,
                        ranking=partial(self._ranking, subject, sides[0], texts, images),
                    )

    def _texts(self, system: EncoderPair, name: str, encoder: Encoder) -> TextVectors:
        """Return the vectors of a system's captions."""
        return embed_texts(self.manifest, name, encoder, self._rows_of(system), **self.embedding())

    def _rank(
        self,
        system: EncoderPair,
        language: str,
        slices: Sequence[Side],
        texts: TextVectors,
        images: ImageIndex,
    ) -> list[RankedPairs]:
        """Rank the sentences and the images of each slice both ways; hubs are those of the first."""
        vectors = images.pool.vectors
        ranked: list[RankedPairs] = []
        with self.stage("rank"):
            for side in slices:
                pairs = ranked_pairs(
                    Pool.of(texts.vectors, texts.position[side.rows]),
                    Pool.of(vectors.raw, vectors.rows[images.points[images.code[side.candidates]]]),
                    (side.query, side.candidate),
                    ranker=self.options.ranker,
                    progress=self.progress(f"ranking {language}: {system.name}"),
                    first=0 if ranked else HUBS_OF,
                )
                self.tally.add(pairs.similarity)
                ranked.append(pairs)
        return ranked

    def _ranked(
        self,
        system: EncoderPair,
        subject: Subject,
        direction: Direction,
        measures: Sequence[RankMeasure],
        hubs: HubCounts,
    ) -> Ranked:
        """Turn the ranks of one direction into the values of all measures: means over slices."""
        sides, estimates, values, views = direction.sides, {}, {}, {}
        for measure in measures:
            each = [measure.per_query(counts) for counts in direction.counts]
            scores = [score(measure, *part) for part in zip(each, direction.clusters, strict=True)]
            estimates[measure.name], values[measure.name] = Score.mean(scores), np.concatenate(each)
            views[measure.name] = ImageSentenceViews(
                folds=[part.value for part in scores] if len(scores) > 1 else None,
                hubs=hubs if measure == measures[0] else None,
            )
        n_candidates = round(float(np.mean([len(side.candidates) for side in sides])))
        return Ranked(
            encoder=system.name,
            subject=subject,
            queries=np.concatenate([side.rows for side in sides]),
            clusters=[np.concatenate([side.clusters for side in sides])],
            n_candidates=n_candidates,
            values=values,
            estimates=estimates,
            baselines={measure.name: Baseline(direction.chance(measure)) for measure in measures},
            conditions={
                "source": subject.source,
                "target": subject.target,
                "data": self.manifest.digest[:12],
                "sample": "all#0" if self.fold is None else f"fold:{self.fold}#0",
                **images_of_rows(self.manifest),
                "candidates": str(n_candidates),
            },
            system={"image_encoder": self.image_identities[system.name]},
            above=np.concatenate([counts.above for counts in direction.counts]),
            tied=np.concatenate([counts.tied for counts in direction.counts]),
            n_tied=sum(counts.n_tied for counts in direction.counts),
            views=views,
        )

    def _hubs(self, subject: Subject, side: Side, places: Places) -> NamedHubs:
        """Return the hubs of a system in one direction of the first slice."""
        manifest = self.manifest
        hubs = hubs_of(places, places.wrong(side.query, side.candidate), side.clusters)

        def describe(candidate: int) -> dict[str, Any]:
            row = int(side.candidates[candidate])
            tag = IMAGE if subject.target == IMAGE else manifest.languages[manifest.language[row]]
            text = {"id": manifest.ids[row], "language": tag, "text": cut(manifest.text[row])}
            return {**text, "picture": self._picture(int(manifest.image[row]) if hubs.counts.alarm else -1)}

        return NamedHubs(hubs, describe, side.candidate)

    def _ranking(self, subject: Subject, side: Side, texts: TextVectors, images: ImageIndex) -> Ranking:
        """Return the list of a TREC file: the images of each sentence, or the sentences of each image."""
        vectors, named, compared = images.pool.vectors, [], []
        for name, rows in zip(subject.pair, (side.rows, side.candidates), strict=True):
            if name == IMAGE:
                named.append(images_of(self.manifest, rows))
                lines = vectors.rows[images.points[images.code[rows]]]
                compared.append(UnitVectors(vectors.raw, lines))
            else:
                named.append(texts_of(self.manifest, rows))
                compared.append(UnitVectors(texts.vectors, texts.position[rows]))
        return Ranking(named[0], named[1], (side.query, side.candidate), vectors=(compared[0], compared[1]))


def _refuse_small_pools(slices: Sequence[Side], measures: Sequence[RankMeasure], language: str) -> None:
    """Raise InputError where every query would be a hit."""
    depth = max((m.k for m in measures if isinstance(m, SuccessAt)), default=0)
    for side in slices:
        count, members = min((len(side.candidates), "images"), (len(side.rows), "texts"))
        if depth >= count:
            where = " in a slice" if len(slices) > 1 else ""
            raise InputError(
                f"Success@{depth} needs more than {depth} {members}, {language!r} has {count}{where}: every "
                "query would be a hit; give more items, or a smaller k "
                f"({parameter('measures', ['Success@k'])})"
            )
