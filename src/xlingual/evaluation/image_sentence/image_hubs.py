"""Hubs of image–sentence ranking, both ways: images that many sentences find, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlingual.data.images import cut, thumbnails
from xlingual.data.manifest import Manifest
from xlingual.evaluation.hubs import HubTable, hubs_of
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice
from xlingual.evaluation.image_sentence.numbers import Direction
from xlingual.evaluation.rankings import IMAGE
from xlingual.measures.hubness import Places
from xlingual.results.views import HubCounts

if TYPE_CHECKING:
    import pyarrow as pa


class ImageHubs:
    """The hubs of all systems, languages and directions, and the table of the largest; of the first slice."""

    def __init__(self, manifest: Manifest, examples: bool) -> None:
        self._manifest, self._table = manifest, HubTable("image-sentence", examples)
        self._picture = thumbnails(manifest.image_source)

    def add(
        self, system: str, direction: Direction, one: Slice, shown: ShownImages, places: Places | None
    ) -> HubCounts | None:
        """Add the hubs of a system in one direction of a slice, where its first places are kept."""
        if places is None:
            return None
        manifest, to_image = self._manifest, direction.subject.target == IMAGE
        query, candidate = (one.text, one.image) if to_image else (one.image, one.text)
        found = hubs_of(places, places.wrong(query, candidate), direction.clusters[0])

        def described(number: int) -> dict[str, Any]:
            row = int(shown.first_row[one.images[number]] if to_image else one.texts[number])
            tag = manifest.languages[manifest.language[row]]
            text = {"id": manifest.ids[row], "language": IMAGE if to_image else tag}
            slot = int(manifest.image[row]) if found.counts.alarm else -1
            return {**text, "text": cut(manifest.text[row]), "picture": self._picture(slot)}

        self._table.add(system, direction.subject, found, described, candidate)
        return found.counts

    def table(self) -> dict[str, pa.Table]:
        """Return the table by its name."""
        return self._table.table()
