"""N-best lists of a file of sentences: beam search with a translation model of transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.batching import Memory, in_batches
from xlingual.encoders.checkpoints import model_folder
from xlingual.encoders.plugins import Known
from xlingual.encoders.spec import parse
from xlingual.encoders.torch_runtime import choose_device, require, running
from xlingual.encoders.translation_model import Loaded, load_network, set_languages
from xlingual.errors import InputError, did_you_mean, listed, warn
from xlingual.hidden import shown
from xlingual.nbest.apply import read_texts
from xlingual.nbest.format import write_lines
from xlingual.nbest.normalize import UNKNOWN_LANGUAGE
from xlingual.nbest.parsing import BARS, line_of

if TYPE_CHECKING:
    from torch import Tensor

FEATURES = (("logprob", 1), ("tokens", 1))
OPTIONS = ("device", "dtype", "revision")
DTYPES = ("float32", "float16", "bfloat16")
_DIGITS = 6  # of a log-probability: float32 has no more, and batches round differently
_PART = 16  # batches whose texts are sorted by length together
_CELLS = 1 << 26  # scores of words in memory at once, to read log-probabilities from: 256 MiB


@dataclass(frozen=True)
class BeamSearch:
    """How translations are searched for."""

    n: int = 20  # translations of a text
    beams: int | None = None  # width of the beam; None: n
    batch: int = 8  # texts of a batch
    max_tokens: int = 256  # of a translation

    def __post_init__(self) -> None:
        for name, value in (("--n", self.n), ("--batch", self.batch), ("--max-tokens", self.max_tokens)):
            if value < 1:
                raise InputError(f"{name} must be 1 or more: found {value}")
        if self.beams is not None and self.beams < self.n:
            raise InputError(f"--beams {self.beams} gives so many translations at most: lower --n {self.n}")


@dataclass(frozen=True)
class Hypothesis:
    """A translation: log p / tokens, and its number of tokens, the end of the sentence included."""

    text: str
    logprob: float
    tokens: int


def generate_nbest(
    source: str | Path,
    out: str | Path,
    model: str,
    search: BeamSearch | None = None,
    *,
    source_language: str = UNKNOWN_LANGUAGE,
    target_language: str = UNKNOWN_LANGUAGE,
    progress: Callable[[str, int, int], None] | None = None,
) -> int:
    """Write the n best translations of each line of `source` to `out`; return how many there are.

    `model` is hf:PATH or hf:NAME, with ?device=, dtype=, revision=. Lists hold different texts, so they may
    be shorter than n, the most probable first. Raises InputError where the model cannot be used.
    """
    name, options = _model(model)
    generator = Generator(name, search or BeamSearch(), (source_language, target_language), **options)
    texts = read_texts(source)
    made = 0

    def lines() -> Iterator[str]:
        nonlocal made
        for sentence, found in enumerate(generator.translations(texts, progress)):
            for one in found:
                made += 1
                values = [one.logprob, float(one.tokens)]
                yield line_of(sentence, one.text, FEATURES, values, one.logprob, ())

    write_lines(out, lines())
    return made


def _model(model: str) -> tuple[str, dict[str, str]]:
    """Return the name or folder that hf:… names, and its options."""
    spec = parse(model if model.startswith("hf:") else f"hf:{model}", Known())
    if spec.base is not None or not spec.argument:
        raise InputError(f"--model {shown(model)!r}: expected hf:PATH or hf:NAME, of a translation model")
    options = dict(spec.options)
    if wrong := [name for name in options if name not in OPTIONS]:
        raise InputError(
            f"--model {shown(model)!r}: no option {wrong[0]!r}.{did_you_mean(wrong[0], OPTIONS)} There are "
            f"{listed(OPTIONS)}"
        )
    if options.get("dtype", DTYPES[0]) not in DTYPES:
        raise InputError(f"--model: dtype={options['dtype']} is none of {listed(DTYPES)}")
    return spec.argument, options


class Generator:
    """Beam search with one network: the same on every run."""

    def __init__(
        self,
        name: str,
        search: BeamSearch,
        languages: tuple[str, str],
        *,
        device: str | None = None,
        dtype: str = "float32",
        revision: str | None = None,
    ) -> None:
        self.name, self.search, self.languages = name, search, languages
        self.device, self.dtype, self.revision = device, dtype, revision
        self.who = f"hf:{name}"
        self._memory = Memory()
        require(self.who, "hf", "torch", "transformers")

    @cached_property
    def network(self) -> Loaded:
        """The network and its tokenizer."""
        folder = model_folder(self.who, self.name, self.revision, "hf")
        return load_network(self.who, self.name, folder, choose_device(self.device, self.who), self.dtype)

    def translations(
        self, texts: Sequence[str], progress: Callable[[str, int, int], None] | None = None
    ) -> Iterator[list[Hypothesis]]:
        """Yield the list of each text, best first; texts that are too long are cut, with one warning."""
        loaded = self.network
        prefix, start = self._set_languages(loaded)
        cut = 0
        for first in range(0, len(texts), _PART * self.search.batch):
            part = texts[first : first + _PART * self.search.batch]
            ids = [loaded.tokenizer(prefix + text, verbose=False)["input_ids"] for text in part]
            for row, text in enumerate(part):
                if len(ids[row]) > loaded.limit:
                    cut += 1
                    kept = loaded.tokenizer(prefix + text, truncation=True, max_length=loaded.limit)
                    ids[row] = kept["input_ids"]
                ids[row] = ids[row] or [loaded.tokenizer.pad_token_id]

            def done(count: int, before: int = first) -> None:
                if progress is not None:
                    progress("translating", before + count, len(texts))

            yield from self._part(ids, start, done)
        if cut:
            warn(
                f"{self.who}: {cut:,} of {len(texts):,} texts were longer than the {loaded.limit} tokens "
                "that it reads and were cut: their ends are not translated"
            )

    def _set_languages(self, loaded: Loaded) -> tuple[str, int | None]:
        try:
            return set_languages(loaded, *self.languages, self.who)
        except InputError as error:
            if UNKNOWN_LANGUAGE not in self.languages:
                raise
            raise InputError(f"{error}: give --source-language and --target-language") from error

    def _part(
        self, ids: Sequence[list[int]], start: int | None, done: Callable[[int], None]
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = [[] for _ in ids]

        def run(rows: Ints) -> Vectors:
            chosen = self._searched([ids[row] for row in rows.tolist()], start)
            for row, hypotheses in zip(rows.tolist(), chosen, strict=True):
                found[row] = hypotheses
            done(sum(map(bool, found)))
            return np.zeros((len(rows), 1), dtype=np.float32)  # batching is made for vectors; none here

        in_batches([len(one) for one in ids], self.search.batch, run, who=self.who, memory=self._memory)
        return found

    def _searched(self, texts: Sequence[list[int]], start: int | None) -> list[list[Hypothesis]]:
        """Return the translations of a batch of texts given as tokens."""
        import torch

        loaded, n = self.network, self.search.n
        pad, width = loaded.tokenizer.pad_token_id, max(map(len, texts))
        ids = torch.tensor([text + [pad] * (width - len(text)) for text in texts]).to(loaded.model.device)
        mask = torch.tensor([[1] * len(text) + [0] * (width - len(text)) for text in texts]).to(ids.device)
        forced = {} if start is None else {"forced_bos_token_id": start}
        with running(self.who), torch.inference_mode():
            sequences = loaded.model.generate(
                input_ids=ids,
                attention_mask=mask,
                num_beams=self.search.beams or self.search.n,
                num_return_sequences=self.search.n,
                do_sample=False,
                length_penalty=1.0,  # ranks by what the feature is: log p / tokens
                max_length=None,
                max_new_tokens=min(self.search.max_tokens, loaded.limit),
                **forced,
            )
            logprobs, lengths = self._measured(ids, mask, sequences, start)
        words = loaded.tokenizer.batch_decode(sequences.tolist(), skip_special_tokens=True)
        made = [
            Hypothesis(_one_line(text), round(value, _DIGITS), length)
            for text, value, length in zip(words, logprobs, lengths, strict=True)
        ]
        return [_different(made[at : at + n]) for at in range(0, len(made), n)]

    def _measured(
        self, ids: Tensor, mask: Tensor, sequences: Tensor, start: int | None
    ) -> tuple[list[float], list[int]]:
        """Return log p / tokens, and tokens, of each sequence [texts · n, length].

        From the network's own probabilities of each word given those before: what the search adds (words
        that it forces or forbids) has no part. Neither the first token, which says that translation begins,
        nor that of the language counts.
        """
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        model, n = self.network.model, self.search.n
        states = model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        step = max(1, _CELLS // (sequences.shape[1] * int(model.config.vocab_size)))
        logprobs: list[float] = []
        lengths: list[int] = []
        for at in range(0, len(sequences), step):
            part = sequences[at : at + step]
            rows = torch.arange(at, at + len(part), device=ids.device) // n
            logits = model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states[rows]),
                attention_mask=mask[rows],
                decoder_input_ids=part[:, :-1],
            ).logits
            target = part[:, 1:]
            counted = self._counted(target, start)
            own = torch.gather(torch.log_softmax(logits.float(), dim=-1), 2, target[:, :, None])[:, :, 0]
            number = counted.sum(dim=1)
            total = torch.where(counted, own, torch.zeros_like(own)).sum(dim=1)
            logprobs += (total / number.clamp(min=1)).tolist()
            lengths += number.tolist()
        return logprobs, lengths

    def _counted(self, target: Tensor, start: int | None) -> Tensor:
        """Return which tokens count, bool [n, length]: up to the end of the sentence, which counts too."""
        import torch

        config = self.network.model.generation_config
        end = config.eos_token_id if config.eos_token_id is not None else self.network.tokenizer.eos_token_id
        ends = torch.isin(target, torch.tensor(end if isinstance(end, list) else [end], device=target.device))
        counted = torch.cumsum(ends, dim=1) - ends.long() == 0
        if start is not None:
            counted[:, 0] = False
        return counted


def _different(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses with different texts, the most probable first and of equal texts that one."""
    found: dict[str, Hypothesis] = {}
    for one in sorted(hypotheses, key=lambda one: -one.logprob):
        found.setdefault(one.text, one)
    return list(found.values())


def _one_line(text: str) -> str:
    """Return a text that can stand in a list: single blanks, no bars."""
    return " ".join(text.replace(BARS, "| | |").split())
