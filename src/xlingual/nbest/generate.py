"""Making the n-best lists of a file of sentences with a translation model of transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from xlingual.encoders.plugins import Known
from xlingual.encoders.spec import parse
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.hidden import shown
from xlingual.nbest.apply import read_texts
from xlingual.nbest.beam import Generator, Search
from xlingual.nbest.format import write_lines
from xlingual.nbest.normalize import UNKNOWN_LANGUAGE
from xlingual.nbest.parsing import line_of

FEATURES = (("logprob", 1), ("tokens", 1))
OPTIONS = ("device", "dtype", "revision")
DTYPES = ("float32", "float16", "bfloat16")


def generate_nbest(
    source: str | Path,
    out: str | Path,
    model: str,
    search: Search | None = None,
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
    generator = Generator(name, search or Search(), (source_language, target_language), **options)
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
