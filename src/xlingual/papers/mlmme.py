"""MLMME's study: one space for images and sentences of several languages, and what further languages add.

Tables 1, 2 and 3 of Calixto, Liu and Campbell (2017): VSE of each language and MLMME over several weights β.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from xlingual.errors import InputError
from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import Keeping, ManifestOptions, Output
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
    from xlingual.papers.findings import StudyFindings
    from xlingual.papers.study import Context

RECIPES = {name: PRESETS[name] for name in ("paper", "mlmme")}
BETAS = (1.0, 0.75, 0.5, 0.25)
# of built-in data, so that all is done in less than three minutes
SMALL: Mapping[str, object] = {
    "word_dim": 64, "state_dim": 128, "joint_dim": 128, "standardize_pictures": True, "redraw": "batch",
    "contrastive": 50, "epochs": 6, "trainings": 2, "threads": 1,
}  # fmt: skip
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

    manifest: Annotated[
        Path | None,
        argument("[MANIFEST]", "The file or folder of texts and images to train on, else built-in scenes."),
    ] = None  # type: ignore[assignment]
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


def presets(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the recipe sets, and the small sizes of built-in data."""
    recipe = options.get("recipe", "paper")
    small = SMALL if options.get("manifest") is None else {}
    return {**PRESETS[recipe], **FIT_PRESETS[recipe], **small}


def run_study(request: MlmmeStudyRequest, context: Context) -> StudyFindings:
    """Train VSE (one language) and MLMME (several) over a sweep of beta, and make the MLMME paper's tables.

    Table 1 is image–sentence ranking, Table 2 textual similarity (--sts), Table 3 the re-ranking of
    translations (--lists), each over several trainings. Without MANIFEST everything runs on built-in data,
    with small sizes. Models that DIR has already are not trained again: if interrupted, the same command
    goes on.
    """
    from xlingual import encoders
    from xlingual.evaluation.sts import TRIVIAL
    from xlingual.papers import mlmme_tables as paper
    from xlingual.papers.findings import CHANCE, StudyTable
    from xlingual.papers.study import Question, Recipe, Study, run, settings_of
    from xlingual.workflows.train_mlmme import train_mlmme

    assert request.output.out is not None
    data, fit, settings = paper.read_data(request, context), request.fit, request.model.settings()
    betas = sorted(settings.pop("beta"), reverse=True)
    models: dict[str, tuple[tuple[str, ...], float]] = {f"VSE {tag}": ((tag,), 1.0) for tag in data.languages}
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
        for direction in paper.directions(tag):
            name = f"Table 1 {direction}"
            title = f"Image–sentence ranking, {direction}"
            tables.append(StudyTable(name, title, f"VSE {tag}", paper.MEAN, digits=1))
            for model in [model for model, (tags, beta) in models.items() if tag in tags and beta > 0]:
                against = {CHANCE: "chance", f"VSE {tag}": "VSE", "MLMME β=1": "β = 1 (no sentence pairs)"}
                if not model.startswith("MLMME"):
                    against = {CHANCE: "chance"}
                questions += [
                    Question(model, other, name, paper.MEAN, f"Table 1: against {words}, by {paper.MEAN}")
                    for other, words in against.items()
                    if other != model and (other in models or other == CHANCE)
                ]
    about = (
        "Pearson's correlation of cosine and people's scores; encoders of words or letters know no meaning."
    )
    tables.append(StudyTable(paper.SIMILARITY, f"Textual similarity in {first}", f"VSE {first}", about=about))
    about = (
        "Weights of the system's score and of a model's similarities to source and image are tuned with "
        "k-best MIRA on other sentences. Differences are tested by jackknife values of sentences."
    )
    title = f"Re-ranking of translations from {first} into {second}"
    tables.append(StudyTable(paper.RERANKING, title, paper.FIRST, "BLEU", about, digits=2))
    for name in (*models, *TRIVIAL):
        questions += [
            Question(name, f"VSE {first}", paper.SIMILARITY, pairs.name, "Table 2: against VSE")
            for pairs in data.sts
            if name != f"VSE {first}"
        ]
        questions += [
            Question(name, paper.FIRST, paper.RERANKING, measure, f"Table 3: against the {paper.FIRST}")
            for measure in ("BLEU", "METEOR (exact + stem)", "TER")
        ]
    steps = {"ranking": partial(paper.ranking, data)}
    steps |= {"sts": partial(paper.similarity, data)} if data.sts else {}
    steps |= {"reranking": partial(paper.reranking, data)} if data.lists else {}
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
    seeds = {"trainings": request.trainings, "seed": fit.seed}
    return run(study, request.output.out, **seeds, force=request.force, context=context)
