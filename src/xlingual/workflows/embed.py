"""Embedding a whole manifest or pool: vectors go to the store, and to files that any program reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, Unpack

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints, Vectors
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.encoding import Progress, is_kept
from xlingual.embed.sides import (
    embed_pool,
    embed_roles,
    embed_texts,
    fit_texts_for,
    image_vectors,
    load_fit_texts,
)
from xlingual.encoders import Encoder, EncoderLike, Spec
from xlingual.errors import InputError, warn
from xlingual.files import atomic_file, make_folder
from xlingual.forms import dense
from xlingual.records import Texts
from xlingual.store import Store, StoreLike, open_store
from xlingual.workflows.indexed import FOLDER as INDEX
from xlingual.workflows.indexed import Indexed


@dataclass(frozen=True)
class Exported:
    """The files of one encoder's vectors, and the spec that reads them."""

    name: str
    kind: str  # "texts" or "images"
    spec: str
    files: Mapping[str, int]  # file → number of vectors
    dim: int
    kept: bool  # whether the store has them
    index: str | None = None  # files of candidates for a search index, with {lang}


@takes_data(leave=MultilingualPool)
def embed(
    data: ManifestLike | MultilingualPool,
    out: str | Path,
    *,
    text_encoders: Sequence[EncoderLike] = (),
    image_encoder: EncoderLike | None = None,
    candidate_text: str = "sentence",
    half: bool = False,
    offsets: bool = False,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> list[Exported]:
    """Compute the vectors of all texts and images, and write them to `out`.

    Texts of a manifest go to `NAME.{lang}.npy`, those of a pool to `NAME.{role}.{lang}.npy`, in the order of
    their rows; images to `NAME.npy`, one for each item, or for each row where rows of an item show
    different ones. `half` writes float16.
    `offsets`: candidates also go to `index/NAME.{lang}.npy`, at unit length and with the correction of hubs
    of their encoder, a repair, as one more dimension: the inner product with a question at unit length and a
    1 orders them as the correction does.

    Raises InputError where data or encoders are invalid.
    """
    if not text_encoders and image_encoder is None:
        raise InputError("nothing to embed with: name an encoder with --text-encoder or --image-encoder")
    if offsets and not text_encoders:
        raise InputError("--offsets is for texts: name their encoder with --text-encoder, or leave it out")
    if offsets and half:
        raise InputError("--offsets: half precision would change the order: leave out --half")
    folder = make_folder(out)
    job = _Job(data, folder, half, offsets, open_store(store), progress)
    found = job.texts(text_encoders, candidate_text) if text_encoders else []
    return found if image_encoder is None else [*found, job.images(image_encoder)]


_Written: TypeAlias = "tuple[Exported, Callable[[], Vectors]]"  # and the vectors of the candidates


@dataclass(frozen=True)
class _Job:
    data: Manifest | MultilingualPool
    folder: Path
    half: bool
    offsets: bool
    store: Store | None
    progress: Progress | None

    def texts(self, specs: Sequence[EncoderLike], candidate_text: str) -> list[Exported]:
        """Embed the texts with each encoder in turn."""
        load = fit_texts_for(self.data) if isinstance(self.data, Manifest) else load_fit_texts
        made = encoders.text_encoders(specs, languages=list(self.data.languages), fit_texts=load)
        indexed = {name: Indexed.of(name, made[name]) for name in made if self.offsets}
        found = []
        for name, encoder in made.items():
            if isinstance(self.data, Manifest):
                one, candidates = self._manifest_texts(self.data, name, encoder)
                language = self.data.language
            else:
                one, candidates = self._pool_texts(self.data, name, encoder, candidate_text)
                language = self.data.candidates.language
            if indexed:
                one = self._with_index(one, indexed[name], candidates(), language)
            found.append(one)
        return found

    def _with_index(self, one: Exported, indexed: Indexed, candidates: Vectors, language: Ints) -> Exported:
        """Write the candidates [n] for a search index, by the code of their language [n]."""
        make_folder(self.folder / INDEX)
        rows = indexed.rows(candidates, self.progress)
        for code, tag in enumerate(self.data.languages):
            _save(self.folder / INDEX / f"{one.name}.{tag}.npy", rows[language == code])
        return replace(one, index=str(self.folder / INDEX / f"{one.name}.{{lang}}.npy"))

    def _manifest_texts(self, manifest: Manifest, name: str, encoder: Encoder) -> _Written:
        rows = np.arange(len(manifest))
        _warn_of_fitted(name, encoder, manifest.texts(rows))
        own = embed_texts(manifest, name, encoder, rows, store=self.store, progress=self.progress)
        vectors: Vectors = own.vectors
        files = {
            f"{name}.{tag}.npy": vectors[manifest.language == code]
            for code, tag in enumerate(manifest.languages)
        }

        def candidates() -> Vectors:
            if not encoder.by_role:
                return vectors
            found = embed_roles(
                manifest, name, encoder, rows[:1], rows, store=self.store, progress=self.progress
            )
            of_role: Vectors = dense(found.candidates.vectors, f"text encoder {name!r}")
            return of_role

        return self._written(name, encoder, "texts", f"{name}.{{lang}}.npy", files), candidates

    def _pool_texts(
        self, pool: MultilingualPool, name: str, encoder: Encoder, candidate_text: str
    ) -> _Written:
        _warn_of_fitted(name, encoder, pool.question_texts(), pool.candidate_texts(candidate_text))
        both = embed_pool(pool, name, encoder, candidate_text, store=self.store, progress=self.progress)
        files = {}
        for code, tag in enumerate(pool.languages):
            files[f"{name}.questions.{tag}.npy"] = both.questions[pool.questions.language == code]
            files[f"{name}.candidates.{tag}.npy"] = both.candidates[pool.candidates.language == code]
        written = self._written(name, encoder, "texts", f"{name}.{{role}}.{{lang}}.npy", files)
        return written, lambda: both.candidates

    def images(self, spec: EncoderLike) -> Exported:
        """Embed the images of a manifest."""
        if not isinstance(self.data, Manifest):
            raise InputError("a pool has no images: leave out --image-encoder")
        manifest = self.data
        name, encoder = encoders.image_encoder(spec, languages=list(manifest.languages))
        _, first = np.unique(manifest.item, return_index=True)
        one_each = bool((manifest.image == manifest.image[first][manifest.item]).all())
        rows = first if one_each else np.arange(len(manifest))
        vectors = image_vectors(manifest, name, encoder, rows, store=self.store, progress=self.progress)
        return self._written(name, encoder, "images", f"{name}.npy", {f"{name}.npy": vectors})

    def _written(
        self, name: str, encoder: Encoder, kind: str, pattern: str, files: Mapping[str, np.ndarray]
    ) -> Exported:
        for file, vectors in files.items():
            with np.errstate(over="ignore"):
                array = vectors.astype(np.float16 if self.half else np.float32, copy=False)
            if not np.isfinite(array).all():
                raise InputError(
                    f"encoder {name!r}: a number in its vectors is too large for half precision: leave "
                    "out --half"
                )
            _save(self.folder / file, array)
        return Exported(
            name,
            kind,
            str(Spec(name, "vectors", str(self.folder / pattern))),
            {str(self.folder / file): len(vectors) for file, vectors in files.items()},
            int(next(iter(files.values())).shape[1]),
            self.store is not None and is_kept(encoder),
        )


def _save(file: Path, array: np.ndarray) -> None:
    with atomic_file(file) as path, path.open("wb") as handle:
        np.save(handle, array)


def _warn_of_fitted(name: str, encoder: Encoder, *batches: Texts) -> None:
    """Warn where an encoder was fitted on embedded texts: files of vectors do not say so later."""
    fitted = encoder.fitted_on
    shared_texts = (
        fitted & frozenset[bytes]().union(*(batch.row_digests() for batch in batches)) if fitted else ()
    )
    if shared_texts:
        warn(
            f"text encoder {name!r} was fitted on {len(shared_texts):,} of these texts: evaluate its "
            "vectors on others, since files of vectors do not say so"
        )
