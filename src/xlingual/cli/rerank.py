"""`xlingual rerank`: tune weights for the features of n-best lists, apply them, measure what they choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.rerank_tables import show_scores, show_weights
from xlingual.errors import InputError

_PATH = click.Path(path_type=Path)
_OF_MIRA = ("c", "decay", "epochs", "no_shuffle", "background", "precision", "average")

references_option = click.option(
    "--references",
    multiple=True,
    required=True,
    type=_PATH,
    metavar="FILE",
    help="References, one line for each sentence, tokenised like the lists; repeat for several.",
)
lowercase_option = click.option("--lowercase", is_flag=True, help="Letter case does not count.")
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")


@click.group()
def rerank() -> None:
    """Re-rank n-best lists of translations, so that better ones come first.

    `tune` finds weights for the features of a list, `apply` chooses by them, `score` measures the choice.
    Lists are in the format of Moses: id ||| hypothesis ||| Name= value … ||| score, plain or gzip.
    """


# Commands that make lists and add features to them have their place here: `generate` and `features`, each in
# a module of its own (`rerank_generate`, `rerank_features`), added to the group with `rerank.add_command`.


@rerank.command()
@click.argument("nbest", type=_PATH, metavar="NBEST")
@references_option
@click.option("--out", required=True, type=_PATH, metavar="FILE", help="Write the weights there, as JSON.")
@click.option("--algorithm", type=click.Choice(["mira", "pro"]), default="mira", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="The first tuning's.")
@click.option(
    "--tunings",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Runs, which differ in their seed.",
)
@click.option("--standardize", is_flag=True, help="Divide each feature by its spread within lists.")
@lowercase_option
@click.option("--C", "c", type=float, metavar="C", help="MIRA: the largest step.  [default: 0.01]")
@click.option("--decay", type=float, metavar="D", help="MIRA: of the background.  [default: 0.999]")
@click.option("--epochs", type=int, metavar="N", help="MIRA: passes over the lists.  [default: 60]")
@click.option("--no-shuffle", is_flag=True, help="MIRA: sentences keep their order; one tuning.")
@click.option(
    "--background",
    type=click.Choice(["ones", "paper"]),
    help="MIRA: what the background begins with.  [default: ones]",
)
@click.option("--precision", type=click.Choice(["float64", "float32"]), help="MIRA.  [default: float64]")
@click.option(
    "--average",
    type=click.Choice(["sentences", "updates"]),
    help="MIRA: what weights are averaged over.  [default: sentences]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the weights as JSON instead of tables.")
@quiet_option
def tune(
    nbest: Path,
    references: tuple[Path, ...],
    out: Path,
    algorithm: str,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Find weights for the features of NBEST that choose the translations with the best BLEU.

    The weights of the first tuning are those that `apply` uses; the others say how much chance decides.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.tune import tune as find

    _check_file(out)
    own = {name: given.pop(name) for name in _OF_MIRA}
    settings = _settings(
        algorithm, {name: value for name, value in own.items() if value not in (None, False)}
    )
    with screen.warnings_as_lines(), screen.progress(quiet or as_json) as report:
        lists = read_nbest(nbest)
        texts = [read_texts(path) for path in references]
        found = find(lists, texts, settings, progress=report, **given)
    found.write(out)
    if as_json:
        screen.print_json(found.to_dict())
    elif not quiet:
        show_weights(found)
    screen.wrote(out, quiet=quiet)


@rerank.command()
@click.argument("nbest", type=_PATH, metavar="NBEST")
@click.option(
    "--weights", required=True, type=_PATH, metavar="FILE", help="What xlingual rerank tune --out wrote."
)
@click.option("--out", required=True, type=_PATH, metavar="FILE", help="Write the best translations there.")
@click.option(
    "--tuning", type=int, default=0, show_default=True, metavar="N", help="Use the weights of this tuning."
)
@quiet_option
def apply(nbest: Path, weights: Path, out: Path, tuning: int, quiet: bool) -> None:
    """Write the hypothesis of each list of NBEST that the weights choose, one a line.

    NBEST must have the features that the weights are for, in the same order.
    """
    from xlingual.nbest.apply import apply_weights, write_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.weights import Weights

    _check_file(out)
    found = Weights.read(weights)
    with screen.warnings_as_lines():
        lists = read_nbest(nbest)
    write_texts(apply_weights(lists, found, tuning), out)
    screen.wrote(out, quiet=quiet)


@rerank.command()
@click.argument("best", nargs=-1, required=True, type=_PATH, metavar="BEST…")
@references_option
@click.option("--baseline", type=_PATH, metavar="FILE", help="Test BEST against these translations.")
@click.option(
    "--nbest", type=_PATH, metavar="NBEST", help="Show what the lists hold: oracle, random choice …"
)
@click.option("--language", metavar="CODE", help="Of the translations (de): adds METEOR.")
@click.option(
    "--tokenize",
    type=click.Choice(["none", "13a", "intl", "char", "zh"]),
    default="none",
    show_default=True,
    help="Of BLEU; none where the texts are tokenised.",
)
@lowercase_option
@click.option(
    "--test", type=click.Choice(["bootstrap", "randomization"]), default="bootstrap", show_default=True
)
@click.option("--samples", type=click.IntRange(min=0), default=0, metavar="N", help="Of the test.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of random choice.")
@click.option("--out", type=_PATH, metavar="FILE", help="Write the scores there, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@quiet_option
def score(
    best: tuple[Path, ...],
    references: tuple[Path, ...],
    baseline: Path | None,
    nbest: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Measure translations: BLEU, chrF and TER by sacrebleu, METEOR (exact + stem) by nltk.

    BEST are files of one translation a line; give those of several tunings together for their mean and
    standard deviation. Needs the extra `mt`.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.score import score as measure

    if out is not None:
        _check_file(out)
    if len({str(path) for path in best}) < len(best):
        raise InputError("a file of translations is given twice: give each once")
    with screen.warnings_as_lines(), screen.progress(quiet or as_json) as report:
        found = measure(
            {str(path): read_texts(path) for path in best},
            [read_texts(path) for path in references],
            baseline=None if baseline is None else (str(baseline), read_texts(baseline)),
            lists=None if nbest is None else read_nbest(nbest),
            progress=report,
            **given,
        )
    if out is not None:
        found.write(out)
    if as_json:
        screen.print_json(found.to_dict())
    elif not quiet:
        show_scores(found)
    if out is not None:
        screen.wrote(out, quiet=quiet)


def _settings(algorithm: str, own: dict[str, Any]) -> Any:  # noqa: ANN401  (Mira or Pro)
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro

    if algorithm == "pro":
        if own:
            option = f"--{'C' if 'c' in own else next(iter(own)).replace('_', '-')}"
            raise InputError(f"{option} is an option of mira: leave it out, or use --algorithm mira")
        return Pro()
    if "c" in own:
        own["C"] = own.pop("c")
    if own.pop("no_shuffle", False):
        own["shuffle"] = False
    return Mira(**own)


def _check_file(out: Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    from xlingual.cli.options import check_folder

    if out.is_dir():
        raise InputError(f"--out {out} is a folder: name a file")
    check_folder(out.absolute().parent)
