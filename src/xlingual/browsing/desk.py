"""What a running server holds: what is looked at, its token, thumbnails and maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlingual.browsing.looking import Looking
from xlingual.browsing.mapping import Maps
from xlingual.browsing.viewing import Viewer
from xlingual.data.thumbnails import thumbnails

_LARGE = 480  # pixels of an image that stands alone
_SMALL_KEPT, _LARGE_KEPT = 4000, 100
_PLACEHOLDER = Path(__file__).parent / "static" / "placeholder.svg"


class Desk:
    """The state that handlers get."""

    def __init__(self, looking: Looking, token: str, title: str, encoders: Sequence[str] = ()) -> None:
        self.looking, self.token, self.title = looking, token, title
        self.viewer, self.maps = Viewer(looking), Maps(looking)
        self.usual = looking.usual(encoders)
        self.small = thumbnails(looking.data, most=_SMALL_KEPT)
        self.large = thumbnails(looking.data, _LARGE, most=_LARGE_KEPT)
        self.placeholder = _PLACEHOLDER.read_bytes()
        self.base = f"/{token}"
