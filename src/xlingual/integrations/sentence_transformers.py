"""Evaluators of sentence-transformers that measure across languages while a model is trained.

evaluator = BackretrievalEvaluator("shop.parquet", "pixels", pairs="en-de", name="shop")
trainer = SentenceTransformerTrainer(model, args, train_dataset, loss=loss, evaluator=evaluator)

Each stands for a task; its numbers are those of the task's function, its intervals are in `results`.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

from xlingual import encoders
from xlingual.data.manifest import ManifestLike, manifest_of
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.samples import resolve_pairs
from xlingual.embed.sides import embed_images
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, did_you_mean
from xlingual.evaluation.backretrieval.way_back import SIM, refuse_small_pools
from xlingual.evaluation.crosslingual_retrieval import refuse_small_pools as refuse_small_targets
from xlingual.evaluation.crosslingual_retrieval import several_answers
from xlingual.evaluation.pair_run import PairTask, make_tasks, rows_with_image
from xlingual.evaluation.run import Options
from xlingual.files import atomic_file, make_folder
from xlingual.integrations.loop_encoders import MODEL, RememberedImages, TrainedModel, check_model
from xlingual.measures import Measure, as_recall, as_success, parse_pool_measures, parse_rank_measures
from xlingual.results import Results, Summary
from xlingual.store import open_store
from xlingual.tasks import TASKS, load

try:
    from sentence_transformers.base.evaluation import SentenceEvaluator
except ImportError:  # before version 6
    from sentence_transformers.evaluation import SentenceEvaluator

# keywords of tasks that an evaluator sets itself
_OWN = ("text_encoders", "runs", "image_encoder", "store", "name")
_SAMPLES = ("pairs", "sample", "texts_per_item", "queries", "seeds", "seed")
_logger = logging.getLogger(__name__)


class _TaskEvaluator(SentenceEvaluator):  # type: ignore[misc]  # the library is untyped here
    """Runs a task on the model that is trained."""

    task: ClassVar[str]
    fast: ClassVar[Mapping[str, Any]] = {}  # settings that leave out what only a report shows

    def __init__(
        self,
        data: Any,  # noqa: ANN401  (a manifest or a pool)
        name: str,
        settings: Mapping[str, Any],
        *,
        batch_size: int = 32,
        show_progress_bar: bool = False,
        write_csv: bool = True,
        truncate_dim: int | None = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
        **options: Any,  # noqa: ANN401  (of the task's function)
    ) -> None:
        super().__init__()
        row = TASKS[self.task]
        self.function = load(row.evaluation)
        parameters = list(signature(self.function).parameters.values())[1:]
        known = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name not in _OWN]
        for given in options:
            if given not in known:
                raise TypeError(f"unexpected option {given!r}.{did_you_mean(given, known)}")
        self.data, self.name, self.write_csv = data, name, write_csv
        self.given, self.options = options, {**self.fast, **options, **settings}
        self.encoding = {
            "batch_size": batch_size,
            "show_progress_bar": show_progress_bar,
            **({} if truncate_dim is None else {"truncate_dim": truncate_dim}),
        }
        self.prompts = {
            "query": {"prompt": query_prompt, "prompt_name": query_prompt_name},
            "candidate": {"prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        }
        self.short = row.short[0]
        measure = self._headline()
        self.greater_is_better = measure.higher_is_better
        self.primary_metric = "_".join(filter(None, (name, self._metric(measure.name))))
        self.csv_file = (
            f"{'_'.join(filter(None, (self.description.replace(' ', '-'), 'evaluation', name)))}_results.csv"
        )
        self.results: Results | None = None  # of the last call, with intervals

    def __call__(
        self,
        model: Any,  # noqa: ANN401  (a SentenceTransformer)
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Return the metrics of a model, and write them to `output_path` and into its model card."""
        check_model(model)
        encoder = TrainedModel(model, self.encoding, self.prompts, f"epoch={epoch}&steps={steps}")
        found = self.function(self.data, text_encoders={MODEL: encoder}, store=None, **self.options)
        self.results = found
        _logger.info("%s of %s, epoch %s, step %s: %r", self.description, self.name, epoch, steps, found)
        metrics = {
            self._metric(line.measure, line): float(line.value)
            for line in found.summary
            if line.value is not None
        }
        if output_path is not None and self.write_csv:
            _add_row(Path(output_path, self.csv_file), {"epoch": epoch, "steps": steps, **metrics})
        metrics = dict(self.prefix_name_to_metrics(metrics, self.name))
        if self.primary_metric not in metrics:
            reasons = [line.note for line in found.summary if line.value is None and line.note]
            raise InputError(f"{self.primary_metric} has no value: {(reasons or ['the task gave none'])[0]}")
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings, for the model card."""
        prompts = {
            f"{side}_{kind}": text
            for role, side in (("query", "query"), ("candidate", "corpus"))
            for kind, text in self.prompts[role].items()
            if text is not None
        }
        dim = {key: value for key, value in self.encoding.items() if key == "truncate_dim"}
        plain = {
            key: value for key, value in self.given.items() if isinstance(value, str | int | list | tuple)
        }
        return {
            "task": self.task,
            "data": self.data.digest[:12],
            **plain,
            **dim,
            **prompts,
        }

    def _headline(self) -> Measure:
        """Return the measure of the primary metric; raise InputError where the data cannot be evaluated."""
        raise NotImplementedError

    def _metric(self, measure: str, line: Summary | None = None) -> str:
        """Return the name of a metric, such as en-de_bkr_r@10; the mean over pairs names none."""
        row = TASKS[self.task]
        tags = () if line is None else (line.source, line.target)
        pair = "-".join(tag for tag in tags if tag is not None and tag not in row.no_languages)
        return "_".join(filter(None, (pair, self.short, measure.lower())))


def _add_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a CSV file; names that its header lacks become new columns."""
    make_folder(path.parent)
    before = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for one in [*before, row] for name in one)))
        writer.writeheader()
        writer.writerows([*before, row])


class _PairEvaluator(_TaskEvaluator):
    """Evaluates language pairs of a manifest."""

    matching: ClassVar[bool]

    def _tasks(self) -> list[PairTask]:
        """Return the samples; raise InputError where none can be drawn."""
        chosen = {name: self.options[name] for name in _SAMPLES if name in self.options}
        return make_tasks(self.data, Options(**chosen), matching=self.matching)[0]


class BackretrievalEvaluator(_PairEvaluator):
    """Backretrieval (`xlingual.backretrieval`) of the model that is trained, without parallel texts.

    Metrics are `en-de_bkr_r@10` and `en-de_bkr_sim` for each language pair, and their means, `bkr_r@10` and
    `bkr_sim`; the primary one is the mean of the first measure. Images are encoded here, and in no call.

    Args:
        manifest: texts with images: a path, a Manifest, or data as `Manifest.of` takes them (a data frame, a
            `datasets.Dataset`), with the options of reading them, such as `image_column`.
        image_encoder: a spec, path or object, as of `backretrieval`.
        name: of the data; metrics and the CSV file have it.
        store: where vectors of images are kept and found; those of the trained model never are.
        more: `batch_size`, `show_progress_bar`, `write_csv`, `truncate_dim`, `query_prompt`,
            `query_prompt_name`, `corpus_prompt` and `corpus_prompt_name` as of the library's
            InformationRetrievalEvaluator; and any option of `backretrieval`: pairs, sample, seeds,
            measures, threads …

    """

    task = "backretrieval"
    fast: ClassVar[Mapping[str, Any]] = {"examples": False, "neighbours": False}
    matching = False

    def __init__(
        self,
        manifest: ManifestLike,
        image_encoder: EncoderLike,
        name: str = "",
        *,
        store: Any = "default",  # noqa: ANN401  (StoreLike)
        **more: Any,  # noqa: ANN401
    ) -> None:
        data = manifest_of(manifest, more)
        pairs = resolve_pairs(more.get("pairs"), data.languages)
        languages = list(dict.fromkeys(tag for pair in pairs for tag in pair))
        images, found = encoders.image_encoder(image_encoder, languages=languages)
        self.image_encoder = images
        settings = {"image_encoder": RememberedImages(images, found, open_store(store))}
        super().__init__(data, name, settings, **more)

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings, for the model card."""
        return {**super().get_config_dict(), "image_encoder": self.image_encoder}

    def _headline(self) -> Measure:
        tasks, images = self._tasks(), self.options["image_encoder"]
        ranked = as_recall(parse_rank_measures(self.options.get("measures", ()), beside=[SIM]))
        if not self.options.get("skip_broken"):
            refuse_small_pools(
                embed_images(self.data, images.name, images, rows_with_image(tasks)), tasks, ranked
            )
        return [*ranked, SIM][0]


class CrosslingualRetrievalEvaluator(_PairEvaluator):
    """True cross-lingual retrieval (`xlingual.crosslingual_retrieval`) of the model that is trained.

    Metrics are `en-de_xlr_r@10` for each language pair and `xlr_r@10`, their mean, which is the primary one;
    `success@10` where items have several texts of a language. Arguments as of `BackretrievalEvaluator`,
    without images.
    """

    task = "crosslingual-retrieval"
    fast: ClassVar[Mapping[str, Any]] = {"neighbours": False}
    matching = True

    def __init__(self, manifest: ManifestLike, name: str = "", **more: Any) -> None:  # noqa: ANN401
        super().__init__(manifest_of(manifest, more), name, {}, **more)

    def _headline(self) -> Measure:
        measures = self.options.get("measures", ())
        ranked, tasks = parse_rank_measures(measures), self._tasks()
        if not several_answers(self.data, tasks):
            ranked = as_recall(ranked)
        elif not measures:
            ranked = as_success(ranked)
        refuse_small_targets(tasks, ranked)
        return ranked[0]


class MultilingualPoolEvaluator(_TaskEvaluator):
    """Answers from a multilingual pool (`xlingual.multilingual_pool`, LAReQA) of the model that is trained.

    Metrics are `ar_lareqa_ap` for the questions of each language and `lareqa_ap` for all of them, which is
    the primary one. Views of language bias are left out unless `views` names some; they are in `results`.
    Other arguments as of `BackretrievalEvaluator`, and any option of `multilingual_pool`.
    """

    task = "multilingual-pool"
    fast: ClassVar[Mapping[str, Any]] = {"examples": False, "views": "none"}

    def __init__(self, pool: MultilingualPool | str | Path, name: str = "", **more: Any) -> None:  # noqa: ANN401
        data = MultilingualPool.read(pool) if isinstance(pool, str | Path) else pool
        super().__init__(data, name, {}, **more)

    def _headline(self) -> Measure:
        return parse_pool_measures(self.options.get("measures", ()))[0]
