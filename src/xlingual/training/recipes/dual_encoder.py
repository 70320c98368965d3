"""The recipe of LAReQA's dual encoders: pairs of a regime, in-batch sampled softmax.

The input of the towers for questions and answers is prepared once, before the training.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.encoders.tokens import Features, TextTokens
from xlingual.encoders.trained import CANDIDATE, QUERY, with_context
from xlingual.errors import InputError
from xlingual.models.dual_encoder import DualEncoder, wide
from xlingual.models.texts import FIRST, TextFeatures, Vocabulary, padded
from xlingual.models.words import tokens
from xlingual.records import Texts
from xlingual.training.parallel import ParallelQuestions
from xlingual.training.precision import in_batches
from xlingual.training.recipe import Loss
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.training.recipes.regimes import PairBatch, make_regime
from xlingual.training.recipes.softmax import softmax_loss


class Inputs(Protocol):
    """The texts of questions and answers, as a tower takes them."""

    def of(self, role: str, rows: Ints) -> tuple[Tensor, ...]:
        """Return what the tower takes for rows of the questions ("query") or answers ("candidate")."""


@dataclass(frozen=True)
class WordInputs:
    """The features of all texts of a role, one after the other, and where each text's begin."""

    features: dict[str, np.ndarray]  # int32 [all]
    first: dict[str, Ints]  # [texts + 1]

    def of(self, role: str, rows: Ints) -> tuple[Tensor, ...]:
        """Return the features of the rows one after the other, and where each begins."""
        first = self.first[role]
        counts = first[rows + 1] - first[rows]
        starts = np.cumsum(counts) - counts
        place = np.repeat(first[rows] - starts, counts) + np.arange(counts.sum())
        return torch.from_numpy(self.features[role][place].astype(np.int64)), torch.from_numpy(starts)


@dataclass(frozen=True)
class VectorInputs:
    """Vectors [n, d] of each role, mapped into memory."""

    vectors: dict[str, Vectors]

    def of(self, role: str, rows: Ints) -> tuple[Tensor, ...]:
        """Return the vectors of the rows."""
        return (torch.from_numpy(np.array(self.vectors[role][rows], dtype=np.float32)),)


@dataclass(frozen=True)
class TokenInputs:
    """Tokens of each text of a role."""

    pieces: dict[str, list[Features]]
    padding: int
    truncated: dict[str, int]  # texts that are cut

    def of(self, role: str, rows: Ints) -> tuple[Tensor, ...]:
        """Return the tokens, padded."""
        own = self.pieces[role]
        return tuple(
            torch.from_numpy(part) for part in padded([own[row] for row in rows.tolist()], self.padding)
        )


class DualRecipe:
    """A model, its batches and its loss, for the fit loop.

    Raises InputError where the data does not have what the regime needs.
    """

    def __init__(
        self, model: DualEncoder, data: ParallelQuestions, inputs: Inputs, options: DualOptions
    ) -> None:
        self.model, self.data, self.inputs, self.options = model, data, inputs, options
        self._regime = make_regime(options.regime, data, options.batch, options.seed, options.language)

    def steps(self, epoch: int) -> int:
        """Return how many batches an epoch has."""
        return self.options.steps or self._regime.batches_of_a_pass

    def batches(self, epoch: int) -> Iterator[PairBatch]:
        """Yield the batches of an epoch: a pure function of the seed and the epoch."""
        steps = self.steps(epoch)
        return map(self._regime.batch, range((epoch - 1) * steps, epoch * steps))

    def loss(self, batch: PairBatch, /) -> Loss:
        """Return the mean loss of the pairs of a batch; `right` is the share that is ranked first."""
        questions, answers = self._encoded(QUERY, batch.asked), self._encoded(CANDIDATE, batch.answered)
        options = self.options
        with torch.autocast(questions.device.type, enabled=False):
            loss = softmax_loss(
                wide(questions),
                wide(answers),
                self.model.scale,
                positive=options.positive,
                sub_batch=options.sub_batch,
            )
        share = loss.right / max(1, loss.count)
        return Loss(loss.value, 1, {"right": share, "scale": float(self.model.scale.detach())})

    def rows(self, batch: PairBatch, /) -> Sequence[str]:
        """Return the ids of the questions of a batch."""
        return [self.data.ids[row] for row in batch.question.tolist()]

    def _encoded(self, role: str, rows: Ints) -> Tensor:
        """Return the vectors [b, d] of texts, in mini-batches where these are asked for.

        Of several, what a network computes on the way is not kept: it is computed again, with the same
        dropout, when the gradient of the whole batch with respect to their vectors is known (Gao, Zhang, Han
        and Callan 2021, "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup").
        """
        device, size = self.model.log_scale.device, self.options.mini_batch or max(1, len(rows))

        def encode(*inputs: Tensor) -> Tensor:
            return self.model.encode(role, *inputs)

        parts = [
            [tensor.to(device) for tensor in self.inputs.of(role, rows[start : start + size])]
            for start in range(0, len(rows), size)
        ]
        if len(parts) == 1:
            return encode(*parts[0])
        return torch.cat([checkpoint(encode, *part, use_reentrant=False) for part in parts])


def encoded(model: DualEncoder, inputs: Inputs, role: str, rows: Ints, batch: int = 256) -> Vectors:
    """Return the vectors [n, dim] of texts of a role, without dropout."""
    device = model.log_scale.device

    def encode(part: Ints) -> Tensor:
        return model.encode(role, *(tensor.to(device) for tensor in inputs.of(role, rows[part])))

    return in_batches(model, np.arange(len(rows)), model.config.dim, batch, encode)


def word_features(data: ParallelQuestions, options: DualOptions) -> TextFeatures:
    """Return the features that occur in the questions of `data` and their answers, in all languages."""
    counts: Counter[str] = Counter()
    for words in _training_words(data, bool(options.context)):
        counts.update(words)
    vocabulary = Vocabulary.of(counts, options.threshold, options.most_words)
    if len(vocabulary) == FIRST and options.ngrams is None:
        raise InputError(
            f"{data.source}: no word occurs {options.threshold} times or more: lower the threshold, or read "
            "n-grams"
        )
    return TextFeatures(vocabulary, options.ngrams, 0 if options.ngrams is None else options.buckets)


def word_inputs(data: ParallelQuestions, features: TextFeatures, context: bool) -> WordInputs:
    """Return the features of all texts."""
    found, first = {}, {}
    for role, texts in ((QUERY, data.questions), (CANDIDATE, data.answers)):
        numbers, ends = array("i"), array("q", [0])
        for text, tag in zip(_read(texts, context), texts.language, strict=True):
            numbers.extend(features.of(text, tag))
            ends.append(len(numbers))
        found[role], first[role] = np.array(numbers, dtype=np.int32), np.array(ends, dtype=np.int64)
    return WordInputs(found, first)


def inverse_document_frequency(data: ParallelQuestions, features: TextFeatures, context: bool) -> Floats:
    """Return ln((1 + N)/(1 + n)) + 1 for each feature, n of N texts of the training data having it."""
    count, df = 0, np.zeros(len(features))
    for words in _training_words(data, context):
        df[features.of_words(words)] += 1
        count += 1
    weights: Floats = np.log((1 + count) / (1 + df)) + 1
    return weights


def token_inputs(data: ParallelQuestions, reader: TextTokens, context: bool) -> TokenInputs:
    """Return the tokens of all texts; with `context` answers are pairs of an answer and its context."""
    pairs = data.answers.context if context else ()
    pieces = {
        QUERY: reader.pieces(data.questions.text),
        CANDIDATE: reader.pieces(data.answers.text, list(pairs)),
    }
    return TokenInputs(
        {role: piece.features for role, piece in pieces.items()},
        reader.tokenizer.pad_token_id or 0,
        {role: int(piece.truncated.sum()) for role, piece in pieces.items()},
    )


def _training_words(data: ParallelQuestions, context: bool) -> Iterable[list[str]]:
    """Yield the words of each text that is asked, or answers, once."""
    for texts, rows in ((data.questions, data.asked[data.asked >= 0]), (data.answers, data.answered)):
        read = _read(texts, context)
        for row in np.unique(rows).tolist():
            yield tokens(read[row], texts.language[row])


def _read(texts: Texts, context: bool) -> Sequence[str]:
    return with_context(texts) if context else texts.text
