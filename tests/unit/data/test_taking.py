"""What the decorator of functions that take data does with their arguments."""

from typing import Unpack

from xlingual import Manifest
from xlingual.data.manifest import DataOptions, ManifestLike, takes_data

ROWS = [{"language": "en", "text": "a", "split": "train"}, {"language": "de", "text": "b", "split": "test"}]


@takes_data("validation", leave=(int, float))
def trained(
    manifest: ManifestLike,
    out: str,
    *,
    validation: ManifestLike | float = 0.1,
    **columns: Unpack[DataOptions],
) -> tuple[object, ...]:
    """Return what came in."""
    return manifest, out, validation, columns


def test_data_become_manifests_and_the_columns_are_used_up():
    manifest, out, validation, columns = trained(ROWS, "m", lang_column="language", split="train")
    assert isinstance(manifest, Manifest) and manifest.text == ["a"]
    assert (out, validation, columns) == ("m", 0.1, {})


def test_further_arguments_are_taken_in_the_same_way():
    _, _, validation, _ = trained(ROWS, "m", validation=ROWS, lang_column="language")
    assert isinstance(validation, Manifest) and len(validation) == 2
    ready = Manifest.of(ROWS, lang_column="language")
    assert trained(ROWS, out="m", validation=ready, lang_column="language")[2] is ready
    assert trained(manifest=ready, out="m", validation=0.2)[0] is ready
