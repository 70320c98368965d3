"""An encoder of MTEB (its EncoderProtocol): it gets batches, the role, and a task's metadata made up."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.objects import in_words, is_a, unnamed
from xlingual.encoders.sentence_transformer import similarity_of
from xlingual.encoders.state_digest import is_plain, model_digest
from xlingual.errors import InputError
from xlingual.forms import array_of, refuse_bytes
from xlingual.records import Images, Texts, digest

_BATCH = 32
_NO_REVISION = (None, "", "external", "no_revision_available")
# the one class that computes what its model does, with prompts
_WRAPPER = "mteb.models.sentence_transformer_wrapper.SentenceTransformerEncoderWrapper"
_ST = "sentence_transformers"
_OF_MODEL = ("truncate_dim", "prompts", "default_prompt_name")
_SEVERAL = ("SparseEncoder", "MultiVectorEncoder")


class PromptType(StrEnum):
    """What MTEB calls the roles, for a model that is written without it."""

    query = "query"
    document = "document"


class Columns:
    """The part of a data set that encoders of MTEB look at: its features and columns."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = columns
        self.features = dict.fromkeys(columns, True)
        self.column_names = list(columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401  (a column, or a row)
        if isinstance(place, str):
            return self._columns[place]
        return {name: values[place] for name, values in self._columns.items()}


class Batches:
    """What MTEB hands to an encoder instead of a list: batches, each a mapping from column to values."""

    num_workers = 0
    collate_fn = None

    def __init__(self, columns: Mapping[str, Sequence[Any]], batch_size: int = _BATCH) -> None:
        self.dataset, self.batch_size, self._columns = Columns(columns), batch_size, columns

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self.dataset), self.batch_size):
            part = slice(start, start + self.batch_size)
            yield {name: list(values[part]) for name, values in self._columns.items()}


def task_metadata(languages: Sequence[str], *, images: bool) -> SimpleNamespace:
    """Return what stands in for the metadata of a task: a retrieval task that has no prompt of its own."""
    modalities = ["image"] if images else ["text"]
    return SimpleNamespace(
        name="xlingual",
        description="cross-lingual retrieval on data of the user's own",
        type="Retrieval",
        simplified_task_type="retrieval",
        prompt=None,
        category="i2i" if images else "t2t",
        modalities=modalities,
        get_modalities=lambda prompt_type=None: modalities,
        eval_langs=list(languages),
        languages=list(languages),
        eval_splits=["test"],
        main_score="hit_rate_at_10",
        domains=[],
        task_subtypes=[],
    )


class MtebObject(Encoder):
    """An encoder of MTEB as it is: sources and questions are queries, targets and answers documents."""

    origin = "general"
    by_role = True

    def __init__(self, target: Any, kind: str) -> None:  # noqa: ANN401
        self.target, self.kind = target, kind

    @property
    def content(self) -> tuple[str, ...]:
        """The text and its role; of images the bytes."""
        return ("bytes",) if self.kind == "images" else ("text", "language", "role")

    @property
    def identity(self) -> str:
        """The weights' digest, or name and revision of its model card; and its settings."""
        if self._known is not None:
            return f"mteb:{self._known}"
        name, own = _card(self.target)[0], unnamed(self.target, self.label)
        return f"{own}@{name}" if name else own

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether it is one of MTEB's own classes, and its weights, or a card and settings, tell all."""
        return self._known is not None

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model inside it compares vectors, else what its card says."""
        inner = getattr(self.target, "model", None)
        known = is_a(inner, _ST, "SentenceTransformer")
        return similarity_of(inner if known else getattr(self.target, "mteb_model_meta", None))

    def has_changed(self) -> bool:
        """Return whether the weights' digest is another one by now."""
        kind: Any = type(self)
        return bool(kind._known.func(self) != self._known)

    @cached_property
    def _known(self) -> str | None:
        """A card tells of MTEB's own code only, and nothing of weights in memory: they may be trained."""
        settings = dict(getattr(self.target, "__dict__", {}))
        settings.pop("mteb_model_meta", None)
        kind, meta = type(self.target), getattr(self.target, "mteb_model_meta", None)
        if not _is_own(self.target) or meta is None:
            return None
        if f"{kind.__module__}.{kind.__qualname__}" == _WRAPPER:
            model = settings.pop("model", None)
            if not is_a(model, _ST, "SentenceTransformer") or not is_plain(model):
                return None
            own = f"weights-{model_digest(model)}"
            settings["model"] = _of_model(model)
            settings["modalities"] = list(getattr(meta, "modalities", None) or ())
        else:
            name, revision = _card(self.target)
            if not name or revision in _NO_REVISION:
                return None
            own = f"{name}@{revision}"
            settings["experiment"] = getattr(meta, "experiment_kwargs", None)
        if not _is_simple(settings):
            return None
        text = f"{kind.__module__}.{kind.__qualname__} {json.dumps(settings, sort_keys=True)}"
        return f"{own}#{digest(text).hex()[:8]}"

    def encode(self, batch: Texts | Images, /) -> Vectors:
        """Return float32 [n, d]; raise InputError where it fails, or returns anything else."""
        if isinstance(batch, Images):
            return self._run({"image": batch.images}, list(batch.language), None)
        role = batch.role
        found: Vectors | None = None
        for language in dict.fromkeys(batch.language):  # an encoder may go by the language of its subset
            rows = np.array([row for row, tag in enumerate(batch.language) if tag == language])
            texts, index = distinct_rows([batch.text[int(row)] for row in rows])
            also = {"query": {"query": texts}, "candidate": {"body": texts}}.get(role or "", {})
            vectors = self._run({"text": list(texts), **also}, [language], role)[index]
            found = np.empty((len(batch), vectors.shape[1]), dtype=np.float32) if found is None else found
            found[rows] = vectors
        return np.empty((0, 0), dtype=np.float32) if found is None else found

    def _run(self, columns: Mapping[str, Sequence[Any]], languages: list[str], role: str | None) -> Vectors:
        count, who = len(next(iter(columns.values()))), type(self.target).__name__
        try:
            found = self.target.encode(
                Batches(columns),
                task_metadata=task_metadata(languages, images="image" in columns),
                hf_split="test",
                hf_subset=languages[0] if languages else "default",
                prompt_type=_prompt_type(role),
                batch_size=_BATCH,
                show_progress_bar=False,
            )
            array = array_of(found)
        except (InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(f"{who} (of MTEB): encoding {count:,} rows failed: {in_words(error)}") from error
        if array.dtype.kind not in "fiu" or array.ndim != 2 or len(array) != count:
            raise InputError(
                f"{who} (of MTEB): returned shape {array.shape} for {count:,} rows; expected a dense vector "
                "for each"
            )
        refuse_bytes(array, f"{who} (of MTEB): returned")
        return array.astype(np.float32)


def _prompt_type(role: str | None) -> Any:  # noqa: ANN401  (of MTEB where it is loaded)
    if role is None:
        return None
    kind = getattr(sys.modules.get("mteb.types"), "PromptType", PromptType)
    return kind("query" if role == "query" else "document")


def _is_own(target: Any) -> bool:  # noqa: ANN401
    """Return whether an encoder's class is MTEB's own: any other may do more than what it wraps."""
    return type(target).__module__.partition(".")[0] == "mteb"


def _card(target: Any) -> tuple[str | None, str | None]:  # noqa: ANN401
    """Return name and revision of the model card of an encoder."""
    meta = getattr(target, "mteb_model_meta", None)
    return getattr(meta, "name", None), getattr(meta, "revision", None)


def _of_model(model: Any) -> dict[str, Any]:  # noqa: ANN401  (a SentenceTransformer)
    """Return what the vectors of a model depend on besides its weights and the settings of its modules."""
    found = {name: getattr(model, name, None) for name in _OF_MODEL}
    dtype = str(next((weight.dtype for weight in model.parameters()), "torch.float32"))
    if dtype != "torch.float32":  # below it devices round differently
        found |= {"dtype": dtype, "device": model.device.type}
    return found


def _is_simple(value: object) -> bool:
    """Return whether a value is all that its text says: a number, a string, or a table of such."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_simple(one) for key, one in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_simple, value))
    return isinstance(value, str | int | float | bool | None)


def adapter_of(entry: Any, kind: str) -> Encoder:  # noqa: ANN401
    """Return the encoder; of a sparse or multi-vector model inside a class of MTEB, that model's own."""
    inner = getattr(entry, "model", None)
    if _is_own(entry) and is_a(inner, _ST, *_SEVERAL):
        from xlingual.encoders.base import adopt

        return adopt(inner, kind)
    return MtebObject(entry, kind)
