"""MLMME's study: one space for images and sentences of several languages, and what further languages add.

Tables 1, 2 and 3 of Calixto, Liu and Campbell (2017): VSE of each language and MLMME over several weights β.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta

from xlingual.errors import InputError, listed
from xlingual.papers.findings import CHANCE, StudyTable
from xlingual.requests import defaults, values
from xlingual.requests.record import Request, argument, leaves, option
from xlingual.requests.shared import Columns, Keeping, Output, Split
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
    from xlingual.nbest.lists import NBestLists
    from xlingual.papers.findings import StudyFindings
    from xlingual.papers.study import Context, Measured, Model
    from xlingual.results.runs import OfRuns

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
    "R@k": "The share of queries with a right answer among the first k: an image for a sentence, any of its "
    "sentences for an image.",
    "MedR": "The median rank of the first right answer, mean over trainings; it has no paired test.",
    "Mean recall": "The mean of R@1, R@5 and R@10 of one direction: what differences are tested by.",
    "METEOR (exact + stem)": "nltk's METEOR: words match where they are equal or have one stem. It is not "
    "METEOR 1.5, which the paper has; its values cannot be compared with the paper's.",
}


def beta_list(text: str) -> tuple[float, ...]:
    """Return the betas of "1,0.5"."""
    try:
        return tuple(map(float, comma_list(text)))
    except ValueError:
        raise InputError(f"{text!r}: give numbers from 0 to 1, such as 1,0.75,0.5,0.25") from None


class StudyData(Columns, frozen=True, kw_only=True):
    """The data to train on; without a manifest, built-in scenes."""

    manifest: Annotated[
        Path | None,
        argument("[MANIFEST]", "The file or folder of texts and images to train on, else built-in scenes."),
    ] = None
    split: Split = None
    rows: Annotated[
        str | None, option("Use only rows A to B, counted from 0, B left out.", metavar="A:B")
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
    return {
        **PRESETS[recipe], **FIT_PRESETS[recipe], **(SMALL if given.get("manifest") is None else {}),
    }  # fmt: skip


@dataclass(frozen=True)
class Lists:
    """The n-best lists of some sentences, and what belongs to them."""

    nbest: NBestLists
    source: list[str]
    reference: list[str]
    images: Manifest | None


@dataclass(frozen=True)
class Data:
    """The data of the study; `lists` are those to tune weights on, and those to measure."""

    train: Manifest
    validation: Manifest
    test: Manifest
    languages: tuple[str, ...]
    image_encoder: str
    sts: Sequence[Path]
    lists: tuple[Lists, Lists] | None


Plans: TypeAlias = Mapping[str, tuple[tuple[str, ...], float]]  # model → its languages, and β


def run_study(request: MlmmeStudyRequest, context: Context) -> StudyFindings:
    """Train VSE (one language) and MLMME (several) over a sweep of beta, and make the MLMME paper's tables.

    Table 1 is image–sentence ranking, Table 2 textual similarity (--sts), Table 3 the re-ranking of
    translations (--lists), each over several trainings. Without MANIFEST everything runs on built-in data,
    with small sizes. Models that DIR has already are not trained again: if interrupted, the same command
    goes on.
    """
    from xlingual import encoders
    from xlingual.papers.study import Question, Recipe, Study, run, settings_of
    from xlingual.workflows.train_mlmme import train_mlmme

    assert request.output.out is not None
    data = parts(request, request.output.out / "data", context)
    settings, fit = request.model.settings(), request.fit
    betas = sorted(settings.pop("beta"), reverse=True)
    plans: Plans = {f"VSE {tag}": ((tag,), 1.0) for tag in data.languages} | {
        f"MLMME β={beta:g}": (data.languages, beta) for beta in betas
    }
    identity = encoders.image_encoder(data.image_encoder, languages=data.languages)[1].identity

    def recipe(languages: tuple[str, ...], beta: float) -> Recipe:
        images = data.image_encoder if beta > 0 else None

        def trained(folder: Path, seed: int, **more: Any) -> None:  # noqa: ANN401
            train_mlmme(
                data.train, options.changed(seed=seed), folder, fit=fit.changed(seed=seed), image_encoder=images,
                validation=data.validation, recipe=request.recipe, store=context.store, **more,
            )  # fmt: skip

        options = MlmmeOptions.preset(request.recipe, languages, **{**settings, "beta": beta})
        digests = {"data": data.train.digest, "validation": data.validation.digest}
        base = {"image encoder": identity if images else None}
        return Recipe(trained, settings_of(options, fit, recipe=request.recipe, **digests, **base))

    ranked = {
        tag: [f"Table 1, {tag}: {direction}" for direction in directions(tag)] for tag in data.languages
    }
    questions = []
    for tag, name in ((tag, name) for tag, names in ranked.items() for name in names):
        for model, (languages, beta) in plans.items():
            if tag not in languages or beta == 0:
                continue
            several = len(languages) > 1
            if several:
                questions.append(Question(model, f"VSE {tag}", name, MEAN, f"Against VSE, by {MEAN}", True))
            if several and beta < 1 and 1.0 in betas:
                family = f"With sentence pairs (β below 1) against without, by {MEAN}"
                questions.append(Question(model, "MLMME β=1", name, MEAN, family, True))
            questions.append(Question(model, CHANCE, name, MEAN, f"Against chance, by {MEAN}"))
    first, *others = data.languages
    study = Study(
        paper="mlmme",
        title=f"MLMME in {', '.join(data.languages)}",
        train={name: recipe(*plan) for name, plan in plans.items()},
        steps={
            "ranking": partial(ranking, data, plans),
            **({"sts": partial(similarity, data, plans)} if data.sts else {}),
            **({"reranking": partial(reranking, data, plans)} if data.lists is not None else {}),
        },
        tables=[
            *(
                StudyTable(name, "image–sentence ranking", f"VSE {tag}", MEAN)
                for tag, names in ranked.items()
                for name in names
            ),
            StudyTable(
                SIMILARITY, f"textual similarity in {first}", f"VSE {first}", "Pearson",
                "Pearson's correlation of cosine and people's scores. Encoders below the models know no "
                "meaning; a model should be above them.",
            ),
            StudyTable(
                RERANKING, f"re-ranking of translations from {first} into {others[0]}", FIRST, "BLEU",
                "Weights of the system's score and of a model's similarities to source and image are tuned "
                "with k-best MIRA on other sentences. METEOR is nltk's.",
                digits=2,
            ),
        ],
        questions=questions,
        conditions={
            "languages": ",".join(data.languages),
            "recipe": request.recipe,
            "image encoder": identity,
            "trained on": data.train.digest[:12],
            "validated on": data.validation.digest[:12],
            "ranked": data.test.digest[:12],
        },
        facts={
            "languages": len(data.languages),
            "items to train on": data.train.n_items,
            "items ranked": data.test.n_items,
        },
        terms=TERMS,
    )  # fmt: skip
    return run(
        study,
        request.output.out,
        trainings=request.trainings,
        seed=fit.seed,
        replace_models=request.force,
        context=context,
    )


def directions(language: str) -> dict[str, tuple[str, str]]:
    """Return queries and candidates of both directions."""
    return {"an image for a sentence": (language, "image"), "a sentence for an image": ("image", language)}


def spec_of(label: str, folder: Path, image_encoder: str | None = None) -> str:
    """Return the spec of a training, for images above their encoder."""
    from xlingual.encoders import Spec, parse

    options = () if image_encoder is None else (("base", "trusted"),)
    return str(
        Spec(label, "model", str(folder), options, None if image_encoder is None else parse(image_encoder))
    )


def ranking(
    data: Data, plans: Plans, models: Sequence[Model], folder: Path, context: Context
) -> Iterator[Measured]:
    """Rank images and sentences by every training that knows images (Table 1)."""
    import numpy as np
    import pyarrow.compute as pc

    from xlingual.comparison.queries import Queries
    from xlingual.evaluation.image_sentence import image_sentence
    from xlingual.papers.study import Measured
    from xlingual.results import by_key
    from xlingual.stats.trainings import of_runs

    seeing = [model for model in models if plans[model.name][1] > 0]
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
        named = {
            model.name: list(model.folders) for model in seeing if language in plans[model.name][0]
        }
        labels = [label for own in named.values() for label in own]
        for direction, (source, target) in directions(language).items():
            table = f"Table 1, {language}: {direction}"
            rows = results.per_query.filter(
                (pc.field("source") == source) & (pc.field("target") == target)
            )
            each = {
                name: [
                    rows.filter((pc.field("encoder") == label) & (pc.field("measure") == measure))
                    for label in labels
                ]
                for name, measure in RECALLS.items()
            }
            recalls = {
                name: np.stack([part["value"].to_numpy() for part in parts]) for name, parts in each.items()
            }
            clusters = each["R@1"][0]["cluster"].to_numpy()
            entries = by_key(results.entries, source=source, target=target)
            chance = {entry.measure: entry.chance for entry in by_key(entries, encoder=labels[0])}
            levels = {name: chance[measure] for name, measure in RECALLS.items()}
            recalls[MEAN] = np.mean(list(recalls.values()), axis=0)
            levels[MEAN] = sum(level or 0.0 for level in levels.values()) / len(levels)
            for name, of_labels in recalls.items():
                queries = Queries.of_one_sample(
                    "image-sentence", "Success@1", tuple(labels), of_labels, clusters
                )
                yield Measured(table, name, queries, chance=levels[name])
            medians = {
                name: of_runs([
                    float(entry.value or 0.0)
                    for label in own
                    for entry in by_key(entries, encoder=label, measure="MedR/floor")
                ])
                for name, own in named.items()
            }  # fmt: skip
            yield Measured(table, "MedR", scores=medians, chance=chance["MedR/floor"], n=len(clusters))


def similarity(
    data: Data, plans: Plans, models: Sequence[Model], folder: Path, context: Context
) -> Iterator[Measured]:
    """Evaluate textual similarity in the first language by every training, and trivial encoders (Table 2)."""
    import pyarrow.compute as pc

    from xlingual.evaluation.sts import TRIVIAL, sts
    from xlingual.papers.study import Measured
    from xlingual.stats.trainings import corrected

    language = data.languages[0]
    named = {model.name: model.folders for model in models if language in plans[model.name][0]}
    results = sts(
        list(data.sts),
        language=language,
        text_encoders={label: spec_of(label, path) for own in named.values() for label, path in own.items()},
        trivial=True,
        progress=context.progress,
        store=context.store,
    )
    results.write(folder)
    systems = {name: list(own) for name, own in named.items()} | {name: [name] for name in TRIVIAL}
    pairs = results.tables["pairs"]
    files = list(dict.fromkeys(pairs["target"].to_pylist()))
    parts = [pairs.filter(pc.field("target") == file) for file in files]
    rows = corrected([correlations(part, systems, f"VSE {language}") for part in parts])
    for file, part, scores in zip(files, parts, rows, strict=True):
        name = "Pearson" if len(files) == 1 else file
        yield Measured(SIMILARITY, name, scores=scores, n=len(part) // len(set(part["encoder"].to_pylist())))


def correlations(pairs: Any, systems: Mapping[str, Sequence[str]], reference: str) -> dict[str, OfRuns]:  # noqa: ANN401
    """Return Pearson's correlation of each system, mean over trainings, and its difference to the reference.

    The error of a correlation is that of its influence function over clusters of pairs that share a sentence,
    averaged over trainings; what the trainings add stands beside it. Intervals are made on Fisher's scale.
    """
    import numpy as np
    import pyarrow.compute as pc

    from xlingual.results import Interval
    from xlingual.results.runs import Gain
    from xlingual.stats.intervals import LEVEL, ResidualPart, effective_clusters, t_quantile, variance
    from xlingual.stats.trainings import of_runs, over_trainings, with_trainings
    from xlingual.stats.weighted import influence, pearson

    each: dict[str, Any] = {}
    moved: dict[str, Any] = {}
    for name, labels in systems.items():
        rows = [pairs.filter(pc.field("encoder") == label) for label in labels]
        gold, clusters = rows[0]["score"].to_numpy(), rows[0]["cluster"].to_numpy()
        cosines = [row["cosine"].to_numpy() for row in rows]
        r = np.array([float(pearson(cosine, gold)[0]) for cosine in cosines])
        if np.isfinite(r).all():
            each[name] = r
            influences = [influence(cosine, gold, one) for cosine, one in zip(cosines, r.tolist(), strict=True)]
            moved[name] = np.mean(influences, axis=0)
    freedom = max(effective_clusters(clusters) - 1, 1.0)

    def error(residuals: Any) -> float:  # noqa: ANN401
        return float(np.sqrt(variance([ResidualPart(residuals, (clusters,))])))

    scores = {}
    for name, r in each.items():
        gain = None
        if reference in each and name != reference:
            gains = r - each[reference]  # training by training, or of a system without trainings
            tested = over_trainings(
                gains.tolist(), error(moved[name] - moved[reference]), freedom, "clusters of pairs"
            )
            gain = Gain(*tested)
        value = float(np.mean(r))
        spread, of_both = with_trainings(error(moved[name]), freedom, r.tolist())
        centre = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9))
        half = t_quantile(LEVEL, of_both) * spread / max(1 - value**2, 1e-9)
        low, high = np.tanh([centre - half, centre + half])
        ci = Interval(float(low), float(high), LEVEL, "z ± t·s, clusters of pairs and trainings")
        scores[name] = of_runs(r.tolist(), ci, gain)
    return scores


def reranking(
    data: Data, plans: Plans, models: Sequence[Model], folder: Path, context: Context
) -> Iterator[Measured]:
    """Choose translations by the system's score and the similarities of every training (Table 3).

    A model of both languages compares a translation with its source; one that knows images, and the language
    of the translations, with the image.
    """
    from xlingual.nbest.features import similarities
    from xlingual.nbest.lists import write_texts
    from xlingual.nbest.score import METEOR, has_meteor, metrics_of
    from xlingual.nbest.side_by_side import side_by_side
    from xlingual.nbest.tune import tune
    from xlingual.papers.study import Measured

    assert data.lists is not None
    both, with_features = data.languages[:2], []
    for lists in data.lists:
        columns = {SCORE: lists.nbest.scores}
        for model in models:
            languages, beta = plans[model.name]
            images = lists.images if beta > 0 and both[1] in languages else None
            source = lists.source if set(both) <= set(languages) else None
            if source is None and images is None:
                continue
            texts = {label: spec_of(label, path) for label, path in model.folders.items()}
            seeing = [spec_of(label, path, data.image_encoder) for label, path in model.folders.items()]
            columns |= similarities(
                lists.nbest,
                texts,
                source=source,
                images=images,
                image_encoders=() if images is None else seeing,
                languages=both,
                store=context.store,
                progress=context.progress,
            )
        with_features.append(lists.nbest.with_features(columns))
    tuned, measured = with_features
    first = measured.first_best()
    systems: dict[str, dict[str, list[str]]] = {FIRST: {FIRST: first}}
    for model in models:
        for label in model.folders:
            names = [name for name in (label, f"{label}-image") if name in measured.names]
            if names:
                features, seed = [SCORE, *names], int(label.rpartition("-")[2])
                weights = tune(
                    tuned.keep_features(features),
                    [data.lists[0].reference],
                    seed=seed,
                    tunings=1,
                    standardize=True,
                )
                rows = weights.choose(measured.keep_features(features))
                systems.setdefault(model.name, {})[label] = [measured.hypotheses[row] for row in rows]
    for label, texts in ((label, texts) for runs in systems.values() for label, texts in runs.items()):
        write_texts(texts, folder / f"{label.replace(' ', '-')}.txt")
    language = both[1] if has_meteor(both[1]) else None
    metrics = metrics_of("none", False, language, [data.lists[1].reference])
    metrics = {name: metrics[name] for name in ("BLEU", METEOR, "TER") if name in metrics}
    compared = side_by_side(systems, metrics, progress=context.progress)
    for measure in metrics:
        scores = {system.name: system.scores[measure] for system in compared}
        yield Measured(RERANKING, measure, scores=scores, n=len(measured))


def parts(request: MlmmeStudyRequest, folder: Path, context: Context) -> Data:
    """Return the user's data, or built-in ones, which are written into the folder once."""
    from xlingual.cli.opening import columns
    from xlingual.data.manifest import Manifest, read_reference
    from xlingual.data.samples import hold_out

    data, usual, values_of = request.data, defaults(type(request)), values(request)
    needed = ("items",) if data.manifest is not None else (
        "image_encoder", "split", "rows", "test", "validation", "lists", "sts", *leaves(Columns),
    )  # fmt: skip
    for name in needed:
        if values_of[name] != usual[name]:
            option_name = leaves(type(request))[name].names[0]
            which = "built-in scenes: leave MANIFEST" if data.manifest else "MANIFEST: give it"
            raise InputError(f"{option_name} is about {which}, or leave {option_name} out")
    if data.manifest is None:
        return built_in(folder, data.items, request.languages or ("en", "de"), context)
    if request.image_encoder is None:
        raise InputError("--image-encoder is missing: VSE and MLMME are trained on images")
    reading = columns(data)

    def part(reference: str) -> Manifest:
        if "#" in reference or Path(reference).exists():
            return read_reference(reference, **reading)
        return Manifest.read(data.manifest, **reading, split=reference)

    test = part(request.test)
    beside = data.split is None and data.rows is None and request.test == "test"
    train = Manifest.read(data.manifest, **reading, split="train" if beside else data.split, rows=data.rows)
    try:
        share = float(request.validated.validation)
    except ValueError:
        validation = part(str(request.validated.validation))
    else:
        if not 0 < share < 1:
            raise InputError(f"--validation {share:g}: a share is between 0 and 1, such as 0.1")
        train, validation = hold_out(train, share, request.fit.seed)
    languages = tuple(request.languages or train.languages)
    checked = Data(
        train, validation, test, languages, request.image_encoder, request.sts,
        None if request.lists is None else read_lists(request.lists, languages),
    )  # fmt: skip
    check(checked)
    return checked


def check(data: Data) -> None:
    """Raise InputError, before any training, where the data do not serve the study."""
    from xlingual.data.sentence_pairs import read_sentence_pairs

    if len(data.languages) < 2:
        raise InputError(
            f"the study compares one language with several: found {listed(data.languages) or 'none'}; give "
            "two or more, --languages en,de"
        )
    for name, manifest in (("train", data.train), ("validate", data.validation), ("test", data.test)):
        for tag in data.languages:
            try:
                manifest.rows_of(tag)
            except InputError as error:
                raise InputError(f"the data to {name} on: {error}") from error
    for name, manifest in (("train", data.train), ("validate", data.validation)):
        if shared := manifest.n_shared(data.test):
            raise InputError(
                f"{shared} texts are in the data to {name} on and in --test: choose other rows for --test"
            )
    if data.sts:
        read_sentence_pairs(list(data.sts), None)


def built_in(folder: Path, items: int, languages: tuple[str, ...], context: Context) -> Data:
    """Write built-in data into a folder, once, and return them: scenes, sentence pairs, n-best lists."""
    from xlingual.data.manifest import Manifest
    from xlingual.demo_data.scenes import write_scenes
    from xlingual.demo_data.scenes.sentences import write_lists, write_sentence_pairs
    from xlingual.files import make_folder

    if len(languages) < 2:
        raise InputError("--languages: give two or more, such as en,de")
    make_folder(folder)
    scenes = folder / f"scenes-{'-'.join(languages)}-{items}"
    ends = (0, items, items + SIZES["validation"], items + SIZES["validation"] + SIZES["test"])
    if not (scenes / "manifest.parquet").exists():
        write_scenes(
            scenes, n=ends[-1], languages=languages, seed=1, size=48,
            progress=lambda done: context.progress("painting scenes", done, ends[-1]),
        )  # fmt: skip
    pairs = folder / f"pairs-{languages[0]}.jsonl"
    if not pairs.exists():
        write_sentence_pairs(pairs, n=SIZES["pairs"], language=languages[0], seed=1)
    lists = folder / f"nbest-{languages[0]}-{languages[1]}"
    for name in ("tune", "test"):
        if not (lists / f"{name}.nbest").exists():  # it is written last
            write_lists(
                make_folder(lists), name, n=SIZES[f"{name} lists"], languages=languages[:2], seed=1, size=48
            )
    train, validation, test = (
        Manifest.read(scenes / "manifest.parquet", rows=f"{a}:{b}") for a, b in pairwise(ends)
    )
    return Data(train, validation, test, languages, "pixels", (pairs,), read_lists(lists, languages))


def read_lists(folder: Path, languages: tuple[str, ...]) -> tuple[Lists, Lists]:
    """Return the lists to tune weights on and those to measure, with what belongs to them."""
    from xlingual.data.manifest import Manifest
    from xlingual.nbest.features import rows_of_sentences
    from xlingual.nbest.lists import read_aligned, read_nbest

    parts = []
    for name in ("tune", "test"):
        path, images = folder / f"{name}.nbest", folder / f"{name}-images"
        nbest = read_nbest(path)
        texts = [
            read_aligned(folder / f"{name}.{tag}", "--lists", len(nbest), path) for tag in languages[:2]
        ]
        manifest = Manifest.read(images) if images.exists() else None
        if manifest is not None:
            rows_of_sentences(manifest, len(nbest))
        parts.append(Lists(nbest, *texts, manifest))
    if (parts[0].images is None) != (parts[1].images is None):
        raise InputError(f"{folder}: give tune-images and test-images, or neither")
    return parts[0], parts[1]
