"""Which vectors are at hand: of the encoders of results, and of those that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xlingual.browsing.vectors import Space
from xlingual.data.manifest import Manifest
from xlingual.embed import fit_texts_for, refuse_fitted_rows
from xlingual.embed.encoding import Progress, VectorSource, encode
from xlingual.embed.fitting import batch_identity
from xlingual.embed.images import image_vectors
from xlingual.embed.kept import kept_rows
from xlingual.encoders import Encoder, EncoderLike, ImageModelLike, text_encoders, text_specs
from xlingual.encoders import image_encoder as made_image_encoder
from xlingual.errors import InputError, XlingualError
from xlingual.forms import is_dense
from xlingual.records import Texts
from xlingual.results import Results
from xlingual.signature import Signature
from xlingual.store import Store

_ASK = "give the encoder (--text-encoder NAME=SPEC) to see them computed"


@dataclass(frozen=True)
class Spaces:
    """Vectors of texts by encoder, with the reason where there are none; vectors of images, likewise."""

    texts: Mapping[str, Space]
    without: Mapping[str, str]
    images: Space | None = None
    no_images: str = ""


class Opener:
    """Opens what is at hand for one manifest."""

    def __init__(self, data: Manifest, store: Store | None, progress: Progress | None) -> None:
        self.data, self.store, self.progress = data, store, progress

    def spaces(
        self,
        results: Results,
        names: Sequence[str],
        given: Sequence[str] = (),
        image_encoder: ImageModelLike | None = None,
    ) -> Spaces:
        """Return the vectors of the named encoders of results and of the given ones.

        Given encoders encode all texts; others only read files and the store. Raises InputError where a given
        encoder cannot be used.
        """
        texts: dict[str, Space] = {}
        without: dict[str, str] = {}
        asked = self._made(given) if given else {}
        for name, encoder in asked.items():
            texts[name] = self._space(name, encoder, self.data.languages, computed=True)
        for name in names:
            if name not in texts:
                try:
                    encoder, languages = self._of_results(results, name)
                    texts[name] = self._space(name, encoder, languages, computed=False)
                except (XlingualError, OSError) as error:
                    without[name] = str(error) if _ASK in str(error) else f"{error}; {_ASK}"
        try:
            images, why = self._images(results, image_encoder), ""
        except (XlingualError, OSError) as error:
            if image_encoder is not None:
                raise
            images, why = None, str(error)
        return Spaces(texts, without, images, why)

    def _made(
        self, specs: Sequence[EncoderLike] | Mapping[str, EncoderLike], languages: Sequence[str] = ()
    ) -> dict[str, Encoder]:
        languages = languages or self.data.languages
        made = text_encoders(specs, languages=languages, fit_texts=fit_texts_for(self.data))
        refuse_fitted_rows(made, store=self.store, progress=self.progress)
        return made

    def _of_results(self, results: Results, name: str) -> tuple[Encoder, Sequence[str]]:
        """Return the encoder of results, and the languages whose texts it can encode now.

        Those that were evaluated are part of what it was then; it may know others of the data too.
        """
        specs: Any = results.request.get("text_encoders") or ()
        tags = (tag for entry in results.entries for tag in (entry.source, entry.target))
        languages = list(dict.fromkeys(tag for tag in tags if tag in self.data.languages))
        known: dict[str, EncoderLike] = {}
        for part in [specs] if isinstance(specs, str) else specs:
            with suppress(InputError):  # one that was an object is named in its place
                known |= text_specs(
                    {part: specs[part]} if isinstance(specs, Mapping) else [part], languages=languages
                )
        if name not in known or not isinstance(known[name], str) or ":" not in str(known[name]):
            raise InputError(f"the results do not say how {name} is made: {_ASK}")
        encoder = self._made({name: known[name]}, languages)[name]
        evaluated = {
            Signature.parse(entry.signature).system.get("encoder")
            for entry in results.entries
            if entry.encoder == name
        }
        if not encoder.depends_on_batch and batch_identity(encoder, store=self.store) not in evaluated:
            raise InputError(f"{name} is another now than was evaluated: {_ASK}")
        if set(languages) < set(self.data.languages):
            with suppress(XlingualError, OSError):
                return self._made({name: known[name]})[name], self.data.languages
        return encoder, languages

    def _space(self, name: str, encoder: Encoder, languages: Sequence[str], *, computed: bool) -> Space:
        spoken = np.array([tag in languages for tag in self.data.languages])
        rows = np.flatnonzero(spoken[self.data.language])
        source = VectorSource(f"text encoder {name!r}", f"encoding texts: {name}", self.store, self.progress)
        texts = self.data.texts(rows)
        if encoder.by_role:
            texts = replace(texts, role="candidate")
        if not computed:
            kept = np.flatnonzero(kept_rows(encoder, texts, self.store))
            if not len(kept):
                raise InputError(f"the store holds no vectors of {name}: {_ASK}")
            rows, texts = rows[kept], texts.take(kept)
        vectors = encode(encoder, texts, source).vectors
        if not is_dense(vectors):
            raise InputError(f"{name} gives vectors of another form than one for each text")

        def asks(what: int | str, language: str) -> np.ndarray | None:
            """Return the vector of a row, or of a typed text, as a query."""
            if isinstance(what, int) and not encoder.by_role:
                return space.vector(what) if space.has(what) else None
            if encoder.depends_on_batch or (isinstance(what, str) and encoder.by_number):
                return None
            one = self.data.texts(np.array([what])) if isinstance(what, int) else _typed(what, language)
            one = replace(one, role="query") if encoder.by_role else one
            if not computed and not kept_rows(encoder, one, self.store).all():
                return None
            with space.lock:
                found: np.ndarray = encode(encoder, one, replace(source, report=None)).vectors[0]
            return found

        space = Space(rows, self.data.language[rows], np.asarray(vectors), asks)
        return space

    def _images(self, results: Results, given: ImageModelLike | None) -> Space | None:
        spec = given if given is not None else results.request.get("image_encoder")
        slots, first = np.unique(self.data.image, return_index=True)
        slots, first = slots[slots >= 0], first[slots >= 0]
        if not len(slots):
            raise InputError("the data have no images")
        if spec is None:
            raise InputError("no image encoder is named: give one (--image-encoder SPEC)")
        name, encoder = made_image_encoder(spec, languages=self.data.languages)
        if given is None:
            kept = kept_rows(encoder, self.data.images(first), self.store)
            if not kept.any():
                raise InputError(
                    f"the store holds no vectors of images of {name}: give it (--image-encoder SPEC) to "
                    "see the way back computed"
                )
            slots, first = slots[kept], first[kept]
        vectors = image_vectors(self.data, name, encoder, first, store=self.store, progress=self.progress)
        return Space(slots, np.zeros(len(slots), dtype=np.int64), vectors, lambda what, language: None)


def _typed(text: str, language: str) -> Texts:
    return Texts(text=[text], language=[language], ids=["typed"])
