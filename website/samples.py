"""Sample reports for the site: the program is run on built-in data, as a reader can run it too."""

from __future__ import annotations

import contextlib
import json
import random
import shlex
from dataclasses import dataclass
from pathlib import Path

from website.markdown import code, fence, page, table
from xlingual.cli.main import run

LSA = "'lsa-{0}=lsa:?pairs={0}&fit=scenes#train'"
ENCODERS = " ".join(f"--text-encoder {LSA.format(pairs)}" for pairs in (25, 100, 800))
SCENES = "scenes --split test"


@dataclass(frozen=True)
class Sample:
    """A report of the site: its name, what it shows, the command that makes it, and the file it writes."""

    name: str
    shows: str
    command: str
    file: str


DATA = (
    "data scenes --n 1600 --languages en,de,ja --out scenes",
    f"data mix-pool {SCENES} --mix en=3,de=1,ja=1 --question-languages en,de,ja --out pool",
)
SAMPLES = (
    Sample(
        "backretrieval",
        "which of five encoders matches texts across languages, without translations",
        f"evaluate bkr {SCENES} {ENCODERS} --text-encoder chargram --text-encoder random "
        "--image-encoder pixels --out bkr --report",
        "bkr/report.html",
    ),
    Sample(
        "pool",
        "whether encoders find answers in an index of several languages, and how much they prefer one",
        f"evaluate multilingual-pool pool {ENCODERS} --text-encoder chargram --out pool-results --report",
        "pool-results/report.html",
    ),
    Sample(
        "comparison",
        "which encoders are better or worse than a baseline, and which show no difference",
        "compare bkr --baseline 'bkr#lsa-100' --out comparison",
        "comparison/report.html",
    ),
    Sample(
        "validation",
        "whether measures without translations order encoders as true retrieval does",
        f"papers backretrieval validate {SCENES} {ENCODERS} --text-encoder chargram --text-encoder random "
        "--image-encoder pixels --seeds 5 --out validation --report",
        "validation/report.html",
    ),
    Sample(
        "inspection",
        "where encoders fail: slices of texts, kinds of error, hubs",
        "inspect bkr --out inspection",
        "inspection/inspection.html",
    ),
    Sample(
        "repair",
        "whether a map of an encoder's vectors brings its languages together",
        f"repair {SCENES} --text-encoder {LSA.format(100)} --out repair --report",
        "repair/report.html",
    ),
    Sample(
        "study",
        "whose suggestions people find better (here the answers are drawn at random)",
        "study analyse study --out study-analysis --report",
        "study-analysis/report.html",
    ),
)
STUDY = (
    f"study new {SCENES} --source en --target de --system {LSA.format(800)} --system chargram --queries 20 "
    "--per-system 3 --raters 3 --out study",
    "study collect study answers.json",
)


def pages() -> dict[str, str]:
    """Return the page that lists the samples, by its path below docs/; the reports lie beside it."""
    rows = [(f"[{one.name}]({one.name}.html)", one.shows, code(f"xlingual {one.command}")) for one in SAMPLES]
    said = (
        "Reports as the program writes them. All are made of built-in data: images of simple scenes, each "
        "described in English, German and Japanese by different sentences. These commands make them again."
    )
    first = "\n".join(f"xlingual {line}" for line in (*DATA, *STUDY))
    return {
        "samples/index.md": page(
            "Sample reports", said, fence(first, "bash"), table(["Report", "Shows", "Command"], rows)
        )
    }


def reports(folder: Path) -> dict[str, Path]:
    """Return the file of each report, by its path below docs/."""
    return {f"samples/{one.name}.html": folder / one.file for one in SAMPLES}


def write(folder: Path) -> None:
    """Run in a folder what was not run there yet; raise RuntimeError where a command fails."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder):
        for line in DATA:
            _run(line, Path(line.rpartition("--out ")[2]))
        for sample in SAMPLES:
            if sample.name == "study" and not Path("study").exists():
                _study()
            _run(sample.command, Path(sample.file))


def _run(line: str, made: Path) -> None:
    if not made.exists() and run([*shlex.split(line), "--quiet"]) != 0:
        raise RuntimeError(f"xlingual {line}: failed in {Path.cwd()}")


def _study() -> None:
    make, take = STUDY
    _run(make, Path("study"))
    _answers()
    _run(take, Path("no such file"))


def _answers() -> None:
    """Write answers of all raters, which are drawn at random: nobody was asked."""
    study = json.loads(Path("study/study.json").read_text("utf-8"))
    rng = random.Random(0)
    ratings = [
        {
            "rater": str(rater),
            "query": page["query"],
            "suggestion": suggestion,
            "occasion": page.get("occasion", 0),
            "score": rng.randint(1, 4),
            "at": "2026-01-02T00:00:00Z",
            "seconds": 4.5,
        }
        for rater, order in enumerate(study["orders"], start=1)
        for page in order
        for suggestion in page["suggestions"]
    ]
    answers = {"schema": "xlingual/study_answers/1", "study": study["id"], "ratings": ratings}
    Path("answers.json").write_text(json.dumps(answers), encoding="utf-8")
