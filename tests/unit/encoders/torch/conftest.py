"""Networks of a few weights for the tests of this folder."""

from tests.checkpoints import checkpoints, copied  # noqa: F401  (fixtures)
