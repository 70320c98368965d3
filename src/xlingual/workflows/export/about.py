"""What an export says of the model that it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.models.card import identity, signature
from xlingual.models.folder import ModelFolder

if TYPE_CHECKING:
    from xlingual.encoders.trained_triplet import TripletNetwork


def about(folder: ModelFolder, network: TripletNetwork) -> dict[str, str]:
    """Return where an export comes from: the model, its signature and base, its views and their scaling."""
    config, base = network.config, folder.config["base"]
    views = f"{config.title}, {config.body}" if config.split is None else f"split: {config.split}"
    return {
        "model": identity(folder),
        "signature": str(signature(folder)),
        "base": base["identity"],
        "views": views,
        "scaling": config.scaling,
    }
