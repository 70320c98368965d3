"""`xlingual rerank ablate`: which features of an n-best list help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.rerank_settings import chosen_settings
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.rerank import AblateRequest
from xlingual.requests.values import comma_list

if TYPE_CHECKING:
    from xlingual.nbest.ablation import Ablation


@command(AblateRequest)
def ablate(asked: AblateRequest) -> None:
    """Say which features of NBEST help: tune without some, and compare BLEU on sentences held out.

    Each sentence is chosen for by weights that were tuned on the other folds, or --on other lists. The
    interval and p are of a paired bootstrap over sentences.
    """
    from xlingual.nbest.ablation import ablate as find
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest

    on, out = asked.on, asked.out
    if (on is None) != (not asked.on_references):
        raise InputError("--on and --on-references belong together: give both or none")
    if asked.folds is not None and on is not None:
        raise InputError("--folds is of cross-validation, and --on names other lists: give one of them")
    if out is not None:
        check_file(out)
    settings = chosen_settings(asked.tuning)
    with screen.warnings_as_lines(), screen.progress(asked.quiet or asked.as_json) as report:
        other = None
        if on is not None:
            other = (read_nbest(on), [read_texts(path) for path in asked.on_references])
        found = find(
            read_nbest(asked.nbest),
            [read_texts(path) for path in asked.references],
            settings,
            without=[comma_list(names) for names in asked.without],
            other=other,
            folds=5 if asked.folds is None else asked.folds,
            progress=report,
            **keywords(asked.tuning, find),
        )
    found = signed(found, asked, run=False)
    if out is not None:
        found.write(out)
    if asked.as_json:
        screen.print_json(found.to_dict())
    elif not asked.quiet:
        _show(found)
    if out is not None:
        screen.wrote(out, quiet=asked.quiet)


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
