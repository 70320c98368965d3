"""The views of language bias that belong to average precision under the policy "agnostic"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from xlingual.evaluation.multilingual_pool.views.loss import loss
from xlingual.evaluation.multilingual_pool.views.monolingual_pool import monolingual_pool
from xlingual.evaluation.multilingual_pool.views.one_target import one_target
from xlingual.evaluation.multilingual_pool.views.remove_one import remove_one
from xlingual.evaluation.multilingual_pool.views.standings import Standings
from xlingual.evaluation.multilingual_pool.views.subsets import subsets
from xlingual.evaluation.multilingual_pool.views.written import View

LANGUAGE_BIAS = ("one_target", "remove_one", "monolingual_pool", "subsets", "loss")


def agnostic_views(
    standings: Standings,
    wanted: Collection[str] = LANGUAGE_BIAS,
    chosen_subsets: Iterable[Sequence[str]] = (),
) -> list[View]:
    """Return those of the views `LANGUAGE_BIAS` that are wanted, in their order."""
    make: dict[str, Callable[[Standings], View]] = {
        "one_target": one_target,
        "remove_one": remove_one,
        "monolingual_pool": monolingual_pool,
        "subsets": lambda given: subsets(given, chosen_subsets),
        "loss": loss,
    }
    return [make[name](standings) for name in LANGUAGE_BIAS if name in wanted]
