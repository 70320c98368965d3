"""Sparse encoders and multi-vector encoders of sentence-transformers, scored as they are.

A `SparseEncoder` (SPLADE) gives sparse rows, compared by dot product; a `MultiVectorEncoder` (ColBERT) gives
a vector for each token, compared by MaxSim. `adapter_of` takes loaded objects; `st:` loads folders of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows, in_parts, is_out_of_memory
from xlingual.encoders.checkpoints import SPARSE, TOKENS, check_tokenizer, check_weights
from xlingual.encoders.networks import TextNetworkEncoder
from xlingual.encoders.objects import is_a, unnamed
from xlingual.encoders.prompts import named_prompts
from xlingual.encoders.remote_code import OPTION, say
from xlingual.encoders.sentence_transformer import prompts_in
from xlingual.encoders.state_digest import Digested, is_plain, model_digest
from xlingual.encoders.tokens import chosen_limit, stated_limit
from xlingual.encoders.torch_runtime import (
    choose_device,
    loading,
    randomly_initialized,
    refuse_random,
    running,
    torch_dtype,
)
from xlingual.encoders.transformer_text import position_limit
from xlingual.errors import InputError, warn
from xlingual.forms import COSINE, DOT, MAXSIM, MEAN_MAXSIM, OtherVectors, SparseVectors, TokenVectors
from xlingual.records import Encoded, Texts, digest

_COMPARED = {SPARSE: (DOT, COSINE), TOKENS: (MAXSIM, MEAN_MAXSIM)}
_METHODS = {"query": "encode_query", "candidate": "encode_document"}
_LENGTHS = {"query": "query_length", "candidate": "document_length"}
_SETTINGS = ("prompts", "default_prompt_name", "similarity_fn_name", "max_seq_length", "max_active_dims")
_BATCH = 32


def kind_of_model(model: object) -> str | None:
    """Return "SparseEncoder" or "MultiVectorEncoder" for an object of that class, or of one below it."""
    return next((kind for kind in _COMPARED if is_a(model, "sentence_transformers", kind)), None)


def adapter_of(model: Any, kind: str = "texts") -> Encoder:  # noqa: ANN401  (of the library's classes)
    """Return the encoder of texts that a loaded SparseEncoder or MultiVectorEncoder stands for."""
    found = kind_of_model(model)
    if found is None:
        raise InputError(f"expected a SparseEncoder or MultiVectorEncoder, found {type(model).__name__}")
    if kind != "texts":
        raise InputError(f"a {found} encodes texts: give it as a text encoder")
    return ModelObject(model, found)


class ModelObject(Digested, Encoder):
    """A loaded model, used as the library does: its own prompts, lengths and masks by role."""

    origin = "general"
    by_role = True
    opens_images = False

    def __init__(self, model: Any, kind: str) -> None:  # noqa: ANN401
        self.model, self.kind = model, kind

    @cached_property
    def identity(self) -> str:
        """A digest of the weights, the tokenizer and the settings, those of prompts and scores among them."""
        if not is_plain(self.model):
            return unnamed(self.model, self.label)
        stated = {name: getattr(self.model, name, None) for name in _SETTINGS}
        own = digest(json.dumps(stated, sort_keys=True, default=str)).hex()[:8]
        return f"st:weights-{model_digest(self.model)}?settings={own}"

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether the weights and settings tell all."""
        return is_plain(self.model)

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role")

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the vectors in the model's own form, and which texts were cut; it may be in training."""
        training, who = self.model.training, type(self.model).__name__
        try:
            return in_parts(lambda part: encoded(self.model, self.kind, part, who), batch)
        finally:
            self.model.train(training)


class ModelFolder(TextNetworkEncoder):
    """A folder of a model, by `st:`; the library's own prompts count where the options name none."""

    opens_images = False
    kinds = (SPARSE, TOKENS)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Yes: such models may read queries and documents in different ways."""
        return True

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        if options["dim"] is not None:
            raise InputError(f"{who}: dim={options['dim']} is of dense vectors: leave it out")
        super().__init__(folder, {**options, **named_prompts(who, options, prompts_in(folder))}, who)
        check_weights(who, folder, modules=True)
        check_tokenizer(who, folder, modules=True)

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role")

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files, the prompts that are given and the options that change vectors."""
        stated = {name: self.options[name] for name in ("prompt", "query_prompt", "candidate_prompt")}
        given = {name: quote(text, safe="") for name, text in stated.items() if text is not None}
        prompts = "".join(f"&{name}={text}" for name, text in given.items())
        prompts += "" if self.options["prompts"] == "model" else "&prompts=none"
        options = self.stated("dtype", "max_length", OPTION)
        return f"st:{self.digest}?{options}{self.stated_device()}{prompts}"

    @property
    def kind(self) -> str:
        """Which kind of model the files say that this is."""
        return str(self.found_kind)

    @cached_property
    def model(self) -> Any:  # noqa: ANN401  (a SparseEncoder or MultiVectorEncoder)
        """The model, read from the files that the identity is of."""
        import sentence_transformers

        device, dtype = choose_device(self.options["device"], self.who), torch_dtype(self.options["dtype"])
        library = getattr(sentence_transformers, self.kind, None)
        if library is None:
            raise InputError(
                f"{self.who}: is a {self.kind}, which the installed sentence-transformers "
                f"{sentence_transformers.__version__} does not know: pip install -U sentence-transformers"
            )
        runs_code = self.runs_code
        if runs_code:
            say(self.who, self.options)
        with self.unchanged(), loading(self.who) as messages:
            model = library(
                str(self.folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=runs_code,
                model_kwargs={"use_safetensors": True, "dtype": dtype},
            )
        network = getattr(model[0], "auto_model", None)
        refuse_random(
            self.who,
            randomly_initialized(messages),
            getattr(getattr(network, "config", None), "model_type", "?"),
        )
        limit = None if network is None else position_limit(network, network.config)
        stated = stated_limit(getattr(model, "tokenizer", None))
        if self.options["max_length"] is not None:
            model.max_seq_length = chosen_limit(self.who, self.options["max_length"], limit, stated)
        return model.to(dtype).eval()

    def _encoded(self, batch: Texts) -> Encoded:
        prompt, own = self.prompts.before(batch.role), f"{batch.role}_prompt"
        given = any(self.options.get(name) is not None for name in ("prompt", own))
        kept = prompt if given or self.options["prompts"] == "none" else None  # None: the model's own
        return encoded(self.model, self.kind, batch, self.who, kept, self.options["batch"])


def encoded(
    model: Any,  # noqa: ANN401
    kind: str,
    batch: Texts,
    who: str,
    prompt: str | None = None,
    batch_size: int = _BATCH,
) -> Encoded:
    """Return the model's vectors of texts, equal ones encoded once, and which texts were cut.

    Without a `prompt` the model's own for the role counts.
    """
    compared_by = str(model.similarity_fn_name)
    if compared_by not in _COMPARED[kind]:
        raise InputError(
            f"{who}: compares by {compared_by}, which is a distance and not ranked here: set its "
            f"similarity_fn_name to {' or '.join(map(repr, _COMPARED[kind]))}"
        )
    texts, index = distinct_rows(batch.text)
    method = getattr(model, _METHODS.get(batch.role or "", "encode"))
    with running(who) if texts else nullcontext():
        vectors = _fitting(lambda size: _vectors(method, texts, kind, prompt, size), batch_size, who)
    found = replace_comparison(vectors, compared_by)
    return Encoded(found[index], _cut(model, texts, batch.role, prompt)[index])


def replace_comparison(vectors: OtherVectors, compared_by: str) -> OtherVectors:
    """Return the same vectors, compared in this way."""
    if isinstance(vectors, SparseVectors):
        return SparseVectors(vectors.matrix, compared_by)
    return TokenVectors(vectors.vectors, vectors.bounds, compared_by)


def _vectors(
    method: Callable[..., Any], texts: list[str], kind: str, prompt: str | None, size: int
) -> OtherVectors:
    options: dict[str, Any] = {"batch_size": size, "show_progress_bar": False}
    if prompt is not None:
        options["prompt"] = prompt
    if kind == TOKENS:
        found = method(texts, convert_to_numpy=True, **options)
        return TokenVectors.of([np.asarray(one, dtype=np.float32) for one in found])
    from scipy.sparse import coo_array

    rows = method(texts, convert_to_tensor=True, convert_to_sparse_tensor=True, save_to_cpu=True, **options)
    rows = rows.coalesce()
    places, values = rows.indices().numpy(), rows.values().float().numpy()
    return SparseVectors.of(coo_array((values, tuple(places)), shape=tuple(rows.shape)))


def _fitting(run: Callable[[int], OtherVectors], size: int, who: str) -> OtherVectors:
    """Return what `run` returns for batches of a size; of half of it, and so on, where memory runs out."""
    refused = 0
    while True:
        try:
            found = run(size)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if size == 1:
                raise InputError(
                    f"{who}: out of memory with a single text: lower max_length, choose dtype=float16, a "
                    "smaller model or device=cpu"
                ) from None
            refused, size = refused or size, size // 2
            continue
        if refused:
            warn(
                f"{who}: a batch of {refused} did not fit into memory, one of {size} did: write batch={size}"
            )
        return found


def _cut(model: Any, texts: Sequence[str], role: str | None, prompt: str | None) -> np.ndarray:  # noqa: ANN401
    """Return which texts have more tokens than the model reads in their role, bool [n]."""
    tokenizer = getattr(model, "tokenizer", None)
    limit = getattr(model[0], _LENGTHS.get(role or "", ""), None) or getattr(model, "max_seq_length", None)
    if not texts or not callable(tokenizer) or not isinstance(limit, int):
        return np.zeros(len(texts), dtype=np.bool_)
    named = {"query": "query", "candidate": "document"}.get(role or "", model.default_prompt_name or "")
    before = (model.prompts or {}).get(named, "") if prompt is None else prompt
    tokens = tokenizer([before + text for text in texts], truncation=False, verbose=False)["input_ids"]
    return np.array([len(one) > limit for one in tokens], dtype=np.bool_)
