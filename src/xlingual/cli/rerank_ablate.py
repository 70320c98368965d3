"""`xlingual rerank ablate`: which features of an n-best list help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.rerank_options import (
    PATH,
    check_file,
    chosen_settings,
    quiet_option,
    references_option,
    tuning_options,
)
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.nbest.ablation import Ablation


@click.command()
@click.argument("nbest", type=PATH, metavar="NBEST")
@references_option
@click.option(
    "--without",
    multiple=True,
    metavar="NAME,…",
    help="Features or labels left out together; repeat for several sets.  [default: each label]",
)
@click.option("--on", type=PATH, metavar="NBEST", help="Judge on these lists instead of by cross-validation.")
@click.option("--on-references", multiple=True, type=PATH, metavar="FILE", help="References of --on.")
@click.option("--folds", type=int, metavar="K", help="Of the cross-validation.  [default: 5]")
@tuning_options
@click.option("--out", type=PATH, metavar="FILE", help="Write the ablation there, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@quiet_option
def ablate(
    nbest: Path,
    references: tuple[Path, ...],
    without: tuple[str, ...],
    on: Path | None,
    on_references: tuple[Path, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Say which features of NBEST help: tune without some, and compare BLEU on sentences held out.

    Each sentence is chosen for by weights that were tuned on the other folds, or --on other lists. The
    interval and p are of a paired bootstrap over sentences.
    """
    from xlingual.nbest.ablation import ablate as find
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest

    if (on is None) != (not on_references):
        raise InputError("--on and --on-references belong together: give both or none")
    if given["folds"] is None:
        del given["folds"]
    elif on is not None:
        raise InputError("--folds is of cross-validation, and --on names other lists: give one of them")
    if out is not None:
        check_file(out)
    settings = chosen_settings(given)
    with screen.warnings_as_lines(), screen.progress(quiet or as_json) as report:
        other = None
        if on is not None:
            other = (read_nbest(on), [read_texts(path) for path in on_references])
        found = find(
            read_nbest(nbest),
            [read_texts(path) for path in references],
            settings,
            without=[[name.strip() for name in names.split(",") if name.strip()] for names in without],
            other=other,
            progress=report,
            **given,
        )
    if out is not None:
        found.write(out)
    if as_json:
        screen.print_json(found.to_dict())
    elif not quiet:
        _show(found)
    if out is not None:
        screen.wrote(out, quiet=quiet)


def _show(found: Ablation) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from xlingual.cli.rerank_tables import aligned, grouped, p_text, signed, spread_text
    from xlingual.report.terminal import plain_table

    console = screen.console()
    console.print()
    table = plain_table(f"BLEU on {found.n_lists:,} lists, {found.judged}")
    table.add_column("features", overflow="fold")
    head, values = aligned("BLEU", [spread_text(found.bleu), *(spread_text(row.bleu) for row in found.rows)])
    table.add_column(head, no_wrap=True)
    for name in ("gain of having them", "95 % interval", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("all", values[0], style="bold")
    for row, value in zip(found.rows, values[1:], strict=True):
        ci = row.gain.ci
        interval = f"[{signed(ci.low)}, {signed(ci.high)}]"
        cells = (value, signed(row.gain.value), interval, p_text(row.gain.p))
        table.add_row(Text(f"without {grouped(row.without)}"), *cells)
    for sentence in _verdict(found):
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    console.print()
    console.print(table)
    bounds = found.bounds
    sentence = (
        f"Bounds: decoder's choice {bounds.decoder:.2f}, oracle {bounds.oracle:.2f}, anti-oracle "
        f"{bounds.anti_oracle:.2f}, random choice {spread_text(bounds.random)}."
    )
    console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)


def _verdict(found: Ablation) -> list[str]:
    """Return which features help, in sentences; an interval that excludes zero tells so."""
    from xlingual.cli.rerank_tables import grouped

    kinds = (
        ("Having them helps", [row for row in found.rows if row.gain.ci.low > 0]),
        ("Having them harms", [row for row in found.rows if row.gain.ci.high < 0]),
        ("Not told from chance", [row for row in found.rows if row.gain.ci.low <= 0 <= row.gain.ci.high]),
    )
    return [f"{what}: {'; '.join(grouped(row.without) for row in rows)}." for what, rows in kinds if rows]
