"""The tasks, one row each: their names, what they measure, and where their parts are.

Whatever holds for one task only is written here and in the two places that its row names; all other code
reads the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

CORRELATIONS = ("SIM", "CORR", "Pearson", "Spearman")  # from −1 to 1, and named without their task


@dataclass(frozen=True)
class Feature:
    """Something that some tasks take: its option, if it has one, and what to use where a task refuses it."""

    name: str
    option: str | None
    instead: str


FEATURES = (
    Feature("dense vectors", None, ""),
    Feature("sparse, token vectors", None, "take an encoder with one dense vector for each text"),
    Feature("runs", "--run", "runs have no vectors: give encoders, with --text-encoder"),
    Feature("hub correction", "--similarity", "hubs are corrected in evaluate bkr and evaluate xlr"),
    Feature("part of the queries", "--queries", "all texts take part: choose rows, with --rows"),
    Feature("seeds", "--seeds", "no samples are drawn: choose rows of the data"),
    Feature("near-duplicates", "--cluster", "give near-duplicates one cluster in the data"),
)


@dataclass(frozen=True)
class Mark:
    """The least value of a good encoder: the verdict calls none below it good enough.

    See docs/reference/tasks.md.
    """

    value: float
    purpose: str
    of_the_way: bool = False  # a share of the way from chance to the oracle, else of the best possible value
    not_of: tuple[str, ...] = ()  # kinds of measures on another scale


@dataclass(frozen=True)
class Task:
    """One task. `request`, `evaluation` and `page` are dotted names, "module:name", loaded late."""

    name: str  # as results, signatures and commands have it
    title: str
    sentence: str  # its question, for the help of its command
    request: str  # the record of its command's options
    evaluation: str  # the public Python function
    page: str  # returns the task's part of a report (report/pages/evaluation.py)
    measures: tuple[str, ...]  # the default ones; the first is the headline
    short: tuple[str, ...] = ()  # further names of its command
    label: str = ""  # stands before its measures in sentences: "BkR R@10"
    about: str = ""  # the method, for a paragraph of the report
    row: str = "source language"
    column: str = "target language"
    parts: str = "language pairs"  # the parts that are compared separately
    whole: bool = False  # no samples are drawn, so there are neither seeds nor language pairs
    own: str = "own match"  # the candidate that ranks are of
    mark: Mark | None = None
    way_back: bool = False  # ranks are among images, not among texts
    by_images: bool = False  # images judge the texts: the verdict warns of encoders of unlike kinds
    no_languages: frozenset[str] = frozenset()  # sources and targets that are not languages
    target_is_language: bool = True
    viewed: str | None = None  # the measure whose entries carry the task's further findings (views)
    renamed: Mapping[str, str] = field(default_factory=dict)  # measures under the names of the literature
    meaning: Mapping[str, str] = field(default_factory=dict)  # kind of measure → what it is; {k}: its cut-off
    takes: Mapping[str, str] = field(default_factory=dict)  # feature beside dense vectors → yes, or how

    def how(self, feature: str) -> str:
        """Return how the task takes a feature: "yes", in which way, or "–" where it refuses it."""
        return self.takes.get(feature, "yes" if feature == FEATURES[0].name else "–")

    def refused(self) -> dict[str, str]:
        """Return the options that the task refuses, and why, in words that follow its name."""
        return {
            one.option: f"takes no {one.name}: {one.instead}"
            for one in FEATURES
            if one.option is not None and one.name not in self.takes
        }

    def of_pair(self, source: str, target: str | None) -> bool:
        """Return whether a number is about a pair of languages."""
        return self.target_is_language and not self.no_languages & {source, target}

    def marks(self, measure: str) -> bool:
        """Return whether the task says which values of a measure are good enough."""
        return self.mark is not None and not measure.startswith(self.mark.not_of)

    def explained(self, measure: str) -> str:
        """Return what a measure is, as a sentence with its name; "" where the task does not say."""
        kind, _, cut = measure.partition("@")
        text = self.meaning.get(kind, "")
        if cut == "1":
            text = text.replace("among the {k} nearest texts", "as the nearest text")
            text = text.replace("among the {k} texts nearest", "the text nearest")
            text = text.replace("among the {k} nearest", "the nearest")
        text = text.format(k=cut)
        return f"{self.measure_name(measure)} is {text}." if text else ""

    def measure_name(self, measure: str) -> str:
        """Return the measure as sentences name it: "BkR R@10", "SIM", "mAP"."""
        kind, at, cut = measure.partition("@")
        if measure in self.renamed:
            return self.renamed[measure]
        if kind in self.renamed:
            return f"{self.renamed[kind]}{at}{cut}"
        if not self.label or measure == self.label or measure in CORRELATIONS:
            return measure
        return f"{self.label} {measure}"


_REQUESTS = "xlingual.requests.evaluating:"
_ALL = dict.fromkeys((one.name for one in FEATURES), "yes")
_RETRIEVAL_PAGE = "xlingual.report.pages.retrieval:part"

TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="backretrieval",
            short=("bkr",),
            label="BkR",
            title="Backretrieval",
            sentence=(
                "Does the image of the nearest text in the other language lead back to the query's image?"
            ),
            about=(
                "Each text retrieves its nearest text of the other language; the image of that text is "
                "then looked up among the images of the source side. No text has a translation among "
                "the candidates."
            ),
            measures=("R@10", "SIM"),
            meaning={
                "R": "the share of texts whose nearest text in the other language has an image like theirs: "
                "their own image is among the {k} nearest to it",
                "SIM": "the mean similarity of a text's own image and that of the nearest text in the other "
                "language",
            },
            own="own image",
            mark=Mark(0.10, "match texts across languages", of_the_way=True),
            way_back=True,
            by_images=True,
            takes=_ALL | {"runs": "first"},
            request=_REQUESTS + "BackretrievalRequest",
            evaluation="xlingual.evaluation.backretrieval:backretrieval",
            page=_RETRIEVAL_PAGE,
        ),
        Task(
            name="crosslingual-retrieval",
            short=("xlr",),
            label="XLR",
            title="Cross-lingual retrieval",
            sentence="Does a text find its known match in the other language?",
            about=(
                "Each text looks for its own match in the other language: this needs pairs that are known"
                " to match."
            ),
            meaning={
                "R": "the share of a text's known matches in the other language that are among the {k} texts "
                "nearest to it",
                "Success": "the share of texts with a known match among the {k} nearest texts of the other "
                "language",
                "RR": "the mean of 1 / rank of a text's first known match in the other language",
            },
            measures=("R@10",),
            mark=Mark(0.25, "match texts across languages"),
            takes=_ALL,
            request=_REQUESTS + "CrosslingualRetrievalRequest",
            evaluation="xlingual.evaluation.crosslingual_retrieval:crosslingual_retrieval",
            page=_RETRIEVAL_PAGE,
        ),
        Task(
            name="distance-correlation",
            short=("corr",),
            label="CORR",
            title="Distance correlation",
            sentence="Do distances of texts follow distances of their images?",
            about=(
                "Whether texts that are far apart belong to images that are far apart, over all pairs "
                "of texts."
            ),
            measures=("CORR",),
            by_images=True,
            takes={"seeds": "yes"},
            request=_REQUESTS + "DistanceCorrelationRequest",
            evaluation="xlingual.evaluation.distance_correlation:distance_correlation",
            page=_RETRIEVAL_PAGE,
        ),
        Task(
            name="multilingual-pool",
            short=("lareqa", "pool"),
            title="Answers from a multilingual pool",
            sentence="Does a question find its answers in a pool of all languages, whatever their language?",
            measures=("AP",),
            row="question language",
            column="answer language",
            parts="question languages",
            whole=True,
            meaning={
                "AP": "1 if all right answers of every question rank first in the pool of all languages, "
                "near 0 if they rank low",
            },
            mark=Mark(0.10, "find answers in a pool of all languages", not_of=("StrongAlignment",)),
            no_languages=frozenset({"all", "pool"}),
            viewed="AP",
            takes={"sparse, token vectors": "counts", "runs": "first k", "near-duplicates": "yes"},
            renamed={  # a mean over questions, as in the literature
                "AP": "mAP",
                "RR": "MRR",
                "WeakAlignment": "weak alignment",
                "StrongAlignment": "strong alignment",
                "StrongAlignment/strict": "strong alignment (strict)",
                "StrongAlignment/strict-own": "strong alignment (strict-own)",
            },
            request=_REQUESTS + "MultilingualPoolRequest",
            evaluation="xlingual.evaluation.multilingual_pool:multilingual_pool",
            page="xlingual.report.pages.multilingual_pool:part",
        ),
        Task(
            name="retrieval",
            short=("judged",),
            title="Retrieval by judgements",
            sentence="Do the candidates that people judged relevant rank first?",
            about=(
                "Each query ranks all candidates, or those that a search engine returned for it. "
                "People judged how relevant some of them are, and the numbers say how well the "
                "ranking agrees with them."
            ),
            measures=("nDCG@10",),
            row="query language",
            column="candidates",
            parts="query languages",
            whole=True,
            own="best relevant candidate",
            mark=Mark(0.10, "find candidates that people judged relevant"),
            takes={"sparse, token vectors": "yes", "runs": "yes"},
            no_languages=frozenset({"all", "pool"}),
            renamed={"AP": "mAP", "RR": "MRR"},  # means over queries, as in the literature
            request=_REQUESTS + "RetrievalRequest",
            evaluation="xlingual.evaluation.retrieval:retrieval",
            page="xlingual.report.pages.judged_retrieval:part",
        ),
        Task(
            name="image-sentence",
            short=("captions",),
            title="Image–sentence ranking",
            sentence="Does a sentence find its image, and an image its sentences?",
            about=(
                "Each sentence ranks all images, and each image all sentences of a language, by the "
                "cosine of their vectors. An image with several sentences counts by the best of them."
            ),
            measures=("Success@1", "Success@5", "Success@10", "MedR/floor"),
            row="language, or image",
            column="image, or language",
            mark=Mark(0.10, "match texts and images"),
            no_languages=frozenset({"image"}),
            renamed={"Success": "R", "MedR/floor": "MedR"},  # any caption counts, as its literature has it
            request=_REQUESTS + "ImageSentenceRequest",
            evaluation="xlingual.evaluation.image_sentence:image_sentence",
            page="xlingual.report.pages.image_sentence:part",
        ),
        Task(
            name="sts",
            title="Textual similarity",
            sentence="Do the cosines of sentence pairs agree with similarity scores by people?",
            about=(
                "People scored how similar the two sentences of each pair are. An encoder is good where the "
                "cosine of its two vectors rises with that score. The sentences are all in one language."
            ),
            measures=("Pearson", "Spearman"),
            row="language",
            column="file of sentence pairs",
            target_is_language=False,
            request=_REQUESTS + "StsRequest",
            evaluation="xlingual.evaluation.sts:sts",
            page="xlingual.report.pages.sts:part",
        ),
    )
}


def task_of(name: str) -> Task:
    """Return the row of a task; one that is not known, from another version, under its own name."""
    return TASKS.get(name) or Task(name, name, "", "", "", _RETRIEVAL_PAGE, (), label=name)


def full_name(task: str) -> str:
    """Return the name of a task, for which its short names stand too; others as they are.

    >>> full_name("xlr"), full_name("backretrieval")
    ('crosslingual-retrieval', 'backretrieval')
    """
    return next((one.name for one in TASKS.values() if task.lower() in (*one.short, one.name)), task)


def spelled(tasks: Iterable[str]) -> list[str]:
    """Return the names of tasks, each with its short ones.

    >>> spelled(["backretrieval"])
    ['backretrieval', 'bkr']
    """
    return [word for name in tasks for word in (name, *task_of(name).short)]


def load(dotted: str) -> Any:  # noqa: ANN401  (any object)
    """Return the object of a dotted name, "module:name"."""
    module, _, name = dotted.partition(":")
    return getattr(import_module(module), name)
