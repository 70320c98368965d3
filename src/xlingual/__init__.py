"""Cross-lingual text embeddings, measured on your own data, without parallel corpora.

The public names below are loaded when they are first used: importing the package loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xlingual.comparison.compare import compare
    from xlingual.comparison.gate import gate
    from xlingual.comparison.history import history
    from xlingual.comparison.plan import plan
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.data.runs import SearchRun
    from xlingual.demo_data.scenes import write_scenes
    from xlingual.encoders.base import Encoder
    from xlingual.encoders.objects import encoder
    from xlingual.errors import DataWarning, InputError, XlingualError
    from xlingual.evaluation.backretrieval import backretrieval
    from xlingual.evaluation.backretrieval.check import check_backretrieval
    from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
    from xlingual.evaluation.distance_correlation import distance_correlation
    from xlingual.evaluation.image_sentence import image_sentence
    from xlingual.evaluation.metric_validation import validate_backretrieval, validation_of
    from xlingual.evaluation.multilingual_pool import multilingual_pool
    from xlingual.evaluation.retrieval import retrieval, runs_against_qrels
    from xlingual.evaluation.sts import sts
    from xlingual.forms import SparseVectors, TokenVectors
    from xlingual.inspection.inspect import inspect_results
    from xlingual.measures import parse_measure
    from xlingual.papers.table1 import ValidationTable, validation_table
    from xlingual.records import Images, Texts
    from xlingual.report import write_report
    from xlingual.results import Results
    from xlingual.results.comparison import Comparison
    from xlingual.results.gate import Gate
    from xlingual.results.leaderboard import Leaderboard
    from xlingual.results.plan import Plan
    from xlingual.results.validation import Validation
    from xlingual.store import Store
    from xlingual.workflows.leaderboard import leaderboard
    from xlingual.workflows.nearest import nearest
    from xlingual.workflows.pivoting import pivot_pairs, train_pivot
    from xlingual.workflows.repairing import repair_encoder
    from xlingual.workflows.study import new_study
    from xlingual.workflows.train_dual_encoder import train_dual_encoder
    from xlingual.workflows.train_mlmme import train_mlmme
    from xlingual.workflows.train_triplet import train_triplet

_HOMES = {
    "Comparison": "results.comparison",
    "DataWarning": "errors",
    "Encoder": "encoders.base",
    "Gate": "results.gate",
    "history": "comparison.history",
    "InputError": "errors",
    "Leaderboard": "results.leaderboard",
    "Manifest": "data.manifest",
    "MultilingualPool": "data.pools.pool",
    "Images": "records",
    "Plan": "results.plan",
    "Results": "results",
    "SearchRun": "data.runs",
    "Store": "store",
    "SparseVectors": "forms",
    "Texts": "records",
    "TokenVectors": "forms",
    "Validation": "results.validation",
    "ValidationTable": "papers.table1",
    "XlingualError": "errors",
    "backretrieval": "evaluation.backretrieval",
    "check_backretrieval": "evaluation.backretrieval.check",
    "compare": "comparison.compare",
    "repair_encoder": "workflows.repairing",
    "crosslingual_retrieval": "evaluation.crosslingual_retrieval",
    "distance_correlation": "evaluation.distance_correlation",
    "encoder": "encoders.objects",
    "gate": "comparison.gate",
    "image_sentence": "evaluation.image_sentence",
    "inspect_results": "inspection.inspect",
    "leaderboard": "workflows.leaderboard",
    "multilingual_pool": "evaluation.multilingual_pool",
    "nearest": "workflows.nearest",
    "new_study": "workflows.study",
    "parse_measure": "measures",
    "pivot_pairs": "workflows.pivoting",
    "plan": "comparison.plan",
    "retrieval": "evaluation.retrieval",
    "runs_against_qrels": "evaluation.retrieval",
    "sts": "evaluation.sts",
    "train_dual_encoder": "workflows.train_dual_encoder",
    "train_mlmme": "workflows.train_mlmme",
    "train_pivot": "workflows.pivoting",
    "train_triplet": "workflows.train_triplet",
    "validate_backretrieval": "evaluation.metric_validation",
    "validation_of": "evaluation.metric_validation",
    "validation_table": "papers.table1",
    "write_report": "report",
    "write_scenes": "demo_data.scenes",
}

__all__ = [
    "Comparison",
    "DataWarning",
    "Encoder",
    "Gate",
    "Images",
    "InputError",
    "Leaderboard",
    "Manifest",
    "MultilingualPool",
    "Plan",
    "Results",
    "SearchRun",
    "SparseVectors",
    "Store",
    "Texts",
    "TokenVectors",
    "Validation",
    "ValidationTable",
    "XlingualError",
    "backretrieval",
    "check_backretrieval",
    "compare",
    "crosslingual_retrieval",
    "distance_correlation",
    "encoder",
    "gate",
    "history",
    "image_sentence",
    "inspect_results",
    "leaderboard",
    "multilingual_pool",
    "nearest",
    "new_study",
    "parse_measure",
    "pivot_pairs",
    "plan",
    "repair_encoder",
    "retrieval",
    "runs_against_qrels",
    "sts",
    "train_dual_encoder",
    "train_mlmme",
    "train_pivot",
    "train_triplet",
    "validate_backretrieval",
    "validation_of",
    "validation_table",
    "write_report",
    "write_scenes",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (any public object)
    if name == "__version__":
        from importlib.metadata import version

        return version("xlingual")
    if name not in _HOMES:
        raise AttributeError(f"module 'xlingual' has no attribute {name!r}")
    return getattr(import_module(f"xlingual.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
