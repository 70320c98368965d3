"""A text network of transformers: loaded, run on padded tokens, pooled to one vector for each text."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.arrays import Vectors
from xlingual.encoders.tokens import (
    Features,
    check_pieces,
    check_vocabulary,
    chosen_limit,
    embedding_rows,
    padded,
    stated_limit,
)
from xlingual.encoders.torch_runtime import choose_device, loading, pretrained, refuse_random, running
from xlingual.errors import InputError


class TextNetwork:
    """A tokenizer and a network, and how its hidden states become one vector.

    `pool`: mean over all tokens but padding; the first token (cls); the last one (last); what the network's
    own head makes of the first one (pooler); features (the projection of a network for texts and images).
    """

    def __init__(
        self, folder: Path, options: Mapping[str, Any], pool: str, who: str, *, runs_code: bool = False
    ) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        self.who, self.pool = who, pool
        self.device = choose_device(options["device"], who)

        with loading(who), torch.no_grad():
            self.tokenizer = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=runs_code
            )
            model, *lacking = pretrained(AutoModel, folder, options["dtype"], trust_remote_code=runs_code)
            self.config = model.config
            self._refuse_random(*lacking)
            if self.config.is_encoder_decoder:
                model = model.get_encoder()
            self.model = model.to(self.device).eval()
        self._rows = embedding_rows(self.model)
        check_vocabulary(who, self.tokenizer, self._rows)
        self.tokenizer.padding_side = "right"
        self.accepts = frozenset(inspect.signature(self.model.forward).parameters)
        self.limit = position_limit(self.model, self.config)
        self._check_pool()

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        if self.pool == "features":
            text = self.config.text_config
            sizes = (getattr(self.config, "projection_dim", None), getattr(text, "projection_size", None))
            return int(next((size for size in sizes if size), text.hidden_size))
        return int(getattr(self.config, "hidden_size", 0) or 0)

    def max_length(self, wanted: int | None) -> int | None:
        """Return how many tokens are read at once: `wanted`, else the smallest limit that is stated."""
        return chosen_limit(self.who, wanted, self.limit, stated_limit(self.tokenizer))

    def run(self, pieces: Sequence[Features]) -> Vectors:
        """Return float32 [n, d] for pieces of any lengths; one without tokens has the zero vector."""
        import torch

        check_pieces(self.who, pieces, self._rows)
        full = self.max_length(None) or 0 if self._full_width else 0
        inputs = padded(pieces, self.tokenizer.pad_token_id or 0, full)
        with running(self.who), torch.inference_mode():
            there = {name: torch.from_numpy(values).to(self.device) for name, values in inputs.items()}
            tensors = {name: values for name, values in there.items() if name in self.accepts}
            vectors: Vectors = self._pooled(tensors, there["attention_mask"]).float().cpu().numpy()
        vectors[[not piece["input_ids"] for piece in pieces]] = 0
        return vectors

    @property
    def _full_width(self) -> bool:
        """SigLIP is trained on texts padded to full length, without a mask, and reads its last place."""
        return self.pool == "features" and str(self.config.model_type).startswith("siglip")

    def _pooled(self, tensors: Mapping[str, Any], mask: Any) -> Any:  # noqa: ANN401  (tensors)
        if self.pool == "features":
            names = ("input_ids",) if self._full_width else ("input_ids", "attention_mask")
            found = self.model.get_text_features(**{name: tensors[name] for name in names if name in tensors})
            return getattr(found, "pooler_output", found)
        out = self.model(**tensors, return_dict=True)
        if self.pool == "pooler":
            return out.pooler_output
        hidden = out.last_hidden_state.float()
        if self.pool == "cls":
            return hidden[:, 0]
        if self.pool == "last":
            return hidden[range(len(hidden)), mask.sum(dim=1) - 1]
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        return (hidden * weights).sum(dim=1) / weights.sum(dim=1)

    def _refuse_random(self, missing: Sequence[str], mismatched: Sequence[str]) -> None:
        """Raise InputError where weights that count would be random, since the checkpoint has none."""
        head = [name for name in missing if "pooler." in name]
        if head and self.pool == "pooler":
            raise InputError(f"{self.who}: the checkpoint has no pooler ({head[0]}): write pool=mean or cls")
        unread = ("pooler.", "decoder.") if self.config.is_encoder_decoder else ("pooler.",)
        absent = [name for name in missing if not any(part in name for part in unread)]
        refuse_random(self.who, [*absent, *mismatched], self.config.model_type)

    def _check_pool(self) -> None:
        if self.pool == "features":
            if not hasattr(self.model, "get_text_features"):
                raise InputError(f"{self.who}: the network gives no vectors of texts: write st:")
            return
        offered = {
            "mean": True,
            "cls": self.tokenizer.cls_token is not None,
            "last": True,
            "pooler": getattr(self.model, "pooler", None) is not None,
        }
        has = [pool for pool, there in offered.items() if there]
        if self.pool not in has:
            raise InputError(f"{self.who}: the model has no pool={self.pool}; it has {', '.join(has)}")


def position_limit(model: Any, config: Any) -> int | None:  # noqa: ANN401  (of any library)
    """Return how many tokens a network has positions for, None where there is no limit.

    Where padding has a position, as in RoBERTa, those up to it are not for tokens.
    """
    for name, part in model.named_modules():
        table = name.rpartition(".")[2]
        if table in ("position_embeddings", "position_embedding", "embed_positions", "wpe"):
            places = getattr(part, "num_embeddings", None)
            padding = getattr(part, "padding_idx", None)
            if places is not None and not name.startswith("vision"):
                return int(places) - (padding + 1 if padding is not None else getattr(part, "offset", 0))
    limit = getattr(config, "max_position_embeddings", None)
    return int(limit) if limit is not None and limit > 0 else None
