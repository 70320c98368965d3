"""A recipe that is done in no time: a line through points, with dropout and batches drawn anew each epoch."""

import json
import os

import pytest

from xlingual.streams import stream


@pytest.fixture(autouse=True)
def _swift(monkeypatch):
    """Wait for no disk, and use one thread: several wait for each other longer than these sums take."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def toy():
    """Give the class of the recipe; `spoil`(epoch, batch) may return a function that breaks the loss."""
    torch = pytest.importorskip("torch")
    from xlingual.training.loop import Loss, ValidationScores

    class Toy:
        def __init__(self, seed=0, n=40, dim=5, batch=8, dropout=0.5, spoil=None):
            made = torch.Generator().manual_seed(7)
            self.x = torch.randn(n, dim, generator=made)
            self.y = self.x @ torch.arange(1.0, dim + 1)
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                self.model = torch.nn.Sequential(
                    torch.nn.Linear(dim, 6), torch.nn.Dropout(dropout), torch.nn.Linear(6, 1)
                )
            self.seed, self.batch, self.seen = seed, batch, []
            self.spoil = spoil or (lambda epoch, number: None)

        def steps(self, epoch):
            return -(-len(self.x) // self.batch)

        def batches(self, epoch):
            order = stream(self.seed, f"order {epoch}").permutation(len(self.x))
            for number, start in enumerate(range(0, len(order), self.batch), start=1):
                self.seen.append((epoch, number))
                yield torch.from_numpy(order[start : start + self.batch])

        def loss(self, batch):
            error = self.model(self.x[batch]).squeeze(1).float() - self.y[batch]
            value = (error**2).sum()
            spoilt = self.spoil(*self.seen[-1])
            parts = {"l1": float(error.detach().abs().sum())}
            return Loss(value if spoilt is None else spoilt(value), len(batch), parts)

        def rows(self, batch):
            return [f"row{number}" for number in batch.tolist()]

        def validate(self, model, epoch):
            assert not model.training and not torch.is_grad_enabled()
            mse = float(((model(self.x).squeeze(1) - self.y) ** 2).mean())
            return ValidationScores(-mse, {"mse": mse})

    return Toy


@pytest.fixture
def log_of():
    """Give a function that reads a training log without the times, which differ from run to run."""

    def read(folder):
        lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        assert all(line.pop("seconds") >= 0 for line in lines)
        return lines

    return read
