"""`xlingual rerank features`: similarities to the source and to pictures as features of an n-best list."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of, within_cost
from xlingual.requests.rerank import FeaturesRequest


@command(FeaturesRequest)
def features(asked: FeaturesRequest) -> None:
    """Add similarities to the hypotheses of NBEST, each a feature named as its encoder.

    With --source: cosine of source and hypothesis. With --images and --image-encoder: cosine of picture and
    hypothesis. Every different text is encoded once; vectors are kept in the store.
    """
    from xlingual.nbest.features import add_features

    check_file(asked.out)
    given = keywords(asked, add_features) | {
        "text_encoders": within_cost(asked.text_encoders, asked.keeping),
        "store": store_of(asked.keeping),
    }
    for name in ("source_language", "target_language"):
        if given[name] is None:
            del given[name]
    with screen.warnings_as_lines(), screen.progress(asked.quiet) as progress:
        found = add_features(**given, progress=progress)
    if not asked.quiet:
        screen.say(
            f"added {', '.join(found.features)} to {found.n_hypotheses:,} hypotheses ({found.n_distinct:,} "
            f"different) of {found.n_lists:,} sentences",
            err=True,
        )
    screen.wrote(asked.out, quiet=asked.quiet)
