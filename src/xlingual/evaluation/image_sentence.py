"""Image–sentence ranking: does a sentence find its image, and an image its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, Unpack, cast

import numpy as np
from msgspec import structs

from xlingual.arrays import Ints
from xlingual.data.images import cut, thumbnails
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.sides import (
    ImageIndex,
    TextVectors,
    embed_images,
    embed_texts,
    queries_for,
)
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.both_ways import (
    DEPTHS,
    PERCENT,
    ShownImages,
    Side,
    System,
    difference_of_medians,
    ranked_pairs,
    systems_of,
)
from xlingual.evaluation.estimates import Estimate, Score, score
from xlingual.evaluation.hubs import HUBS_OF, NamedHubs, hubs_of
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import OVERALL, Baseline, Line, Numbers, Subject
from xlingual.evaluation.pair_run import counted_out, usable_rows
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.trec import IMAGE
from xlingual.measures import Measure, MedianRank, RankMeasure, SuccessAt, as_success, parse_rank_measures
from xlingual.measures.hubness import Places
from xlingual.ranking import Pool, Ranker
from xlingual.records import RankCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import ImageSentenceRequest
from xlingual.results import Results, Summary
from xlingual.results.views import Against, ImageSentenceViews
from xlingual.stats import ResidualPart
from xlingual.store import StoreLike, open_store

NAME = "image-sentence"
MEASURES = ("Success@1", "Success@5", "Success@10", "MedR/floor")
RSUM = "rsum"


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
        store: where vectors are kept: a folder or a Store; "default" is the user's own, None keeps none.
        examples: keep texts and thumbnails (hubs) in the results.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    if fold is not None and fold < 2:
        raise InputError(
            f"{parameter('fold')}: {fold} is too few: a slice needs two images at least; 1000 is usual"
        )
    opened = open_store(store)
    options = Options(
        threads=threads, progress=progress, skip_broken=skip_broken, store=opened, given_ranker=ranker
    )
    run = ImageSentence(manifest, options, fold, as_success(parse_rank_measures(measures)))
    run.systems = systems_of(run.manifest, text_encoders, image_encoders, languages)
    run.take_captions(languages)
    run.take_baselines([baselines] if isinstance(baselines, str) else baselines)
    return run.results(examples)


def both_ways(language: str) -> tuple[Subject, Subject]:
    """Return the two directions of a language: sentence → image, image → sentence."""
    return Subject(language, IMAGE), Subject(IMAGE, language)


class ImageSentence(Run):
    """One evaluation: a manifest, systems, the captions of each language, and what was ranked."""

    ranks_texts = False

    def __init__(
        self, manifest: Manifest, options: Options, fold: int | None, measures: Sequence[RankMeasure]
    ) -> None:
        super().__init__(NAME, options)
        self.manifest = self.data = manifest
        self.fold, self.measures = fold, measures
        self.systems: list[System] = []
        self.captions: dict[str, Ints] = {}
        self.baselines: dict[str, str | None] = {}  # by language
        # each direction by system, slice by slice
        self.ranked: dict[tuple[str, Subject], list[tuple[Side, RankCounts]]] = {}
        self._images: dict[int, ShownImages] = {}
        self._picture = thumbnails(manifest.image_source)

    def take_captions(self, languages: Sequence[str] | None) -> None:
        """Take the texts of each language whose item shows an image, and fit the encoders.

        A language without any, or that no encoder has, is refused where it was named, else left out.
        """
        manifest = self.manifest
        chosen = manifest.languages if languages is None else languages
        opens = any(system.images.opens_images for system in self.systems)
        having = manifest.image >= 0
        if not manifest.has_images:
            having[:] = True  # one vector for each row
        elif self.options.skip_broken and opens:
            having &= usable_rows(manifest, chosen)
        self.rows = np.flatnonzero(having)
        with_image = np.isin(manifest.item, manifest.item[self.rows])
        requested = np.zeros(len(manifest), dtype=bool)
        for language in dict.fromkeys(chosen):
            texts = manifest.rows_of(language)
            spoken = any(language in system.languages for system in self.systems)
            problem = f"no text in {language!r} belongs to an item with an image"
            if spoken and with_image[texts].any():
                self.captions[language] = texts[with_image[texts]]
                requested[texts] = True
            elif languages is not None or len(chosen) == 1:
                problem = problem if spoken else f"no text encoder has {language!r}"
                raise InputError(
                    f"{manifest.source}: {problem}: choose other languages ({parameter('languages')})"
                )
            elif spoken:
                warn(f"{problem}: the language is left out")
        if not self.captions:
            raise InputError(f"{manifest.source}: no text of these encoders belongs to an item with an image")
        if without := int((requested & ~with_image).sum()):
            warn(f"{without} of {int(requested.sum())} texts take no part: their item has no image")
        self.dropped = counted_out(requested, with_image)
        taken = np.concatenate(list(self.captions.values()))
        self.rows = self.rows[np.isin(manifest.item[self.rows], np.unique(manifest.item[taken]))]
        for system in self.systems:
            common = tuple(tag for tag in self.captions if tag in system.languages)
            if not common:
                raise InputError(
                    f"text encoder {system.name!r} has none of the languages that have texts with images "
                    f"({', '.join(self.captions)}): leave it out"
                )
            system.languages = common
            own = manifest.texts(self.rows_of(system))
            self.fit({system.name: system.texts}, own, queries=queries_for(manifest))

    def take_baselines(self, baselines: Sequence[str]) -> None:
        """Take the baseline of each language: the first named that has it, None for none."""
        languages = {system.name: system.languages for system in self.systems}
        for name in baselines:
            if name not in languages:
                raise InputError(
                    f"{parameter('baselines', name)}: no text encoder.{did_you_mean(name, languages)} Text "
                    f"encoders: {listed(languages, 20)}"
                )
        for tag in self.captions:
            self.baselines[tag] = next((name for name in baselines if tag in languages[name]), None)

    def rows_of(self, system: System) -> Ints:
        """Return the captions that a system encodes, in the order of the manifest."""
        return np.sort(np.concatenate([self.captions[tag] for tag in system.languages]))

    def results(self, examples: bool) -> Results:
        """Return the results of all systems."""
        numbers = Numbers(
            NAME,
            self.measures,
            [subject for language in self.captions for subject in both_ways(language)],
            {system.name: system.image_name for system in self.systems},
            partial={
                system.name: f"over {listed(system.languages, 20)} only: the encoder is for no other"
                for system in self.systems
                if len(system.languages) < len(self.captions)
            },
            compared=len(self.captions),
            same_queries=self.same_queries,
        )
        m, clusters = self.manifest, self.images_of(self.systems[0]).row_cluster
        rows = QueryRows(m.ids, m.item, m.item_ids, clusters, m.labels)
        compare = partial(self._compare, numbers)
        results = evaluate(self, numbers, self._ranks(), rows, Recording(examples, False), compare=compare)
        if {SuccessAt(k) for k in DEPTHS} <= set(self.measures):
            results.summary += self._sums(numbers)
        return results

    def images_of(self, system: System) -> ShownImages:
        """Return the images; those of an image encoder that several systems share are encoded once."""
        key = id(system.images)
        if key not in self._images:
            self._images.clear()  # keeps only one set of vectors in memory
            which = self.manifest, system.image_name, system.images, self.rows
            with self.stage("images: encode", "encoding images"):  # reports show those of hubs only
                index = embed_images(*which, shown=False, **self.storing())
            self._images[key] = ShownImages.of(self.manifest, index)
        return self._images[key]

    def _ranks(self) -> Iterator[Ranked]:
        """Rank images and sentences by each system, in each language that it has."""
        for system in self.systems:
            shown, rows = self.images_of(system), self.rows_of(system)
            texts = self.encode(
                system.name,
                lambda *it, at=rows: embed_texts(self.manifest, it[0], it[1], at, **self.embedding()),
            )
            for language in system.languages:
                slices = shown.slices(self.manifest, self.captions[language], self.fold, language)
                self._refuse_small_pools(slices, language)
                places = self._rank(system, language, slices, texts, shown.index)
                for way, subject in enumerate(both_ways(language)):
                    yield self._ranked(system, subject, places[way])

    def _refuse_small_pools(self, slices: Sequence[Side], language: str) -> None:
        """Raise InputError where every query would be a hit."""
        depth = max((m.k for m in self.measures if isinstance(m, SuccessAt)), default=0)
        count, what = min(
            (n, what)
            for side in slices
            for n, what in ((len(side.candidates), "images"), (len(side.rows), "texts"))
        )
        if depth >= count:
            where = " in a slice" if len(slices) > 1 else ""
            raise InputError(
                f"Success@{depth} needs more than {depth} {what}, {language!r} has {count}{where}: every "
                "query would be a hit; give more items, or a smaller k "
                f"({parameter('measures', ['Success@k'])})"
            )

    def _rank(
        self, system: System, language: str, slices: Sequence[Side], texts: TextVectors, images: ImageIndex
    ) -> list[Places]:
        """Rank the sentences and the images of each slice both ways; return the first places of one slice."""
        first: list[Places] = []
        vectors, ways = images.pool.vectors, both_ways(language)
        with self.stage("rank"):
            for side in slices:
                ranks, places, similarity = ranked_pairs(
                    Pool.of(texts.vectors, texts.position[side.rows]),
                    Pool.of(vectors.raw, vectors.rows[images.points[images.code[side.candidates]]]),
                    (side.query, side.candidate),
                    ranker=self.options.ranker,
                    progress=self.progress(f"ranking {language}: {system.name}"),
                    first=0 if first else HUBS_OF,
                )
                self.tally.add(similarity)
                first = first or places
                for subject, way, counts in zip(ways, (side, side.turned), ranks, strict=True):
                    self.ranked.setdefault((system.name, subject), []).append((way, counts))
        return first

    def _ranked(self, system: System, subject: Subject, places: Places) -> Ranked:
        """Turn the ranks of one direction into the values of all measures: means over slices."""
        manifest, ranked = self.manifest, self.ranked[system.name, subject]
        sides, counts = [side for side, _ in ranked], [counts for _, counts in ranked]
        hubs = hubs_of(places, places.wrong(sides[0].query, sides[0].candidate), sides[0].clusters)

        def describe(candidate: int) -> dict[str, Any]:
            row = int(sides[0].candidates[candidate])
            tag = IMAGE if subject.target == IMAGE else manifest.languages[manifest.language[row]]
            text = {"id": manifest.ids[row], "language": tag, "text": cut(manifest.text[row])}
            return {**text, "picture": self._picture(int(manifest.image[row]) if hubs.counts.alarm else -1)}

        estimates, values, views = {}, {}, {}
        for measure in self.measures:
            each = [measure.per_query(own) for own in counts]
            scores = [score(measure, own, [side.clusters]) for own, side in zip(each, sides, strict=True)]
            estimates[measure.name], values[measure.name] = Score.mean(scores), np.concatenate(each)
            views[measure.name] = ImageSentenceViews(
                folds=[own.value for own in scores] if len(scores) > 1 else None,
                hubs=hubs.counts if measure == self.measures[0] else None,
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
            baselines={m.name: Baseline(self._chance(system.name, subject, m)) for m in self.measures},
            conditions={
                "source": subject.source,
                "target": subject.target,
                "data": manifest.digest[:12],
                "sample": "all#0" if self.fold is None else f"fold:{self.fold}#0",
                "candidates": str(n_candidates),
            },
            system={"image_encoder": self.identity(system.images)},
            above=np.concatenate([own.above for own in counts]),
            tied=np.concatenate([own.tied for own in counts]),
            n_tied=sum(own.n_tied for own in counts),
            views=views,
            hubs=NamedHubs(hubs, describe, sides[0].candidate),
        )

    def _chance(self, system: str, subject: Subject, measure: RankMeasure) -> float:
        """Return the value of an encoder to which all candidates are equal."""
        values = []
        for side, _ in self.ranked[system, subject]:
            pool = np.full(len(side.rows), len(side.candidates))
            relevant = np.bincount(side.query, minlength=len(side.rows))
            equal = RankCounts(np.zeros_like(pool), pool, relevant, pool)
            values.append(measure.aggregate(measure.per_query(equal)))
        return float(np.mean(values))

    def same_queries(self, system: str, reference: str) -> bool:
        """Return whether two systems answered the same queries wherever both were evaluated."""
        subjects = [subject for name, subject in self.ranked if name == system]
        pairs = [
            (self.ranked[system, subject], self.ranked[reference, subject])
            for subject in subjects
            if (reference, subject) in self.ranked
        ]
        return all(len(own) == len(others) for own, others in pairs) and all(
            np.array_equal(a.rows, b.rows) and np.array_equal(a.clusters, b.clusters)
            for own, others in pairs
            for (a, _), (b, _) in zip(own, others, strict=True)
        )

    def _compare(self, numbers: Numbers) -> None:
        """Enter the difference of each system to the baseline of the language."""
        for (name, subject), measure in product(self.ranked, self.measures):
            baseline = self.baselines[subject.target if subject.source == IMAGE else subject.source]
            if baseline is None or baseline == name:
                continue
            number, reference = (numbers[each, measure.name, subject] for each in (name, baseline))
            against = self._against(name, baseline, number.estimate, reference.estimate)
            if isinstance(measure, MedianRank) and self.same_queries(name, baseline):
                ways = (self.ranked[each, subject] for each in (name, baseline))
                against = structs.replace(against, ci=difference_of_medians(measure, *ways))
            views = structs.replace(cast("ImageSentenceViews", number.entry.views), against=against)
            numbers.view((name, measure.name, subject), views, ImageSentenceViews(against))

    def _against(self, name: str, baseline: str, first: Estimate | None, second: Estimate | None) -> Against:
        """Return the difference to the baseline, its interval query by query if the queries are the same."""
        one, other = cast("Score", first), cast("Score", second)
        gap = one.less(other) if self.same_queries(name, baseline) else None
        return Against(baseline, one.value - other.value, None if gap is None else gap.interval())

    def _sums(self, numbers: Numbers) -> Iterator[Summary]:
        """Yield the sums of recalls in per cent, of each language over both directions, then their means."""
        sums: dict[str, list[tuple[Score, float]]] = {}
        for language, baseline in self.baselines.items():
            cells = list(product(both_ways(language), map(SuccessAt, DEPTHS)))
            own: dict[str, Score] = {}
            board: dict[str, Line] = {}
            for name in [name for name, subject in self.ranked if subject == cells[0][0]]:
                scores = [cast("Score", numbers[name, m.name, subject].estimate) for subject, m in cells]
                chance = PERCENT * sum(self._chance(name, subject, measure) for subject, measure in cells)
                own[name] = _times(Score.mean(scores), PERCENT * len(cells))
                sums.setdefault(name, []).append((own[name], chance))
                board[name] = own[name], {"chance": chance, "n_pairs": 2}
            for name in own if baseline is not None else ():
                if baseline is not None and name != baseline:
                    views = ImageSentenceViews(self._against(name, baseline, own[name], own[baseline]))
                    board[name] = own[name], {**board[name][1], "views": views}
            yield from numbers.leaderboard(RSUM, (language, IMAGE), board, higher=True)
        means: dict[str, Line] = {
            name: (
                Score.mean([one for one, _ in each]),
                {
                    "chance": float(np.mean([chance for _, chance in each])),
                    "n_pairs": 2 * len(each),
                    "note": numbers.partial.get(name),
                },
            )
            for name, each in sums.items()
        }
        yield from numbers.leaderboard(RSUM, OVERALL, means, higher=True)


def _times(mean: Score, by: float) -> Score:
    """Return a score times a factor, with everything that its interval is made of."""
    low, high = mean.bounds or (0.0, 1.0)
    parts = [ResidualPart(by * part.residuals, part.ways, part.weights) for part in mean.parts]
    return Score(by * mean.value, tuple(parts), (by * low, by * high), by * mean.span)
