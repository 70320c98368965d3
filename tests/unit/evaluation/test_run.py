"""What every run keeps: the time of stages, truncated texts, and what its numbers depend on."""

import numpy as np
import pyarrow as pa

from xlingual.embed.sides import TextVectors
from xlingual.encoders import adopt
from xlingual.evaluation.run import Options, Run
from xlingual.records import Texts
from xlingual.results import Results


class Lengths:
    identity = "lengths"

    def encode(self, batch):
        return np.array([[len(text), 1.0] for text in batch.text], np.float32)


def cut(truncated):
    return TextVectors(np.ones((2, 3), np.float32), np.arange(2), truncated)


def run_of(**options):
    run = Run("some-task", Options(**options))
    run.fit({"a": adopt(Lengths()), "b": adopt(Lengths())}, Texts(text=["x"], language=["en"], ids=["1"]))
    return run


def test_truncated_texts_add_up_over_batches_and_nothing_is_not_known():
    run = run_of()
    for found in (cut({"en": 2}), cut({"en": 1, "de": 4})):
        assert run.encode("a", lambda name, encoder, found=found: found) is found
    run.encode("b", lambda name, encoder: cut(None))
    assert run.finished(Results([], [], pa.table({}))).truncated == {"a": {"en": 3, "de": 4}}


def test_a_signature_begins_with_the_task_and_ends_with_the_system():
    run = run_of()
    signed = run.signature({"source": "en"}, "R@10", encoder=run.identities["a"])
    assert signed.startswith("task:some-task|source:en|measure:R@10|ties:expected|conventions:")
    assert "ties" not in run.signature({}, "Pearson", ties=None, encoder="e") and "lengths" in signed
