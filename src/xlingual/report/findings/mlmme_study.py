"""The verdict of a case study of MLMME: whether further languages help, with which beta, and how surely.

Recalls are in per cent, as the paper has them, and differences in points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.marking import marked
from xlingual.report.numbers import in_words
from xlingual.report.side_by_side import is_real
from xlingual.results import Interval
from xlingual.results.comparison import BETTER, WORSE
from xlingual.results.mlmme_study import TO_IMAGE, MlmmeStudy, Question, Ranking, Reranking, Similarity

PERCENT = 100
MOST = 8  # differences named in a sentence
DEEPEST = "Success@10"


def findings(study: MlmmeStudy) -> list[str]:
    """Return the sentences of the verdict, the most important first, with the names in them marked."""
    found: list[str] = []
    if study.ranking is not None:
        found += _of_ranking(study, study.ranking)
    if study.sts is not None:
        found += _of_similarity(study, study.sts)
    if study.reranking is not None:
        found += _of_reranking(study.reranking)
    if study.n_trainings == 1:
        found.append(
            "Each model was trained once. A difference may be luck of that training, which intervals and "
            "tests do not cover. Train several times to see it (--trainings 3)."
        )
    return found


def _of_ranking(study: MlmmeStudy, ranking: Ranking) -> list[str]:
    """Return whether the model that the validation chose beats VSE, then what other β do."""
    chosen = [one for one in ranking.questions if one.model == study.chosen]
    found = _at_chance(ranking)
    if chosen:
        better, worse = (sum(one.outcome == word for one in chosen) for word in (BETTER, WORSE))
        head = "Several languages in one model help image–sentence ranking"
        if worse:
            head = head.replace("help", "help and harm" if better else "harm")
        elif not better:
            head = "Whether several languages in one model help image–sentence ranking is not shown"
        first, rest = chosen[:MOST], len(chosen) - MOST
        gains = in_words([f"{_direction(one)} {points(one.gain.value, one.gain.ci)}" for one in first])
        more = f" (its other {numbers.counted(rest, 'comparison')}: Table 1)" if rest > 0 else ""
        found.append(
            f"{head}: with the β that is best on the validation ({marked(study.chosen)}), mean recall "
            f"differs from VSE by {gains} points{more}; {_counted(chosen)}."
        )
    if len(ranking.questions) > len(chosen):
        found.append(f"Over all β, MLMME against VSE: {_counted(ranking.questions)}.")
    if ranking.of_beta:
        found.append(
            f"With the similarity of sentences in the loss (β below 1) against without it (β = 1): "
            f"{_counted(ranking.of_beta)}."
        )
    return found


def _at_chance(ranking: Ranking) -> list[str]:
    """Return which models are above chance nowhere, the chance of R@10 beside it."""
    models = list(dict.fromkeys(one.model for one in ranking.of_chance))
    above = {one.model for one in ranking.of_chance if one.outcome == BETTER}
    lost = [name for name in models if name not in above]
    if not lost:
        return []
    rows = (row for row in ranking.rows if row.measure == DEEPEST and row.chance is not None)
    levels = dict.fromkeys(numbers.number(PERCENT * (row.chance or 0), digits=1) for row in rows)
    ends = sorted(levels, key=float)
    level = f" (R@10 {ends[0] if len(ends) == 1 else f'{ends[0]} to {ends[-1]}'} %)" if ends else ""
    if above:
        verb = "is" if len(lost) == 1 else "are"
        names = in_words([marked(name) for name in lost])
        return [f"In image–sentence ranking {names} {verb} not above chance{level} in any direction."]
    return [
        f"No model is above chance{level} in image–sentence ranking, in any language and direction, so "
        "the models cannot be compared by it."
    ]


def _counted(questions: Sequence[Question]) -> str:
    """Return how many are better and worse, and by which models."""
    n, parts = len(questions), []
    for word in (BETTER, WORSE):
        own = Counter(one.model for one in questions if one.outcome == word)
        if own:
            several = len({one.model for one in questions}) > 1
            names = in_words([f"{count} by {marked(name)}" for name, count in own.items()])
            parts.append(f"{word} in {own.total()} of {n}" + (f" ({names})" if several else ""))
    rest = sum(one.outcome not in (BETTER, WORSE) for one in questions)
    if rest:
        parts.append(f"no difference is found in {rest} of {n}")
    return f"{'; '.join(parts)} {'comparison' if n == 1 else 'comparisons'}"


def _direction(one: Question) -> str:
    return f"{one.language} to image" if one.direction == TO_IMAGE else f"image to {one.language}"


def points(value: float, ci: Interval | None = None) -> str:
    """Return a difference of recalls in points, with its interval."""
    return numbers.signed(value, ci, digits=1, scale=PERCENT)


def _of_similarity(study: MlmmeStudy, found: Similarity) -> list[str]:
    own = [model.name for model in study.models if found.language in model.languages]
    sentences = []
    for row in found.rows:
        models = {name: one for name, one in row.scores.items() if name in own}
        trivial = {name: one for name, one in row.scores.items() if name in found.trivial}
        if not models:
            continue
        best = max(models, key=lambda name: models[name].value)
        shown = numbers.number(models[best].value)
        text = f"Textual similarity on {marked(row.file)}: {marked(best)} is the best model, Pearson {shown}"
        if (gain := models[best].gain) is not None:
            real = "real after correction" if is_real(gain) else "not shown to be real after correction"
            text += f", {numbers.signed(gain.value, gain.ci)} against {marked(found.reference)} ({real})"
        if trivial:
            other = max(trivial, key=lambda name: trivial[name].value)
            value, shown = models[best].value, numbers.number(trivial[other].value)
            level = "above" if value > trivial[other].value else "below"
            level = level if numbers.number(value) != shown else "level with"
            text += f"; it is {level} {marked(other)}, which uses no meaning ({shown})"
        sentences.append(f"{text}.")
    return sentences


def _of_reranking(found: Reranking) -> list[str]:
    base, *others = (one.scores["BLEU"] for one in found.systems)
    names = [one.name for one in found.systems[1:]]
    own = {name: one for name, one in zip(names, others, strict=True) if name in found.features}
    best = max(own, key=lambda name: own[name].value)
    gain = own[best].gain
    if gain is None:
        return []
    real, harmful = (
        sum(is_real(one.gain) and one.gain is not None and (one.gain.value > 0) == up for one in own.values())
        for up in (True, False)
    )
    shown = numbers.number(own[best].value, digits=2)
    much = numbers.signed(gain.value, gain.ci, digits=2)
    if gain.p_adjusted is not None:
        much = f"{much} (p {numbers.p_value(gain.p_adjusted)}, corrected)"
    room = numbers.number(found.bounds["oracle"] - base.value, digits=2)
    sentences = [
        f"Re-ranking translations: of the models {marked(best)} has the best BLEU, {shown}, {much} against "
        f"the first translation of each list, of {room} that the best choice would gain. A real gain in "
        f"BLEU: {real} of {numbers.counted(len(own), 'model')}; a real loss: {harmful}."
    ]
    tuned = next((one for name, one in zip(names, others, strict=True) if name not in own), None)
    if tuned is not None and tuned.gain is not None:
        alone = numbers.signed(tuned.gain.value, tuned.gain.ci, digits=2)
        sentences.append(f"Tuning the list's own features alone gives {alone} BLEU.")
    return sentences
