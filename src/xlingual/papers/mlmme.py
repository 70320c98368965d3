"""MLMME's study: one space for images and sentences of several languages, and what further languages add.

Tables 1, 2 and 3 of Calixto, Liu and Campbell (2017): VSE of each language and MLMME over several weights β.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from xlingual.errors import InputError, listed
from xlingual.papers.findings import CHANCE, StudyTable
from xlingual.requests import defaults, values
from xlingual.requests.record import Request, argument, leaves, option
from xlingual.requests.shared import Columns, Keeping, ManifestOptions, Output
from xlingual.requests.values import Positive, comma_list
from xlingual.training.options import FitOptions, defaults_in_help
from xlingual.training.recipes.mlmme_options import (
    FIT_PRESETS,
    PRESETS,
    Languages,
    MlmmeOptions,
    MlmmeSettings,
)
from xlingual.training.requests import TrainAnew, Validated

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.data.sentence_pairs import SentencePairs
    from xlingual.nbest.lists import NBestLists
    from xlingual.papers.findings import StudyFindings
    from xlingual.papers.study import Context, Measured, Model

SIMILARITY, RERANKING = "Table 2", "Table 3"
MEAN, FIRST, SCORE = "mean recall", "first translation", "total"
RECALLS = {"R@1": "Success@1", "R@5": "Success@5", "R@10": "Success@10"}  # of the literature → of results
RECIPES = {name: PRESETS[name] for name in ("paper", "mlmme")}
BETAS = (1.0, 0.75, 0.5, 0.25)
# of built-in data, so that all is done in about two minutes
SMALL: Mapping[str, object] = {
    "word_dim": 64, "state_dim": 128, "joint_dim": 128, "standardize_pictures": True, "redraw": "batch",
    "contrastive": 50, "epochs": 10, "trainings": 2, "threads": 1,
}  # fmt: skip
SIZES = {"validation": 150, "test": 400, "pairs": 400, "tune lists": 200, "test lists": 300}
TERMS = {
    "VSE": "One language and images in one space (Kiros, Salakhutdinov and Zemel 2014): the model with one "
    "language, trained with the same settings as the others.",
    "MLMME": "Several languages and images in one space (Calixto, Liu and Campbell 2017). β weighs the "
    "similarity of images and sentences, 1 − β that of sentences in two languages.",
    "R@k": "Queries, in per cent, with a right answer among the first k: an image for a sentence, any of its "
    "sentences for an image. Mean recall is the mean of R@1, R@5 and R@10.",
    "MedR": "The median rank of the first right answer, mean over trainings; it has no paired test.",
    "METEOR (exact + stem)": "nltk's METEOR: words match where they are equal or have one stem. It is not "
    "METEOR 1.5, which the paper has; its values cannot be compared with the paper's.",
}


def beta_list(text: str) -> tuple[float, ...]:
    """Return the betas of "1,0.5"."""
    try:
        return tuple(map(float, comma_list(text)))
    except ValueError:
        raise InputError(f"{text!r}: give numbers from 0 to 1, such as 1,0.75,0.5,0.25") from None


class StudyData(ManifestOptions, frozen=True, kw_only=True):
    """The data to train on; without a manifest, built-in scenes."""

    manifest: Annotated[  # type: ignore[assignment]  # None
        Path | None,
        argument("[MANIFEST]", "The file or folder of texts and images to train on, else built-in scenes."),
    ] = None
    items: Annotated[
        Annotated[int, Meta(ge=100)],
        option("Number of built-in scenes to train on, where there is no MANIFEST.", metavar="N"),
    ] = 1000


class SweepSettings(MlmmeSettings, frozen=True, kw_only=True):
    """Settings that all models of the study share; beta has several values."""

    beta: Annotated[
        tuple[float, ...],
        option("Weights of images against sentences, each a model.", metavar="X,…", reads=beta_list),
    ] = BETAS  # type: ignore[assignment]  # several

    def __post_init__(self) -> None:
        """Check the values of beta."""
        super().__post_init__()
        if not self.beta or len(set(self.beta)) < len(self.beta) or not all(0 <= x <= 1 for x in self.beta):
            raise InputError("--beta: give each weight once, from 0 to 1, such as 1,0.75,0.5,0.25")


class MlmmeStudyRequest(Request, frozen=True, kw_only=True):
    """Train VSE and MLMME over a sweep of beta, and make the three tables of the MLMME paper."""

    command = "papers mlmme"
    own_folder = True
    first: ClassVar[tuple[str, ...]] = (
        "languages", "image_encoder", "test", "validation", "beta", "trainings", "recipe", "sts", "lists",
    )  # fmt: skip
    otherwise: ClassVar[Mapping[str, str]] = {
        **defaults_in_help(MlmmeSettings, RECIPES),
        **defaults_in_help(FitOptions, {name: FIT_PRESETS[name] for name in RECIPES}),
        "trainings": f"3; of built-in data {SMALL['trainings']}",
        "epochs": f"30; of built-in data {SMALL['epochs']}",
        "beta": ",".join(f"{beta:g}" for beta in BETAS),
    }

    data: StudyData
    languages: Languages | None = None
    image_encoder: Annotated[
        str | None, option("Encoder of all images.", metavar="SPEC", otherwise="of built-in data pixels")
    ] = None
    test: Annotated[
        str,
        option(
            "Images and sentences that are ranked: a split of MANIFEST, or another manifest (FILE, "
            "FILE#split, FILE#A:B).",
            metavar="SPLIT|FILE#rows",
        ),
    ] = "test"
    validated: Validated
    recipe: Annotated[
        Literal["paper", "mlmme"],
        option("Conventions of all models: those of the paper, or those of train mlmme."),
    ] = "paper"
    trainings: Annotated[
        Positive, option("Number of trainings of each model, with different seeds.", metavar="N")
    ] = 3
    sts: Annotated[
        tuple[Path, ...],
        option("A file of sentence pairs with scores, in the first language; repeat.", metavar="FILE"),
    ] = ()
    lists: Annotated[
        Path | None,
        option(
            "Folder of translations from the first language (en) into the second (de): n-best lists "
            "tune.nbest and test.nbest, sources tune.en, references tune.de, and, where there are images, "
            "manifests tune-images and test-images, whose row i belongs to sentence i.",
            metavar="DIR",
        ),
    ] = None
    model: SweepSettings
    fit: FitOptions
    keeping: Keeping
    output: Output
    force: TrainAnew = False


REQUEST = MlmmeStudyRequest


def presets(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the recipe sets, and the small sizes of built-in data."""
    recipe = given.get("recipe", "paper")
    small = SMALL if given.get("manifest") is None else {}
    return {**PRESETS[recipe], **FIT_PRESETS[recipe], **small}


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
        if len(self.languages) < 2:
            raise InputError("--languages: the study compares one language with several: give two or more")
        parts = {"train on": self.train, "validate on": self.validation, "rank": self.test}
        for name, manifest in parts.items():
            if absent := [tag for tag in self.languages if tag not in manifest.languages]:
                raise InputError(f"the data to {name} have no texts in {listed(absent)}: choose other rows")
            if name != "rank" and (shared := manifest.n_shared(self.test)):
                raise InputError(f"{shared} texts are in the data to {name} and in --test: choose other rows")


def run_study(request: MlmmeStudyRequest, context: Context) -> StudyFindings:
    """Train VSE (one language) and MLMME (several) over a sweep of beta, and make the MLMME paper's tables.

    Table 1 is image–sentence ranking, Table 2 textual similarity (--sts), Table 3 the re-ranking of
    translations (--lists), each over several trainings. Without MANIFEST everything runs on built-in data,
    with small sizes. Models that DIR has already are not trained again: if interrupted, the same command
    goes on.
    """
    from xlingual import encoders
    from xlingual.evaluation.sts import TRIVIAL
    from xlingual.papers.study import Question, Recipe, Study, run, settings_of
    from xlingual.workflows.train_mlmme import train_mlmme

    assert request.output.out is not None
    data, fit, settings = read_data(request, context), request.fit, request.model.settings()
    betas = sorted(settings.pop("beta"), reverse=True)
    models = {f"VSE {tag}": ((tag,), 1.0) for tag in data.languages}
    models |= {f"MLMME β={beta:g}": (data.languages, beta) for beta in betas}
    data = replace(data, models=models)
    base = encoders.image_encoder(data.image_encoder, languages=data.languages)[1].identity

    def recipe(languages: tuple[str, ...], beta: float) -> Recipe:
        def trained(folder: Path, seed: int, **more: Any) -> None:  # noqa: ANN401
            train_mlmme(
                data.train, options.changed(seed=seed), folder, fit=fit.changed(seed=seed),
                image_encoder=data.image_encoder if beta > 0 else None, validation=data.validation,
                recipe=request.recipe, store=context.store, **more,
            )  # fmt: skip

        options = MlmmeOptions.preset(request.recipe, languages, **{**settings, "beta": beta})
        read = {"data": data.train.digest, "validation": data.validation.digest, "image encoder": base}
        return Recipe(trained, settings_of(options, fit, recipe=request.recipe, **read))

    first, second = data.languages[:2]
    tables, questions = [], []
    for tag in data.languages:
        for direction in directions(tag):
            name = f"Table 1 {direction}"
            title = f"Image–sentence ranking, {direction}"
            tables.append(StudyTable(name, title, f"VSE {tag}", MEAN, digits=1))
            for model in [model for model, (tags, beta) in models.items() if tag in tags and beta > 0]:
                against = {CHANCE: "chance", f"VSE {tag}": "VSE", "MLMME β=1": "β = 1 (no sentence pairs)"}
                if not model.startswith("MLMME"):
                    against = {CHANCE: "chance"}
                questions += [
                    Question(model, other, name, MEAN, f"Table 1: against {words}, by {MEAN}")
                    for other, words in against.items()
                    if other != model and (other in models or other == CHANCE)
                ]
    about = (
        "Pearson's correlation of cosine and people's scores; encoders of words or letters know no meaning."
    )
    tables.append(StudyTable(SIMILARITY, f"Textual similarity in {first}", f"VSE {first}", about=about))
    about = (
        "Weights of the system's score and of a model's similarities to source and image are tuned with "
        "k-best MIRA on other sentences. Differences are tested by jackknife values of sentences."
    )
    title = f"Re-ranking of translations from {first} into {second}"
    tables.append(StudyTable(RERANKING, title, FIRST, "BLEU", about, digits=2))
    for name in (*models, *TRIVIAL):
        questions += [
            Question(name, f"VSE {first}", SIMILARITY, pairs.name, "Table 2: against VSE")
            for pairs in data.sts
            if name != f"VSE {first}"
        ]
        questions += [
            Question(name, FIRST, RERANKING, measure, f"Table 3: against the {FIRST}")
            for measure in ("BLEU", "METEOR (exact + stem)", "TER")
        ]
    steps = {"ranking": partial(ranking, data)}
    steps |= {"sts": partial(similarity, data)} if data.sts else {}
    steps |= {"reranking": partial(reranking, data)} if data.lists else {}
    digests = {"trained on": data.train, "validated on": data.validation, "ranked": data.test}
    study = Study(
        paper="mlmme",
        title=f"MLMME in {', '.join(data.languages)}",
        train={name: recipe(*model) for name, model in models.items()},
        steps=steps,
        tables=tables,
        questions=questions,
        conditions={
            "languages": ",".join(data.languages),
            "recipe": request.recipe,
            "image encoder": base,
            **{name: manifest.digest[:12] for name, manifest in digests.items()},
        },
        facts={"items to train on": data.train.n_items, "items ranked": data.test.n_items},
        terms=TERMS,
    )
    return run(
        study, request.output.out, trainings=request.trainings, seed=fit.seed, replace_models=request.force,
        context=context,
    )  # fmt: skip


def directions(language: str) -> dict[str, tuple[str, str]]:
    """Return queries and candidates of both directions."""
    return {f"{language} → image": (language, "image"), f"image → {language}": ("image", language)}


def spec_of(label: str, folder: Path, image_encoder: str | None = None) -> str:
    """Return the spec of a training, for images above their encoder."""
    from xlingual.encoders import Spec, parse

    if image_encoder is None:
        return str(Spec(label, "model", str(folder), (), None))
    return str(Spec(label, "model", str(folder), (("base", "trusted"),), parse(image_encoder)))


def ranking(data: Data, models: Sequence[Model], folder: Path, context: Context) -> Iterator[Measured]:
    """Rank images and sentences by every training that knows images (Table 1)."""
    import numpy as np

    from xlingual.evaluation.image_sentence import image_sentence
    from xlingual.papers.study import Measured, Scaled
    from xlingual.results import by_key
    from xlingual.stats.trainings import of_runs

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
            yield Measured(name, "MedR", None, scores, chance["MedR/floor"], len(clusters))


def columns_of(table: Any, **where: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the columns, as arrays, of the rows that have these values."""
    import pyarrow.compute as pc

    for column, value in where.items():
        table = table.filter(pc.equal(table[column], value))
    return {name: table[name].to_numpy() for name in table.column_names}


def similarity(data: Data, models: Sequence[Model], folder: Path, context: Context) -> Iterator[Measured]:
    """Evaluate textual similarity in the first language by every training and trivial encoders (Table 2).

    A pair's value is the correlation plus n times its influence on it, so that errors and tests of means are
    those of correlations, over clusters of pairs that share a sentence.
    """
    import numpy as np

    from xlingual.evaluation.sts import TRIVIAL, sts
    from xlingual.papers.study import Measured, Scaled
    from xlingual.stats.weighted import influence, pearson

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
    import numpy as np

    from xlingual.nbest.features import similarities
    from xlingual.nbest.lists import write_texts
    from xlingual.nbest.mira import first_best
    from xlingual.nbest.score import METEOR, has_meteor, jackknife, metrics_of
    from xlingual.nbest.tune import tune
    from xlingual.papers.study import Measured, Scaled

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


def read_data(request: MlmmeStudyRequest, context: Context) -> Data:
    """Return the user's data, or built-in ones, which are written into the study's folder once."""
    from xlingual.data.manifest import Manifest, read_reference
    from xlingual.data.samples import hold_out
    from xlingual.data.sentence_pairs import read_sentence_pairs

    data, usual, known = request.data, defaults(type(request)), leaves(type(request))
    of_manifest = ("image_encoder", "split", "rows", "test", "validation", "lists", "sts", *leaves(Columns))
    for name in of_manifest if data.manifest is None else ("items",):
        if values(request)[name] != usual[name]:
            which = "needs MANIFEST" if data.manifest is None else "is the size of built-in data"
            raise InputError(f"{known[name].names[0]} {which}: give one or the other")
    if data.manifest is None:
        assert request.output.out is not None
        return built_in(request.output.out / "data", data.items, request.languages or ("en", "de"), context)
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
    languages = tuple(request.languages or train.languages)
    pairs = read_sentence_pairs(list(request.sts), None) if request.sts else []
    lists = () if request.lists is None else read_lists(request.lists, languages)
    return Data(train, validation, part(request.test), languages, request.image_encoder, pairs, lists)


def built_in(folder: Path, items: int, languages: tuple[str, ...], context: Context) -> Data:
    """Write built-in data into a folder, once, and return them: scenes, sentence pairs, n-best lists."""
    from xlingual.data.manifest import Manifest
    from xlingual.data.sentence_pairs import read_sentence_pairs
    from xlingual.demo_data.scenes import write_scenes
    from xlingual.demo_data.scenes.sentences import write_lists, write_sentence_pairs
    from xlingual.files import make_folder

    first, second = languages[0], languages[-1] if len(languages) < 2 else languages[1]
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
    parts = [Manifest.read(scenes / "manifest.parquet", rows=f"{a}:{b}") for a, b in pairwise(ends)]
    both = read_lists(lists, languages)
    return Data(*parts, languages, "pixels", read_sentence_pairs([pairs], None), both)


def read_lists(folder: Path, languages: tuple[str, ...]) -> list[Lists]:
    """Return the lists to tune weights on and those to measure, with what belongs to them."""
    from xlingual.data.manifest import Manifest
    from xlingual.nbest.features import rows_of_sentences
    from xlingual.nbest.lists import read_aligned, read_nbest

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
