"""`xlingual rerank ablate`: which features of an n-best list help."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.rerank_settings import chosen_settings
from xlingual.cli.rerank_tables import ablation_page
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.rerank import AblateRequest
from xlingual.requests.values import comma_list


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
    with screen.warnings_as_lines(), screen.progress(screen.silent(asked)) as report:
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
    screen.show_page(ablation_page(found), found.to_dict(), asked)
    if out is not None:
        screen.wrote(out, quiet=asked.quiet)
