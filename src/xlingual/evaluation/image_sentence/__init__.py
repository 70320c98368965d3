"""Image–sentence ranking: does a sentence find its image, and an image its sentences."""

from xlingual.evaluation.image_sentence.evaluate import image_sentence
from xlingual.evaluation.image_sentence.ranks import rank_both_ways, sum_of_recalls, sum_of_recalls_between

__all__ = ["image_sentence", "rank_both_ways", "sum_of_recalls", "sum_of_recalls_between"]
