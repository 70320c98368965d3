"""A recipe that is done in no time: a line through points, with dropout and batches drawn anew each epoch."""

from __future__ import annotations

import torch
from torch import nn

from xlingual.streams import stream
from xlingual.training.loop import Loss, Scores


class Toy:
    """Linear regression; `batches` and `loss` may be broken on purpose by `spoil`(epoch, batch number)."""

    def __init__(self, seed=0, n=40, dim=5, batch=8, dropout=0.5, spoil=None):
        made = torch.Generator().manual_seed(7)
        self.x = torch.randn(n, dim, generator=made)
        self.y = self.x @ torch.arange(1.0, dim + 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = nn.Sequential(nn.Linear(dim, 6), nn.Dropout(dropout), nn.Linear(6, 1))
        self.seed, self.batch, self.spoil, self.seen = seed, batch, spoil or (lambda epoch, number: None), []

    def steps(self, epoch):
        return -(-len(self.x) // self.batch)

    def batches(self, epoch):
        order = stream(self.seed, f"order {epoch}").permutation(len(self.x))
        for number, start in enumerate(range(0, len(order), self.batch), start=1):
            self.seen.append((epoch, number))
            self.now = (epoch, number)
            yield torch.from_numpy(order[start : start + self.batch])

    def loss(self, batch):
        error = self.model(self.x[batch]).squeeze(1).float() - self.y[batch]
        value = (error**2).sum()
        spoilt = self.spoil(*self.now)
        return Loss(
            value if spoilt is None else spoilt(value), len(batch), {"l1": float(error.detach().abs().sum())}
        )

    def rows(self, batch):
        return [f"row{number}" for number in batch.tolist()]

    def validate(self, model, epoch):
        assert not model.training and not torch.is_grad_enabled()
        error = model(self.x).squeeze(1) - self.y
        return Scores(-float((error**2).mean()), {"mse": float((error**2).mean())})
