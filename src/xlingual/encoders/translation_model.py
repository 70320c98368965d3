"""Translation with a network of transformers: MarianMT, M2M-100, NLLB, mBART and others of their kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.checkpoints import (
    Watch,
    check_reader,
    check_weights,
    checkpoint_digest,
    model_folder,
)
from xlingual.encoders.runtime import (
    Batches,
    choose_device,
    device_part,
    loading,
    refuse_random,
    require,
    running,
)
from xlingual.encoders.wordlists import Translated
from xlingual.errors import InputError, listed
from xlingual.records import digest

_GROWTH, _SPARE = 2, 32  # a translation has at most _GROWTH · (tokens of the text) + _SPARE tokens
_LANGUAGE = re.compile(r"[a-z]{2,3}[_-][A-Za-z_]{2,}")  # a token that NLLB and mBART choose a language with
# ISO 639-1 → the ISO 639-3 code of NLLB: of a macrolanguage the member that is most written
_TABLE = """
af:afr am:amh ar:arb as:asm az:azj be:bel bg:bul bn:ben bo:bod bs:bos ca:cat cs:ces cy:cym da:dan
de:deu dz:dzo el:ell en:eng eo:epo es:spa et:est eu:eus fa:pes fi:fin fo:fao fr:fra ga:gle gd:gla
gl:glg gn:grn gu:guj ha:hau he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye id:ind ig:ibo is:isl it:ita
ja:jpn jv:jav ka:kat kk:kaz km:khm kn:kan ko:kor ku:kmr ky:kir lb:ltz lo:lao lt:lit lv:lvs mg:plt
mk:mkd ml:mal mn:khk mr:mar ms:zsm mt:mlt my:mya nb:nob ne:npi nl:nld nn:nno no:nob ny:nya om:gaz
or:ory pa:pan pl:pol ps:pbt pt:por rn:run ro:ron ru:rus rw:kin sa:san sd:snd si:sin sk:slk sl:slv
sm:smo sn:sna so:som sq:als sr:srp st:sot su:sun sv:swe sw:swh ta:tam te:tel tg:tgk th:tha ti:tir
tk:tuk tl:tgl tr:tur ts:tso tt:tat ug:uig uk:ukr ur:urd uz:uzn vi:vie wo:wol xh:xho yi:ydd yo:yor
zh:zho zu:zul
"""
_THREE_LETTERS = dict(pair.split(":") for pair in _TABLE.split())


class Network(NamedTuple):
    """A network and its tokenizer."""

    who: str  # in errors
    model: Any
    tokenizer: Any
    limit: int  # most tokens of a text


class TranslationModel:
    """Greedy search (or a beam of `beams`), the same on every run.

    `{lang}` in the name stands for the language of the source, for models of one pair; one of them is held at
    a time. Models of many languages get both languages.
    """

    def __init__(
        self,
        name: str,
        languages: Sequence[str],
        to: str,
        *,
        beams: int = 1,
        batch: int = 32,
        device: str | None = None,
        dtype: str = "float32",
        revision: str | None = None,
    ) -> None:
        self.name, self.languages, self.to = name, tuple(languages), to
        self.beams, self.device, self.dtype = beams, device, dtype
        self.revision = revision
        self._network: Network | None = None
        self._watch, self._batches = Watch(), Batches(batch, self._who(""))
        require(self._who(""), "st", "torch", "transformers")

    @cached_property
    def identity(self) -> str:
        """Digests of the models' files, and how they search."""
        tags = sorted(set(self.languages)) if "{lang}" in self.name else [""]
        models = digest(*(part for tag in tags for part in (tag, self._digest(tag)))).hex()
        where = device_part(self.device, self.dtype, self._who(""))
        return f"hf:{models}&beams={self.beams}&dtype={self.dtype}{where}"

    def translate(self, texts: Sequence[str], language: str) -> Translated:
        """Return the translations; raise InputError where the model does not know one of the languages."""
        network = self._load(language)
        prefix, start = _set_languages(network, language, self.to)
        encoded: list[list[int]] = []
        truncated: list[bool] = []
        for text in texts:
            ids: list[int] = network.tokenizer(prefix + text, verbose=False)["input_ids"]
            truncated.append(len(ids) > network.limit)
            if truncated[-1]:
                cut = {"truncation": True, "max_length": network.limit}
                ids = network.tokenizer(prefix + text, **cut)["input_ids"]
            encoded.append(ids or [network.tokenizer.pad_token_id])
        translations = [""] * len(texts)

        def run(rows: Ints) -> Vectors:
            answer = self._generate(network, [encoded[row] for row in rows], start)
            for row, text in zip(rows.tolist(), answer, strict=True):
                translations[row] = text
            return np.zeros((len(rows), 1), dtype=np.float32)  # batching is made for vectors; none here

        self._batches.run([len(ids) for ids in encoded], run)
        return Translated(translations, truncated)

    def _who(self, language: str) -> str:
        return f"translate:hf-{self.name.replace('{lang}', language) if language else self.name}"

    def _folder(self, language: str) -> Path:
        who = self._who(language)
        return model_folder(who, who.removeprefix("translate:hf-"), self.revision, "st")

    def _digest(self, language: str) -> str:
        """Return the digest that the model of a language had when it was first asked for."""
        return self._watch.digest(self._who(language), lambda: checkpoint_digest(self._folder(language)))

    def _load(self, language: str) -> Network:
        """Load the model of a language; raise InputError where it cannot be used."""
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        who = self._who(language)
        if self._network is not None and self._network.who == who:
            return self._network
        self._network = None  # the memory of one model is enough
        self._digest(language)
        folder = self._folder(language)  # of a hub: another one where the model there is new
        check_weights(who, folder)
        check_reader(who, folder)
        with loading(who) as messages:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            options = {"dtype": self.dtype, "use_safetensors": True, "local_files_only": True}
            model = AutoModelForSeq2SeqLM.from_pretrained(folder, **options)
            model = model.to(choose_device(self.device, who)).eval()
        refuse_random(who, messages, model.config.model_type)
        if tokenizer.pad_token_id is None:
            raise InputError(f"{who}: its tokenizer has no pad token: name one in tokenizer_config.json")
        self._watch.check(who, lambda: checkpoint_digest(folder), f"{who}: a file of the model")
        limits = (tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None))
        limit = min([limit for limit in limits if limit and limit < 10**6] or [512])
        self._network = Network(who, model, tokenizer, limit)
        return self._network

    def _generate(self, network: Network, texts: Sequence[list[int]], start: int | None) -> list[str]:
        """Return translations of texts given as tokens, the longest first."""
        import torch

        pad, width = network.tokenizer.pad_token_id, max(map(len, texts))
        ids = torch.tensor([text + [pad] * (width - len(text)) for text in texts])
        mask = torch.tensor([[1] * len(text) + [0] * (width - len(text)) for text in texts])
        with running(network.who), torch.inference_mode():
            answer = network.model.generate(
                input_ids=ids.to(network.model.device),
                attention_mask=mask.to(network.model.device),
                num_beams=self.beams,
                do_sample=False,
                max_length=None,
                max_new_tokens=min(_GROWTH * width + _SPARE, network.limit),
                **({} if start is None else {"forced_bos_token_id": start}),
            )
        # each text has a separate limit, so that no text's translation depends on its neighbours
        most = [1 + _GROWTH * len(text) + _SPARE for text in texts]
        rows = zip(answer.tolist(), most, strict=True)
        tokens = [[token for token in row[:limit] if token != start] for row, limit in rows]
        return list(network.tokenizer.batch_decode(tokens, skip_special_tokens=True))


def _set_languages(network: Network, source: str, to: str) -> tuple[str, int | None]:
    """Set the tokenizer's source language; return a prefix of texts and the first token of translations."""
    tokenizer = network.tokenizer

    def code(tag: str, codes: Sequence[str]) -> str:
        if (name := code_of(tag, codes)) is None:
            raise InputError(f"{network.who}: knows no language {tag}; it has {listed(sorted(codes), 20)}")
        return name

    if marked := list(getattr(tokenizer, "supported_language_codes", None) or ()):  # of Marian: >>fra<<
        return f"{code(to, marked)} ", None
    codes = list(getattr(tokenizer, "lang_code_to_token", None) or ())
    if not codes and hasattr(tokenizer, "src_lang"):
        codes = list(filter(_LANGUAGE.fullmatch, tokenizer.all_special_tokens))
    if not codes:
        return "", None
    tokenizer.src_lang, target = code(source, codes), code(to, codes)
    number = (getattr(tokenizer, "lang_code_to_id", None) or {}).get(target)
    return "", int(tokenizer.convert_tokens_to_ids(target) if number is None else number)


def code_of(tag: str, codes: Sequence[str]) -> str | None:
    """Return the code for the language of a tag; None where the model has none.

    The code itself comes first, then codes whose language is the same; of several (`zho_Hans`, `zho_Hant`)
    the one that has another part of the tag, else the first.

    >>> code_of("de", ["deu_Latn", "eng_Latn"]), code_of("zh-Hant", ["zho_Hans", "zho_Hant"])
    ('deu_Latn', 'zho_Hant')
    """
    first, *rest = re.split("[-_]", tag.lower())
    same: list[tuple[int, str]] = []
    for code in codes:
        language, *more = re.split("[-_]", code.strip("<>_").lower())
        if [language, *more] == [first, *rest]:
            return code
        if language in (first, _THREE_LETTERS.get(first)):
            same.append((-bool(set(more) & set(rest)), code))
    return min(same, key=lambda pair: pair[0], default=(0, None))[1]
