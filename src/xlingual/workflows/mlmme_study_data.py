"""The data of a case study of MLMME: a user's own, or built-in scenes, sentence pairs and n-best lists."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import write_scenes
from xlingual.demo_data.scenes.nbest import ListFiles, write_lists
from xlingual.demo_data.scenes.pairs import write_sentence_pairs
from xlingual.embed.encoding import Progress
from xlingual.files import make_folder
from xlingual.workflows.mlmme_study import StudyParts
from xlingual.workflows.mlmme_study_reranking import Lists, Part

LANGUAGES = ("en", "de")
VALIDATED, RANKED, PAIRS, TUNED, MEASURED = 150, 400, 400, 200, 300  # sizes of built-in data
_SIZE = 48  # side of an image
_SEED = 1


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
