"""Fixtures of the pages' tests: models as a hub has them."""

from tests.checkpoints import checkpoints  # noqa: F401  (a fixture)
