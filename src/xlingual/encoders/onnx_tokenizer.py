"""A tokenizer.json and the settings beside it, without transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xlingual.encoders.checkpoints import read_json
from xlingual.encoders.tokens import chosen_limit
from xlingual.errors import InputError

# settings that count besides tokenizer.json and the graph
SETTINGS = (
    *("tokenizer_config.json", "special_tokens_map.json", "config.json", "sentence_bert_config.json"),
    *("modules.json", "1_Pooling/config.json"),
)
_AFTER_PADDING = ("roberta", "camembert", "mpnet", "longformer")  # their positions begin behind the padding's
_NO_LIMIT = 10**6  # tokenizers without a limit say 10³⁰


class OnnxTokenizer:
    """A fast tokenizer that is called as one of transformers is: what `TextTokens` needs, and no more."""

    def __init__(self, folder: Path, typed: bool, who: str) -> None:
        from tokenizers import Tokenizer

        path = folder / "tokenizer.json"
        if not path.is_file():
            raise InputError(
                f"{who}: no tokenizer.json in the folder: save it with AutoTokenizer.from_pretrained(NAME)"
                ".save_pretrained(FOLDER)"
            )
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"{who}: tokenizer.json cannot be read ({str(error)[:200]})") from error
        padding = self._tokenizer.padding or {}
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.pad_token_id: int = padding.get("pad_id", self._pad(read_json(folder / "tokenizer_config.json")))
        self.model_input_names = ("input_ids", "token_type_ids") if typed else ("input_ids",)

    def __call__(
        self,
        texts: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        truncation: bool = False,
        max_length: int | None = None,
        **_: Any,  # noqa: ANN401  (what only tokenizers of transformers know)
    ) -> dict[str, Any]:
        """Return numbers by name: of one text a list, of several texts a list of lists."""
        if truncation and max_length is not None:
            self._tokenizer.enable_truncation(max_length)
        try:
            rows = [texts] if isinstance(texts, str) else list(texts)
            found = self._tokenizer.encode_batch(rows, add_special_tokens=add_special_tokens)
        finally:
            self._tokenizer.no_truncation()
        columns = {"input_ids": [row.ids for row in found], "token_type_ids": [row.type_ids for row in found]}
        chosen = {name: columns[name] for name in self.model_input_names}
        return {name: rows[0] for name, rows in chosen.items()} if isinstance(texts, str) else chosen

    def _pad(self, settings: dict[str, Any]) -> int:
        """Return the number of the padding token; 0 where there is none, since padding is masked."""
        named = settings.get("pad_token")
        tokens = (named.get("content") if isinstance(named, dict) else named, "[PAD]", "<pad>")
        numbers = (self._tokenizer.token_to_id(token) for token in tokens if isinstance(token, str))
        return next((int(number) for number in numbers if number is not None), 0)


def length_limit(folder: Path, wanted: int | None, made_for: int | None, who: str) -> int | None:
    """Return how many tokens are read at once: what is wanted, else the least that the settings allow.

    `made_for` is the number of tokens that the graph is made for, where it is made for one.
    """
    config = read_json(folder / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and any(part in str(config.get("model_type")) for part in _AFTER_PADDING):
        positions -= int(config.get("pad_token_id") or 0) + 1
    can = [limit for limit in (positions, made_for) if isinstance(limit, int) and limit > 0]
    told = (
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
        read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
    )
    known = (int(limit) for limit in told if limit and limit < _NO_LIMIT)
    return chosen_limit(who, wanted, min(can, default=None), *known)
