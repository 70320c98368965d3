"""The steps of MLMME's study (Tables 1, 2 and 3 of Calixto, Liu and Campbell 2017), and their data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from xlingual.data.manifest import Manifest, read_reference
from xlingual.data.samples import hold_out
from xlingual.data.sentence_pairs import SentencePairs, read_sentence_pairs
from xlingual.demo_data.scenes import write_scenes
from xlingual.demo_data.scenes.sentences import write_lists, write_sentence_pairs
from xlingual.encoders import Spec, parse
from xlingual.errors import InputError, listed
from xlingual.evaluation.image_sentence import image_sentence
from xlingual.evaluation.sts import TRIVIAL, sts
from xlingual.files import make_folder
from xlingual.nbest.features import rows_of_sentences, similarities
from xlingual.nbest.lists import NBestLists, read_aligned, read_nbest, write_texts
from xlingual.nbest.mira import first_best
from xlingual.nbest.score import METEOR, has_meteor, jackknife, metrics_of
from xlingual.nbest.tune import tune
from xlingual.papers.study import Context, Measured, Model, Scaled
from xlingual.requests import defaults, values
from xlingual.requests.record import Request, leaves
from xlingual.requests.shared import Columns
from xlingual.results import by_key
from xlingual.stats.trainings import of_runs
from xlingual.stats.weighted import influence, pearson

SIMILARITY, RERANKING = "Table 2", "Table 3"
MEAN, FIRST, SCORE = "mean recall", "first translation", "total"
RECALLS = {"R@1": "Success@1", "R@5": "Success@5", "R@10": "Success@10"}  # of the literature → of results
SIZES = {"validation": 150, "test": 400, "pairs": 400, "tune lists": 200, "test lists": 300}


@dataclass(frozen=True)
class Lists:
    """The n-best lists of some sentences, and what belongs to them."""

    nbest: NBestLists
    source: list[str]
    reference: list[str]
    images: Manifest | None


@dataclass(frozen=True)
class Data:
    """The data of the study, and its models with their languages and β.

    `lists` are those to tune weights on, and those to measure.
    """

    train: Manifest
    validation: Manifest
    test: Manifest
    languages: tuple[str, ...]
    image_encoder: str
    sts: Sequence[SentencePairs]
    lists: Sequence[Lists]
    models: Mapping[str, tuple[tuple[str, ...], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = {"train on": self.train, "validate on": self.validation, "rank": self.test}
        for name, manifest in parts.items():
            if absent := [tag for tag in self.languages if tag not in manifest.languages]:
                raise InputError(f"the data to {name} have no texts in {listed(absent)}: choose other rows")
            if name != "rank" and (shared := manifest.n_shared(self.test)):
                raise InputError(f"{shared} texts are in the data to {name} and in --test: choose other rows")


def directions(language: str) -> dict[str, tuple[str, str]]:
    """Return queries and candidates of both directions."""
    return {f"{language} → image": (language, "image"), f"image → {language}": ("image", language)}


def spec_of(label: str, folder: Path, image_encoder: str | None = None) -> str:
    """Return the spec of a training, for images above their encoder."""
    if image_encoder is None:
        return str(Spec(label, "model", str(folder), (), None))
    return str(Spec(label, "model", str(folder), (("base", "trusted"),), parse(image_encoder)))


def ranking(data: Data, models: Sequence[Model], folder: Path, context: Context) -> Iterator[Measured]:
    """Rank images and sentences by every training that knows images (Table 1)."""
    seeing = [model for model in models if data.models[model.name][1] > 0]
    folders = {label: path for model in seeing for label, path in model.folders.items()}
    results = image_sentence(
        data.test,
        text_encoders={label: spec_of(label, path) for label, path in folders.items()},
        image_encoders=[spec_of(label, path, data.image_encoder) for label, path in folders.items()],
        languages=data.languages,
        progress=context.progress,
        store=context.store,
    )
    results.write(folder)
    for language in data.languages:
        able = [model for model in seeing if language in data.models[model.name][0]]
        labels = [label for model in able for label in model.folders]
        for direction, (source, target) in directions(language).items():
            rows = [
                [columns_of(results.per_query, source=source, target=target, encoder=label, measure=measure)
                for label in labels]
                for measure in RECALLS.values()
            ]  # fmt: skip
            recalls = np.stack([[100 * row["value"] for row in of_measure] for of_measure in rows])
            recalls = np.concatenate([recalls, recalls.mean(axis=0, keepdims=True)])  # [4, labels, queries]
            entries = by_key(results.entries, source=source, target=target)
            chance = {entry.measure: entry.chance for entry in entries if entry.encoder == labels[0]}
            levels = [100 * (chance[measure] or 0.0) for measure in RECALLS.values()]
            name, clusters = f"Table 1 {direction}", rows[0][0]["cluster"]
            levels.append(sum(levels) / len(levels))
            for measure, of_labels, level in zip((*RECALLS, MEAN), recalls, levels, strict=True):
                queries = Scaled.of_values("image-sentence", labels, of_labels, clusters, 100.0)
                yield Measured(name, measure, queries, chance=level)
            medians = {
                entry.encoder: float(entry.value or 0) for entry in by_key(entries, measure="MedR/floor")
            }
            scores = {model.name: of_runs([medians[label] for label in model.folders]) for model in able}
            chances = chance["MedR/floor"]
            yield Measured(name, "MedR", scores=scores, chance=chances, n=len(clusters))


def columns_of(table: Any, **where: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the columns, as arrays, of the rows that have these values."""
    for column, value in where.items():
        table = table.filter(pc.equal(table[column], value))
    return {name: table[name].to_numpy() for name in table.column_names}


def similarity(data: Data, models: Sequence[Model], folder: Path, context: Context) -> Iterator[Measured]:
    """Evaluate textual similarity in the first language by every training and trivial encoders (Table 2).

    A pair's value is the correlation plus n times its influence on it, so that errors and tests of means are
    those of correlations, over clusters of pairs that share a sentence.
    """
    language = data.languages[0]
    able = [model for model in models if language in data.models[model.name][0]]
    specs = {label: spec_of(label, path) for model in able for label, path in model.folders.items()}
    results = sts(
        data.sts, language=language, text_encoders=specs, trivial=True, progress=context.progress,
        store=context.store,
    )  # fmt: skip
    results.write(folder)
    for pairs in data.sts:
        labels, values = [], []
        for label in (*specs, *TRIVIAL):
            row = columns_of(results.tables["pairs"], target=pairs.name, encoder=label)
            r = float(pearson(row["cosine"], row["score"])[0])
            if np.isfinite(r):
                labels.append(label)
                values.append(r + len(pairs) * influence(row["cosine"], row["score"], r))
        queries = Scaled.of_values("sts", labels, np.stack(values), row["cluster"], 2.0)
        yield Measured(SIMILARITY, pairs.name, queries)


def reranking(data: Data, models: Sequence[Model], folder: Path, context: Context) -> Iterator[Measured]:
    """Choose translations by the system's score and the similarities of every training (Table 3).

    A model of both languages compares a translation with its source; one that knows images, and the language
    of the translations, with the image. A sentence's value is its jackknife value of the corpus' score.
    """
    languages, complete = data.languages[:2], []
    for lists in data.lists:
        columns = {SCORE: lists.nbest.scores}
        for model in models:
            tags, beta = data.models[model.name]
            source = lists.source if set(languages) <= set(tags) else None
            images = lists.images if beta > 0 and languages[1] in tags else None
            if source is not None or images is not None:
                columns |= similarities(
                    lists.nbest,
                    {label: spec_of(label, path) for label, path in model.folders.items()},
                    source=source,
                    images=images,
                    image_encoders=[] if images is None else [
                        spec_of(label, path, data.image_encoder) for label, path in model.folders.items()
                    ],
                    languages=(languages[0], languages[1]),
                    store=context.store,
                    progress=context.progress,
                )  # fmt: skip
        complete.append(lists.nbest.with_features(columns))
    train, test = complete
    choices = {FIRST: first_best(test.scores, test.offsets)}
    for label in (label for model in models for label in model.folders):
        names = [name for name in (label, f"{label}-image") if name in test.names]
        if names:
            context.progress(f"tuning weights for {label}", 0, 1)
            weights = tune(
                train.keep_features([SCORE, *names]), [data.lists[0].reference],
                seed=int(label.rpartition("-")[2]), tunings=1, standardize=True,
            )  # fmt: skip
            choices[label] = weights.choose(test.keep_features([SCORE, *names]))
    texts = {label: [test.hypotheses[row] for row in rows] for label, rows in choices.items()}
    for label, chosen in texts.items():
        write_texts(chosen, folder / f"{label.replace(' ', '-')}.txt")
    stemmed = languages[1] if has_meteor(languages[1]) else None
    metrics = metrics_of("none", False, stemmed, [data.lists[1].reference])
    for measure in [name for name in ("BLEU", METEOR, "TER") if name in metrics]:
        values = np.stack([jackknife(metrics[measure], chosen) for chosen in texts.values()])
        queries = Scaled.of_values("reranking", list(texts), values, np.arange(len(test)), 100.0)
        yield Measured(RERANKING, measure, queries)


def read_data(request: Any, context: Context) -> Data:  # noqa: ANN401  (of `papers mlmme`)
    """Return the user's data, or built-in ones, which are written into the study's folder once."""
    kind: type[Request] = type(request)
    data, usual, options = request.data, defaults(kind), leaves(kind)
    of_manifest = ("image_encoder", "split", "rows", "test", "validation", "lists", "sts", *leaves(Columns))
    for name in of_manifest if data.manifest is None else ("items",):
        if values(request)[name] != usual[name]:
            which = "needs MANIFEST" if data.manifest is None else "is the size of built-in data"
            raise InputError(f"{options[name].names[0]} {which}: give one or the other")
    if data.manifest is None:
        assert request.output.out is not None
        languages = several(request.languages or ("en", "de"))
        return built_in(request.output.out / "data", data.items, languages, context)
    if request.image_encoder is None:
        raise InputError("--image-encoder is missing: VSE and MLMME are trained on images")
    manifest, reading = data.manifest, {name: getattr(data, name) for name in Columns.__struct_fields__}

    def part(reference: str) -> Manifest:
        if "#" in reference or Path(reference).exists():
            return read_reference(reference, **reading)
        return Manifest.read(manifest, **reading, split=reference)

    whole = data.split is None and data.rows is None and request.test == "test"
    split = "train" if whole else data.split  # the other split of the same file
    train = Manifest.read(manifest, **reading, split=split, rows=data.rows)
    try:
        share = float(request.validated.validation)
    except ValueError:
        validation = part(str(request.validated.validation))
    else:
        if not 0 < share < 1:
            raise InputError(f"--validation {share:g}: a share is between 0 and 1, such as 0.1")
        train, validation = hold_out(train, share, request.fit.seed)
    languages = several(request.languages or tuple(train.languages))
    pairs = read_sentence_pairs(list(request.sts)) if request.sts else []
    lists = () if request.lists is None else read_lists(request.lists, languages)
    return Data(train, validation, part(request.test), languages, request.image_encoder, pairs, lists)


def several(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages; raise InputError where there is one."""
    if len(languages) < 2:
        raise InputError("--languages: the study compares one language with several: give two or more")
    return languages


def built_in(folder: Path, items: int, languages: tuple[str, ...], context: Context) -> Data:
    """Write built-in data into a folder, once, and return them: scenes, sentence pairs, n-best lists."""
    first, second = languages[:2]
    scenes = make_folder(folder) / f"scenes-{'-'.join(languages)}-{items}"
    ends = (0, items, items + SIZES["validation"], items + SIZES["validation"] + SIZES["test"])
    if not (scenes / "manifest.parquet").exists():
        write_scenes(
            scenes, n=ends[-1], languages=languages, seed=1, size=48,
            progress=lambda done: context.progress("painting scenes", done, ends[-1]),
        )  # fmt: skip
    pairs, lists = folder / f"pairs-{first}.jsonl", make_folder(folder / f"nbest-{first}-{second}")
    if not pairs.exists():
        write_sentence_pairs(pairs, n=SIZES["pairs"], language=first, seed=1)
    for name in ("tune", "test"):
        if not (lists / f"{name}.nbest").exists():  # it is written last
            n = SIZES[f"{name} lists"]
            write_lists(lists, name, n=n, languages=(first, second), seed=1, size=48)
    train, validation, test = (
        Manifest.read(scenes / "manifest.parquet", rows=f"{a}:{b}") for a, b in pairwise(ends)
    )
    both = read_lists(lists, languages)
    return Data(train, validation, test, languages, "pixels", read_sentence_pairs([pairs]), both)


def read_lists(folder: Path, languages: tuple[str, ...]) -> list[Lists]:
    """Return the lists to tune weights on and those to measure, with what belongs to them."""
    both, images = [], (folder / "tune-images").exists() or (folder / "test-images").exists()
    for name in ("tune", "test"):
        path = folder / f"{name}.nbest"
        nbest = read_nbest(path)
        source, reference = (
            read_aligned(folder / f"{name}.{tag}", "--lists", len(nbest), path) for tag in languages[:2]
        )
        manifest = Manifest.read(folder / f"{name}-images") if images else None
        if manifest is not None:
            rows_of_sentences(manifest, len(nbest))
        both.append(Lists(nbest, source, reference, manifest))
    return both
