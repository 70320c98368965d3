"""`model:DIR::SPEC`, a trained Triplet or TripletXL: title and body through one encoder and two layers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from xlingual.arrays import Vectors
from xlingual.encoders.scheme import IMAGES, Context
from xlingual.encoders.trained import OnBase, TrainedNetwork, check_base
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder
from xlingual.models.triplet_config import TripletConfig
from xlingual.models.views import ViewReader
from xlingual.records import Texts


class TripletNetwork(TrainedNetwork[TripletConfig]):
    """A trained network, read from its folder when it is first needed."""

    read = TripletConfig.from_dict

    def represent(self, title: Vectors, body: Vectors) -> Vectors:
        """Return float32 [n, 2·out] for the base's vectors of titles and of bodies, float32 [n, base]."""
        return self.run(lambda module, *there: module.represent(*there), title, body)

    def new_module(self) -> Any:  # noqa: ANN401  (a Triplet)
        """Return the network without weights."""
        from xlingual.models.triplet import Triplet

        return Triplet(self.config, seed=None)


class TripletTexts(OnBase):
    """Texts with a title and a body as float32 [n, 2·out], from the vectors of the encoder below for both.

    `encode` raises InputError where the texts have no title or body.
    """

    origin = "fitted"
    by_role = False  # it is trained on vectors of texts without a role
    network: TripletNetwork

    @cached_property
    def _views(self) -> ViewReader:
        config = self.network.config
        return ViewReader(self.network.who, config.title, config.body, config.split)

    def inputs(self, batch: Texts, /) -> tuple[Texts, Texts]:
        """Return what the encoder below encodes: the titles and the bodies."""
        return self._views.read(batch)

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, 2·out] for the vectors float32 [n, base] of titles and of bodies."""
        for given in vectors:
            self.check_dim(given, self.network.config.base_dim)
        title, body = vectors
        return self.network.represent(title, body)

    def notes(self) -> list[str]:
        """Return how many texts lack one of the two views, since last asked."""
        return self._views.notes()


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> TripletTexts:
    """Return the encoder of texts; raise InputError for images, without a base, or on another base."""
    network = TripletNetwork(folder, options["device"])
    if context.kind == IMAGES:
        raise InputError(f"{network.who} was trained on texts and encodes no images")
    return TripletTexts(network, check_base(folder, context.base, options["base"] == "trusted"))
