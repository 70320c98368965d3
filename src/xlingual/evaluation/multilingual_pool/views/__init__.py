"""Views of language bias: what follows from the counts of one pass over a multilingual pool, one view a file.

A view takes `Standings` (the counts, with the relevant candidates of each question put in order) and returns
a small record of scores. `record_of` puts any number of them together as `views` of an entry.
"""

from xlingual.evaluation.multilingual_pool.views.agnostic import LANGUAGE_BIAS, agnostic_views
from xlingual.evaluation.multilingual_pool.views.prefer_own import (
    PreferOwn,
    own_language_targets,
    prefer_own,
)
from xlingual.evaluation.multilingual_pool.views.question_language import (
    QuestionLanguages,
    question_languages,
)
from xlingual.evaluation.multilingual_pool.views.standings import Standings, standings
from xlingual.evaluation.multilingual_pool.views.written import View, record_of

__all__ = [
    "LANGUAGE_BIAS",
    "PreferOwn",
    "QuestionLanguages",
    "Standings",
    "View",
    "agnostic_views",
    "own_language_targets",
    "prefer_own",
    "question_languages",
    "record_of",
    "standings",
]
