"""The verdict of a case study of MLMME: do further languages help, with which beta, and is it real?

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
from xlingual.results.mlmme_study import TO_IMAGE, VSE, MlmmeStudy, Question, Ranking, Reranking, Similarity
from xlingual.results.runs import Gain

PERCENT = 100


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
            "Each model was trained once: a difference may owe to the luck of that training, which intervals "
            "and tests do not cover. Several trainings show it (--trainings 3)."
        )
    return found


def _of_ranking(study: MlmmeStudy, ranking: Ranking) -> list[str]:
    questions = ranking.questions
    better, worse, counts = _counted(questions)
    if better and not worse:
        head = "Several languages in one model help image–sentence ranking"
    elif worse and not better:
        head = "Several languages in one model harm image–sentence ranking"
    elif better and worse:
        head = "Several languages in one model help image–sentence ranking in part and harm it in part"
    else:
        head = "Whether several languages in one model help image–sentence ranking is not shown"
    found = [f"{head}: against VSE, MLMME is {counts}."]
    chosen = [one for one in questions if one.model == study.chosen]
    if chosen:
        gains = in_words([f"{_direction(one)} {points(one.gain)}" for one in chosen])
        found.append(
            f"{marked(study.chosen)} is best on the validation. Against VSE its mean recall differs by {gains} "
            "points."
        )
    if ranking.of_beta:
        found.append(
            f"The similarity of sentences in the loss (β below 1): against β = 1, models are "
            f"{_counted(ranking.of_beta)[2]}."
        )
    return found


def _counted(questions: Sequence[Question]) -> tuple[int, int, str]:
    """Return how many are better and worse, and all outcomes in words."""
    counts = Counter(one.outcome for one in questions)
    better, worse = counts[BETTER], counts[WORSE]
    rest = len(questions) - better - worse
    shown = (
        f"better in {better} and worse in {worse} of {len(questions)} comparisons (languages, directions, β)"
    )
    return better, worse, f"{shown}; in {rest} no difference is found" if rest else shown


def _direction(one: Question) -> str:
    return f"{one.language} to image" if one.direction == TO_IMAGE else f"image to {one.language}"


def points(gain: Gain) -> str:
    """Return a difference of recalls in points, with its interval."""
    return numbers.signed(PERCENT * gain.value, scaled(gain.ci, PERCENT), digits=1)


def scaled(ci: Interval | None, factor: float) -> Interval | None:
    """Return an interval times a factor."""
    return None if ci is None else Interval(factor * ci.low, factor * ci.high, ci.level, ci.method)


def _of_similarity(study: MlmmeStudy, found: Similarity) -> list[str]:
    own = [model.name for model in study.models if found.language in model.languages]
    base = next((m.name for m in study.models if m.kind == VSE and m.languages == [found.language]), None)
    sentences = []
    for row in found.rows:
        models = {name: one for name, one in row.scores.items() if name in own}
        trivial = {name: one for name, one in row.scores.items() if name in found.trivial}
        if not models:
            continue
        best = max(models, key=lambda name: models[name].value)
        text = (
            f"Textual similarity on {marked(row.file)}: {marked(best)} has the best Pearson of the models, "
        )
        text += numbers.number(models[best].value)
        if (gain := models[best].gain) is not None and base is not None:
            real = "real" if is_real(gain) else "not shown to be real"
            text += f", {numbers.signed(gain.value, gain.ci)} against {marked(base)} ({real})"
        if trivial:
            other = max(trivial, key=lambda name: trivial[name].value)
            level = "above" if models[best].value > trivial[other].value else "not above"
            text += f"; that is {level} {marked(other)}, which knows no meaning ({numbers.number(trivial[other].value)})"
        sentences.append(f"{text}.")
    return sentences


def _of_reranking(found: Reranking) -> list[str]:
    base, *others = found.systems
    own = [one for one in others if one.name in found.features]
    best = max(own, key=lambda one: one.scores["BLEU"].value)
    gain = best.scores["BLEU"].gain
    if gain is None:
        return []
    real = sum(is_real(one.scores["BLEU"].gain) for one in own)
    room = found.bounds["oracle"] - base.scores["BLEU"].value
    text = (
        f"Re-ranking translations: {marked(best.name)} has the best BLEU, {numbers.number(best.scores['BLEU'].value, digits=2)}, "
        f"{numbers.signed(gain.value, gain.ci, digits=2)} against the translation without re-ranking, of {room:.2f} that the best "
        f"choice would gain. The difference is real for {real} of {len(own)} models."
    )
    tuned = next((one for one in others if one.name not in found.features), None)
    if tuned is not None and (alone := tuned.scores["BLEU"].gain) is not None:
        text += (
            f" Tuning the list's own features alone gives {numbers.signed(alone.value, alone.ci, digits=2)}."
        )
    return [text]
