"""The demo: built-in scenes, encoders of rising quality, Backretrieval beside the truth, one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import write_scenes
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import fit_texts_for
from xlingual.encoders import text_encoders
from xlingual.encoders.spec import written
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.files import make_folder
from xlingual.ranking import Ranker
from xlingual.report import write_report
from xlingual.results import Results

LANGUAGES = ("en", "de", "es", "ja", "ar")
ITEMS = 2000  # half of them for fitting


def run_demo(
    out: Path,
    *,
    items: int = ITEMS,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Make the data and the report in `out`; return the results of Backretrieval and of the truth.

    Without a `ranker`, this machine ranks with `threads`.
    """
    make_folder(out)
    report = progress or (lambda what, done, total: None)
    manifest = write_scenes(
        out / "scenes",
        n=items,
        languages=LANGUAGES,
        progress=lambda done: report("painting scenes", done, items),
    )
    test = Manifest.read(manifest, split="test")
    most = items // 2
    fit = f"fit={written(str(manifest))}#train"
    specs = [
        "random:?dim=64",
        f"chargram:?{fit}",
        *(f"lsa-{pairs}=lsa:?pairs={pairs}&{fit}" for pairs in (25, 100) if pairs < most),
        f"lsa-{most}=lsa:?pairs={most}&{fit}",
    ]
    encoders = text_encoders(specs, languages=test.languages, fit_texts=fit_texts_for(test))  # fitted once
    run: dict[str, Any] = {"threads": threads, "ranker": ranker, "progress": progress}
    found = backretrieval(test, encoders, image_encoder="pixels", **run)
    truth = crosslingual_retrieval(test, encoders, **run)
    found.write(out / "backretrieval")
    truth.write(out / "crosslingual-retrieval")
    write_report([found, truth], out / "report.html", title="xlingual demo")
    return [found, truth]
