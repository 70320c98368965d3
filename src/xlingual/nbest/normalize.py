"""Bringing texts into the form that an encoder was made for, with sacremoses: the steps of Moses' scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xlingual.errors import InputError, MissingExtraError, did_you_mean, listed

# each step, in the order in which they are taken, whatever the order they are named in
STEPS = ("punctuation", "detokenize", "tokenize", "lowercase", "escape")
NONE = "none"
UNKNOWN_LANGUAGE = "und"


def parse_steps(text: str | Sequence[str], option: str = "--normalize") -> tuple[str, ...]:
    """Return the steps of "tokenize,lowercase" or of a sequence, in their order; "none" and "" are no steps.

    >>> parse_steps("escape,tokenize")
    ('tokenize', 'escape')
    """
    named = [step.strip() for step in text.split(",")] if isinstance(text, str) else list(text)
    named = [step for step in named if step not in ("", NONE)]
    for step in named:
        if step not in STEPS:
            raise InputError(
                f"{option} {step!r} is no step.{did_you_mean(step, STEPS)} There are {listed(STEPS)}, {NONE}"
            )
    if "detokenize" in named and {"tokenize", "escape"} & set(named):
        raise InputError(f"{option}: detokenize undoes tokenize and escape: choose one way")
    return tuple(step for step in STEPS if step in named)


def normalizer(steps: Sequence[str], language: str) -> Callable[[str], str]:
    """Return the function that takes the steps with a text of a language.

    punctuation: typographic signs become plain ones; tokenize: words and signs with blanks between;
    lowercase; escape: `&apos;`, `&quot;` … as in Moses' files; detokenize: back to running text, which undoes
    escapes too. Raises InputError where a step needs the language and it is not known.
    """
    by_language = [step for step in steps if step not in ("lowercase", "escape")]
    if by_language and language == UNKNOWN_LANGUAGE:
        raise InputError(
            f"--normalize {','.join(by_language)} goes by the language: "
            "give --source-language and --target-language"
        )
    functions = [_function(step, language) for step in steps]

    def apply(text: str) -> str:
        for function in functions:
            text = function(text)
        return text

    return apply


def _function(step: str, language: str) -> Callable[[str], str]:
    if step == "lowercase":
        return str.lower
    try:
        from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer
    except ImportError as error:
        raise MissingExtraError(f"--normalize {step}", "mt") from error
    short = language.partition("-")[0]  # sacremoses knows no regions
    if step == "punctuation":
        clean = MosesPunctNormalizer(short)
        return lambda text: str(clean.normalize(text))
    if step == "detokenize":
        back = MosesDetokenizer(short)
        return lambda text: str(back.detokenize(text.split(), unescape=True))
    tokenizer = MosesTokenizer(short)
    if step == "escape":
        return lambda text: str(tokenizer.escape_xml(text))
    return lambda text: str(tokenizer.tokenize(text, escape=False, return_str=True))
