"""Names that options and commands have in other programs: which one of ours is meant."""

from __future__ import annotations

from collections.abc import Iterable

from xlingual.tasks import TASKS

_ENCODER = ("--text-encoder", "--system", "--baseline")
_OUT = ("--out",)
# a name as other programs have it → options of ours, the first that a command has is meant
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("--model", "--models", "--encoder", "--encoders", "--embedder", "--embeddings", "--text-model"),
        _ENCODER,
    ),
    **dict.fromkeys(("--model-name", "--model-name-or-path", "--model-path", "--checkpoint"), _ENCODER),
    **dict.fromkeys(("--image-model", "--vision-model", "--clip", "--vision-encoder"), ("--image-encoder",)),
    **dict.fromkeys(("--output", "--output-dir", "--output-folder", "--output-path", "--outdir"), _OUT),
    "-o": _OUT,
    **dict.fromkeys(("--out-dir", "--save", "--save-dir", "--results", "--results-dir", "--dest"), _OUT),
    **dict.fromkeys(
        ("--metric", "--metrics", "--measures", "--score", "--top-k", "--k", "-k"), ("--measure",)
    ),
    **dict.fromkeys(("--language-pairs", "--langs", "--lang-pairs", "--lang"), ("--pairs", "--languages")),
    **dict.fromkeys(("--source-lang", "--src", "--src-lang"), ("--source", "--pairs")),
    **dict.fromkeys(("--target-lang", "--tgt", "--tgt-lang"), ("--target", "--pairs")),
    **dict.fromkeys(
        ("--workers", "--num-workers", "-j", "--jobs", "--n-jobs", "--num-threads"), ("--threads",)
    ),
    **dict.fromkeys(("--cuda", "--gpu", "--gpus", "--accelerator"), ("--device",)),
    **dict.fromkeys(("--fp16", "--bf16", "--half", "--dtype"), ("--precision",)),
    "--learning-rate": ("--rate",),
    **dict.fromkeys(("--num-epochs", "--num-train-epochs", "--epoch"), ("--epochs",)),
    **dict.fromkeys(("--random-seed", "--random-state"), ("--seed",)),
    **dict.fromkeys(("--n-seeds", "--num-seeds", "--runs", "--repeat"), ("--seeds",)),
    **dict.fromkeys(("--limit", "--max-samples", "--num-samples", "--n-samples"), ("--sample-size",)),
    **dict.fromkeys(("--cache", "--cache-dir", "--cache-folder"), ("--store",)),
    **dict.fromkeys(("--no-cache", "--overwrite-cache"), ("--no-store",)),
    **dict.fromkeys(("--html", "--html-report"), ("--report",)),
    **dict.fromkeys(("-q", "--silent", "--no-progress"), ("--quiet",)),
    **dict.fromkeys(("-f", "--overwrite"), ("--force",)),
    **dict.fromkeys(("--config-file",), ("--config",)),
    **dict.fromkeys(("--confidence", "--significance"), ("--alpha",)),
}
DATA = frozenset(
    {
        "--dataset",
        "--data",
        "--datasets",
        "--dataset-name",
        "--input",
        "--input-file",
        "--manifest",
        "--corpus",
    }
    | {"--file", "--data-dir", "--data-path", "--path", "--pool", "--task-data"}
)
# options of an encoder, which stand in its spec
OF_SPECS = {
    "--batch-size": "batch=64",
    "--max-length": "max_length=256",
    "--max-seq-length": "max_length=256",
    "--prompt": "prompt=query: ",
    "--prompt-name": "prompt_name=query",
    "--prompts": "query_prompt=query: ",
    "--query-prompt": "query_prompt=query: ",
    "--candidate-prompt": "candidate_prompt=passage: ",
    "--document-prompt": "candidate_prompt=passage: ",
    "--revision": "revision=main",
    "--pooling": "pool=cls",
    "--dim": "dim=256",
    "--dimensions": "dim=256",
    "--truncate-dim": "dim=256",
    "--trust-remote-code": "remote-code=COMMIT",
}
# a command → words that are tried in its place; a task's name stands for its evaluation
_OTHER_COMMANDS = {
    "data import": ("import", "convert", "clean"),
    "data from": ("from", "download", "fetch"),
    "data check": ("check", "lint"),
    "data describe": ("describe", "info", "stats"),
    "evaluate": ("eval", "evaluation", "benchmark", "bench", "measure", "rank", "retrieve", "score", "test"),
    "embed": ("encode", "embeddings", "vectorize", "vectors"),
    "train": ("fit", "finetune", "fine-tune"),
    "compare": ("diff", "significance"),
    "report": ("html", "summary"),
    "leaderboard": ("board", "ranking", "scoreboard"),
    "encoders": ("list", "models"),
    "store": ("cache",),
    "study": ("annotate",),
    "--help": ("help",),
    "--version": ("version",),
}
COMMANDS = {word: command for command, words in _OTHER_COMMANDS.items() for word in words}


def command_meant(word: str) -> str | None:
    """Return the command that is meant by a word which is none, None where none is known.

    >>> command_meant("import"), command_meant("bkr")
    ('data import', 'evaluate bkr')
    """
    usual = word.lower().replace("_", "-")
    if any(usual in (task.name, *task.short) for task in TASKS.values()):
        return f"evaluate {usual}"
    return COMMANDS.get(usual)


def option_meant(name: str, options: Iterable[str]) -> str | None:
    """Return the option of a command that another program calls `name`, None where none is known.

    >>> option_meant("--output_dir", ["--out", "--seed"])
    '--out'
    """
    known = set(options)
    return next((one for one in OTHER_NAMES.get(_usual(name), ()) if one in known), None)


def instead(name: str, options: Iterable[str], arguments: Iterable[str]) -> str | None:
    """Return what to write where no option takes the place of `name`; None where nothing is known."""
    usual, (argument, *_) = _usual(name), (*arguments, "")
    if usual in DATA and argument:
        return f"{argument} is an argument and has no option: write it without {name}"
    if usual in OF_SPECS and "--text-encoder" in set(options):
        return f"it belongs to an encoder: --text-encoder 'st:NAME?{OF_SPECS[usual]}'"
    return None


def _usual(name: str) -> str:
    return name.lower().replace("_", "-")
