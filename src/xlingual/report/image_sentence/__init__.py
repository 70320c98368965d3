"""Image–sentence ranking on the screen and on the page."""

from xlingual.report.image_sentence.reading import TASK
from xlingual.report.image_sentence.terminal import show

__all__ = ["TASK", "show"]
