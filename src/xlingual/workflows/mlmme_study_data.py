"""The data of a case study of MLMME: a user's own, or built-in scenes, sentence pairs and n-best lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import write_scenes
from xlingual.demo_data.scenes.sentences import ListFiles, write_lists, write_sentence_pairs
from xlingual.embed.encoding import Progress
from xlingual.errors import InputError, listed
from xlingual.files import make_folder
from xlingual.training.study_requests import RANKING
from xlingual.workflows.mlmme_study_reranking import Lists, Part

LANGUAGES = ("en", "de")
VALIDATED, RANKED, PAIRS, TUNED, MEASURED = 150, 400, 400, 200, 300  # sizes of built-in data
_SIZE = 48  # side of an image
_SEED = 1


@dataclass(frozen=True)
class StudyParts:
    """What is trained on, validated on and ranked, and the encoders of their images.

    `languages` are those of the multilingual models. Encoders differ where vectors are in several files.
    The three parts may be given as anything that `Manifest.of` takes.
    """

    train: Manifest
    validation: Manifest
    test: Manifest | None
    languages: tuple[str, ...]
    image_encoder: str | None = None
    validation_image_encoder: str | None = None
    test_image_encoder: str | None = None

    def __post_init__(self) -> None:
        """Read what was given as data."""
        for name in ("train", "validation", "test"):
            if (part := getattr(self, name)) is not None:
                object.__setattr__(self, name, Manifest.of(part))

    def check(self, betas: Sequence[float], tables: Sequence[str]) -> None:
        """Raise InputError where the parts do not serve the study."""
        if len(self.languages) < 2:
            raise InputError(
                f"the study compares one language with several: found {listed(self.languages) or 'none'}; "
                "give two or more, --languages en,de"
            )
        for tag in self.languages:
            self.train.rows_of(tag)
        seeing = any(beta > 0 for beta in betas)
        if seeing and self.image_encoder is None:
            raise InputError(
                "--image-encoder is missing: VSE and MLMME are trained on images; --beta 0 alone makes "
                "models of sentences, for the tables sts and reranking"
            )
        if not seeing and self.image_encoder is not None:
            raise InputError("with --beta 0 alone no image counts: leave --image-encoder out, or add a beta")
        if not seeing and RANKING in tables:
            raise InputError("the table ranking needs a model with images: give a --beta above 0")
        if self.test is not None:
            for name, other in (("train", self.train), ("validate", self.validation)):
                if shared := other.n_shared(self.test):
                    raise InputError(
                        f"{shared} texts are in the data to {name} on and in --test: choose other rows for "
                        "--test"
                    )


def built_in(
    folder: Path, items: int, languages: tuple[str, ...] = LANGUAGES, progress: Progress | None = None
) -> tuple[StudyParts, Path, Lists]:
    """Write built-in data into a folder, once, and return them: scenes, sentence pairs, n-best lists."""
    make_folder(folder)
    total = items + VALIDATED + RANKED
    name = f"scenes-{'-'.join(languages)}-{items}"
    manifest = folder / name / "manifest.parquet"
    if not manifest.exists():

        def painted(done: int) -> None:
            if progress is not None:
                progress("painting scenes", done, total)

        write_scenes(folder / name, n=total, languages=languages, seed=_SEED, size=_SIZE, progress=painted)
    ends = (0, items, items + VALIDATED, total)
    train, validation, test = (Manifest.read(manifest, rows=f"{a}:{b}") for a, b in pairwise(ends))
    pairs = folder / f"pairs-{languages[0]}.jsonl"
    if not pairs.exists():
        write_sentence_pairs(pairs, n=PAIRS, language=languages[0], seed=_SEED)
    both = languages[0], languages[1]
    place = folder / f"nbest-{'-'.join(both)}"
    tune, measured = (_part(_lists(place, *one, both)) for one in (("tune", TUNED), ("test", MEASURED)))
    lists = Lists(tune, measured, *both)
    return StudyParts(train, validation, test, languages, "pixels"), pairs, lists


def _lists(folder: Path, name: str, n: int, languages: tuple[str, str]) -> ListFiles:
    target = languages[1]
    files = ListFiles(
        folder / f"{name}.nbest", folder / f"{name}.{target}", folder / f"{name}.{languages[0]}",
        folder / f"{name}-images" / "manifest.parquet",
    )  # fmt: skip
    if not files.nbest.exists():  # it is written last
        write_lists(make_folder(folder), name, n=n, languages=languages, seed=_SEED, size=_SIZE)
    return files


def _part(files: ListFiles) -> Part:
    return Part(files.nbest, (files.references,), files.source, str(files.images), "pixels")
