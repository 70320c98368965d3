"""Options that the commands of `xlingual rerank` share, and what they turn into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
_OF_MIRA = ("c", "decay", "epochs", "no_shuffle", "background", "precision", "average")

references_option = click.option(
    "--references",
    multiple=True,
    required=True,
    type=PATH,
    metavar="FILE",
    help="References, one line for each sentence, tokenised like the lists; repeat for several.",
)
lowercase_option = click.option("--lowercase", is_flag=True, help="Letter case does not count.")
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")


def tuning_options(function: F) -> F:
    """Add the options that say how weights are tuned."""
    options = [
        click.option("--algorithm", type=click.Choice(["mira", "pro"]), default="mira", show_default=True),
        click.option(
            "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first tuning's."
        ),
        click.option(
            "--tunings",
            type=click.IntRange(min=1),
            default=3,
            show_default=True,
            help="Runs, which differ in their seed.",
        ),
        click.option("--standardize", is_flag=True, help="Divide each feature by its spread within lists."),
        lowercase_option,
        click.option("--C", "c", type=float, metavar="C", help="MIRA: the largest step.  [default: 0.01]"),
        click.option("--decay", type=float, metavar="D", help="MIRA: of the background.  [default: 0.999]"),
        click.option("--epochs", type=int, metavar="N", help="MIRA: passes over the lists.  [default: 60]"),
        click.option("--no-shuffle", is_flag=True, help="MIRA: sentences keep their order; one tuning."),
        click.option(
            "--background",
            type=click.Choice(["ones", "paper"]),
            help="MIRA: what the background begins with.  [default: ones]",
        ),
        click.option(
            "--precision", type=click.Choice(["float64", "float32"]), help="MIRA.  [default: float64]"
        ),
        click.option(
            "--average",
            type=click.Choice(["sentences", "updates"]),
            help="MIRA: what weights are averaged over.  [default: sentences]",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def chosen_settings(given: dict[str, Any]) -> Mira | Pro:
    """Return the settings of the algorithm; its name and options leave `given`."""
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro

    algorithm = given.pop("algorithm")
    of_mira = {name: given.pop(name) for name in _OF_MIRA}
    own = {name: value for name, value in of_mira.items() if value is not None and value is not False}
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


def check_file(out: Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    from xlingual.cli.options import check_folder

    if out.is_dir():
        raise InputError(f"--out {out} is a folder: name a file")
    check_folder(out.absolute().parent)
