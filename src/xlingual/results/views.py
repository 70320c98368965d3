"""Further numbers of entries, with one record for each task that has some.

In `results.json` they are the key `views`, and the entry's `task` gives their kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Struct

from xlingual.results.values import Interval, Number, Share, Whole, about

ByLanguage: TypeAlias = dict[str, Number | None]  # by language, pair of languages ("en->de") or subset
Intervals: TypeAlias = dict[str, Interval | None]  # by the same keys as the numbers


class PoolIntervals(Struct, frozen=True, omit_defaults=True):
    """Intervals of the views of a multilingual pool, under the same names."""

    by_question_language: Intervals | None = None
    macro: Interval | None = None
    one_target: Intervals | None = None
    one_target_summary: Intervals | None = None
    remove_one: Intervals | None = None
    monolingual_pool: Intervals | None = None
    monolingual_pool_average: Interval | None = None
    weak_alignment: Intervals | None = None
    strong_alignment: Intervals | None = None
    alignment: Intervals | None = None
    subsets: Intervals | None = None
    found: Intervals | None = None
    found_summary: Intervals | None = None
    language_share_top100: Intervals | None = None
    language_share_ratio_top100: Intervals | None = None
    language_id_accuracy: Intervals | None = None


class HubBin(Struct, frozen=True):
    """How many candidates are found from `least` times to below the least of the next bin."""

    least: Annotated[Whole, about("Where the bin begins.")]
    n: Annotated[Whole, about("Number of candidates.")]
    by_chance: Annotated[Number, about("The same where all candidates are equally likely.")]


class HubCounts(Struct, frozen=True):
    """How unevenly the first places are divided among the candidates."""

    k: Annotated[Whole | None, about("Number of first places of each query that are counted.")] = None
    skewness: Annotated[Number | None, about("Skewness of how often candidates are found.")] = None
    never: Annotated[Number | None, about("Share of the candidates that are never found.")] = None
    largest: Annotated[Number | None, about("How often the most frequent one is found.")] = None
    expected: Annotated[Number | None, about("How often a candidate is found on average.")] = None
    threshold: Annotated[
        Number | None, about("What a hub exceeds: the mean and two standard deviations.")
    ] = None
    n: Annotated[Whole | None, about("Number of hubs.")] = None
    by_language: Annotated[ByLanguage, about("Share of all places that hubs of the language hold.")] = {}
    alarm: Annotated[bool | None, about("Whether hubs are an alarm.")] = None
    skewness_ci: Annotated[
        Interval | None, about("Interval of the skewness for other queries of the same candidates.")
    ] = None
    skewness_by_chance: Annotated[
        Number | None, about("Skewness where all candidates are equally likely.")
    ] = None
    skewness_bound: Annotated[Number | None, about("Skewness that an alarm exceeds.")] = None
    never_by_chance: Annotated[
        Number | None, about("Share that is never found where all candidates are equally likely.")
    ] = None
    n_largest: Annotated[Whole | None, about("Number of the largest hubs: 1 % of the candidates.")] = None
    errors: Annotated[
        Number | None, about("Share of the wrong first places that these hold; null where there is none.")
    ] = None
    errors_by_chance: Annotated[Number | None, about("The same where all candidates are equally likely.")] = (
        None
    )
    errors_bound: Annotated[Number | None, about("Share of the errors that an alarm needs.")] = None
    n_errors: Annotated[Number | None, about("Number of wrong first places, expected over ties.")] = None
    by_query_language: Annotated[
        ByLanguage, about("Share of the places of queries in the language that hubs hold.")
    ] = {}
    other_language: Annotated[
        Number | None, about("Share of the hubs' places that are of queries in another language.")
    ] = None
    other_language_by_chance: Annotated[
        Number | None, about("The same where hubs are found by queries of all languages alike.")
    ] = None
    distribution: Annotated[
        list[HubBin], about("How many candidates are found how often; bins begin at 0, 1, 2, 4, 8 …")
    ] = []


class SpaceAxes(Struct, frozen=True):
    """Axes of the picture of the space of two languages; its points are the table `points`."""

    languages: Annotated[list[str], about("The two languages.")] = []
    explained: Annotated[list[Number | None], about("Share of the variance by axis.")] = []


class PoolViews(Struct, frozen=True, omit_defaults=True, tag_field="task", tag="multilingual-pool"):
    """Views of language bias of one encoder over a multilingual pool; None: not requested, or not possible.

    Each is explained in https://xlingual.github.io/xlingual/latest/explanation/language-bias/.
    """

    languages: Annotated[list[str], about("Languages of the pool.")] = []
    by_question_language: Annotated[ByLanguage | None, about("The measure by question language.")] = None
    macro: Annotated[Number | None, about("Its mean over question languages.")] = None
    ci_by_article: Annotated[Intervals | None, about("The interval with articles as clusters.")] = None
    one_target: Annotated[
        ByLanguage | None, about("Score where one right answer alone is in the pool, by pair.")
    ] = None
    one_target_summary: Annotated[ByLanguage | None, about("Its means: own, other, gap.")] = None
    remove_one: Annotated[
        dict[str, Number | Whole | None] | None, about("What removing one right answer leaves.")
    ] = None
    monolingual_pool: Annotated[
        ByLanguage | None, about("Score in the pool of the question's language, by language.")
    ] = None
    monolingual_pool_average: Annotated[Number | None, about("Its mean over languages.")] = None
    monolingual_pool_questions: Annotated[
        dict[str, Whole] | None, about("Number of questions with an answer in that pool, by language.")
    ] = None
    weak_alignment: Annotated[
        ByLanguage | None, about("P@1 among the candidates of one language alone, by pair.")
    ] = None
    strong_alignment: Annotated[
        ByLanguage | None,
        about("Share of pairs of an answer and a wrong candidate in the question's language, in order."),
    ] = None
    alignment: Annotated[
        ByLanguage | None, about("Their means: weak, weak_own, strong, strict_own, strict.")
    ] = None
    alignment_chance: Annotated[ByLanguage | None, about("The same where all candidates are equal.")] = None
    subsets: Annotated[ByLanguage | None, about("Score in pools of some of the languages.")] = None
    found_at: Annotated[Whole | None, about("Number of first candidates of a measure with a cut.")] = None
    found: Annotated[
        ByLanguage | None, about("Share of the right answers that are among these, by pair.")
    ] = None
    found_summary: Annotated[ByLanguage | None, about("Its means: own, other, gap.")] = None
    loss: Annotated[
        dict[str, ByLanguage] | None, about("Wrong candidates above each right one, by pair, then kind.")
    ] = None
    top: Annotated[
        Whole | None, about("Number of first candidates that language shares are computed over.")
    ] = None
    language_share_top100: Annotated[
        ByLanguage | None, about("Share of a language among the first candidates, by pair.")
    ] = None
    language_share_ratio_top100: Annotated[
        ByLanguage | None, about("The same divided by the language's share of the pool.")
    ] = None
    fairness: Annotated[dict[str, ByLanguage] | None, about("PEER of the ranking's head.")] = None
    hubs: Annotated[HubCounts | None, about("How unevenly first places are divided.")] = None
    language_id_accuracy: Annotated[
        ByLanguage | None, about("Accuracy of identifying the language from the vector: all, and by pair.")
    ] = None
    language_id_chance: Annotated[ByLanguage | None, about("Accuracy of guessing.")] = None
    language_id_notes: Annotated[dict[str, str] | None, about("Remarks on these.")] = None
    picture: Annotated[SpaceAxes | None, about("Axes of the picture of the space of two languages.")] = None
    ci: Annotated[PoolIntervals | None, about("Intervals, under the same names.")] = None


class Against(Struct, frozen=True):
    """The difference to the baseline, on the same queries."""

    baseline: Annotated[str, about("Name of the baseline.")]
    value: Annotated[Number, about("Own value minus the baseline's.")]
    ci: Annotated[Interval | None, about("Interval of the difference.")]


class AgreementAgainst(Against, frozen=True):
    """The difference to the baseline, with a test."""

    p: Annotated[Share | None, about("Two-sided p; null where there is no test.")] = None
    test: Annotated[str | None, about("Name of the test.")] = None
    note: Annotated[str | None, about("Why something is missing.")] = None
    p_holm: Annotated[Share | None, about("p corrected over all encoders and files (Holm).")] = None


class ImageSentenceViews(Struct, frozen=True, omit_defaults=True, tag_field="task", tag="image-sentence"):
    """Further numbers of image–sentence ranking."""

    against: Annotated[Against | None, about("The difference to the baseline of the language.")] = None
    folds: Annotated[Sequence[Number | None] | None, about("The value of each slice.")] = None
    hubs: Annotated[HubCounts | None, about("How unevenly first places are divided (first slice).")] = None


class BackretrievalViews(Struct, frozen=True, omit_defaults=True, tag_field="task", tag="backretrieval"):
    """Further numbers of Backretrieval."""

    hubs: Annotated[HubCounts | None, about("How unevenly targets are nearest to sources.")] = None


class CrosslingualRetrievalViews(
    Struct, frozen=True, omit_defaults=True, tag_field="task", tag="crosslingual-retrieval"
):
    """Further numbers of cross-lingual retrieval."""

    hubs: Annotated[HubCounts | None, about("How unevenly first places are divided.")] = None


class StsViews(Struct, frozen=True, tag_field="task", tag="sts"):
    """Further numbers of textual similarity."""

    against: Annotated[AgreementAgainst | None, about("The difference to the baseline on the file.")] = None
    against_mean: Annotated[
        AgreementAgainst | None, about("The same for the mean over files; null where there is one file.")
    ] = None


class RetrievalIntervals(Struct, frozen=True, omit_defaults=True):
    """Intervals of the views of retrieval, under the same names."""

    by_query_language: Annotated[Intervals | None, about("Those by query language.")] = None


class RetrievalViews(Struct, frozen=True, omit_defaults=True, tag_field="task", tag="retrieval"):
    """Further numbers of retrieval by judgements."""

    languages: Annotated[list[str], about("Languages of queries and candidates.")] = []
    by_query_language: Annotated[ByLanguage | None, about("The measure by query language.")] = None
    judged: Annotated[
        Number | None,
        about("Judged@k of the queries with results: the share of the first k candidates that were judged."),
    ] = None
    incomplete: Annotated[
        bool, about("Whether some candidates were judged irrelevant, so that others are unjudged.")
    ] = False
    hubs: Annotated[HubCounts | None, about("How unevenly first places are divided.")] = None
    ci: Annotated[RetrievalIntervals | None, about("Intervals, under the same names.")] = None


Views: TypeAlias = (
    PoolViews
    | ImageSentenceViews
    | StsViews
    | RetrievalViews
    | BackretrievalViews
    | CrosslingualRetrievalViews
)
VIEWS: Mapping[str, type[Views]] = {  # by task
    str(kind.__struct_config__.tag): kind
    for kind in (
        PoolViews,
        ImageSentenceViews,
        StsViews,
        RetrievalViews,
        BackretrievalViews,
        CrosslingualRetrievalViews,
    )
}


def tagged(row: Any) -> Any:  # noqa: ANN401  (a row of results.json, perhaps a damaged one)
    """Return a row whose views name their task; views of a task that has none here are left out."""
    if not isinstance(row, Mapping) or not isinstance(views := row.get("views"), Mapping):
        return row
    task = row.get("task")
    return {**row, "views": {**views, "task": task} if isinstance(task, str) and task in VIEWS else None}


def untagged(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as results.json has it: the row has the task, not its views."""
    if row["views"]:
        row["views"].pop("task")
    return row
