"""`model:DIR::SPEC`, a trained Triplet or TripletXL: title and body through one encoder and two layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xlingual.encoders.schemes import PICTURES, Context
from xlingual.encoders.trained import check_base
from xlingual.encoders.triplet_network import TripletNetwork
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder
from xlingual.models.views import two_views
from xlingual.records import Encoder, Texts

if TYPE_CHECKING:
    from xlingual.records import Vectors


class TripletTexts:
    """Texts with a title and a body as float32 [n, 2·out], from the vectors of the encoder below for both.

    What is asked of the encoder below is asked of it through this one: on what it was fitted, which languages
    it knows.
    """

    fitted_transform = True
    content: tuple[str, ...] = ()  # cheap to make from the base's vectors, and those are kept

    def __init__(self, network: TripletNetwork, base: Encoder) -> None:
        self.network, self.base = network, base
        self._lacking = self._texts = 0

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"{self.network.identity}::{self.base.identity}"

    @property
    def fitted_on(self) -> frozenset[bytes]:
        """What the encoder below was fitted on."""
        return getattr(self.base, "fitted_on", frozenset())

    @property
    def depends_on_batch(self) -> bool:
        """Whether the vectors of the encoder below depend on what else it is given."""
        return bool(getattr(self.base, "depends_on_batch", False))

    def fit_model(self) -> None:
        """Fit the encoder below, where it is one that is fitted."""
        fit = getattr(self.base, "fit_model", None)
        if fit is not None:
            fit()

    def check_languages(self, tags: Iterable[str]) -> None:
        """Raise InputError where the encoder below cannot encode one of the languages."""
        check = getattr(self.base, "check_languages", None)
        if check is not None:
            check(tags)

    def encode(self, batch: Texts) -> Vectors:
        """Return float32 [n, 2·out]; raise InputError where the texts have no title or body."""
        return self.apply(*(self.base.encode(part) for part in self.inputs(batch)))

    def inputs(self, batch: Texts) -> tuple[Texts, Texts]:
        """Return what the encoder below encodes: the titles and the bodies."""
        config = self.network.config
        views = two_views(batch, config.title, config.body, config.split, self.network.who)
        self._lacking, self._texts = self._lacking + sum(views.lacking), self._texts + len(batch)
        return views.title, views.body

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, 2·out] for the vectors float32 [n, base] of titles and of bodies."""
        title, body = vectors
        wanted = self.network.config.base_dim
        for given in vectors:
            if given.shape[1] != wanted:
                raise InputError(
                    f"{self.network.who} takes vectors of {wanted} dimensions, and the encoder below it "
                    f"gives {given.shape[1]}: name the one that it was trained on"
                )
        return self.network.represent(title, body)

    def notes(self) -> list[str]:
        """Return how many texts lack one of the two views, since last asked."""
        lacking, texts, self._lacking, self._texts = self._lacking, self._texts, 0, 0
        if not lacking:
            return []
        config = self.network.config
        what = f"an empty {config.title} or {config.body}" if config.split is None else "no second part"
        return [
            f"{self.network.who}: {lacking:,} of {texts:,} texts have {what}: what there is stands for both"
        ]


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> TripletTexts:
    """Return the encoder of texts; raise InputError for pictures, without a base, or on another base."""
    network = TripletNetwork(folder, options["device"])
    if context.kind == PICTURES:
        raise InputError(f"{network.who} was trained on texts and encodes no pictures")
    return TripletTexts(network, check_base(folder, context.base, options["base"] == "trusted"))
