"""The views by brute force: every changed pool is built, sorted, and its ties broken in every way."""

from functools import cache
from itertools import chain, permutations, product
from math import prod
from statistics import fmean

ANSWER, OTHER = "answer", "other"


class Pool:
    """A small pool: scores [n][m], languages by name, relevant [n] sets of candidates."""

    def __init__(self, scores, asked_in, language, relevant):
        self.scores, self.asked_in, self.language, self.relevant = scores, asked_in, language, relevant
        self.questions, self.candidates = range(len(scores)), range(len(language))

    def own(self, q):
        return {c for c in self.relevant[q] if self.language[c] == self.asked_in[q]}

    def ranked(self, q, kept, label):
        """Return the kept candidates' labels in tie groups, best first."""
        levels = sorted({self.scores[q][c] for c in kept}, reverse=True)
        return tuple(tuple(sorted(label(c) for c in kept if self.scores[q][c] == level)) for level in levels)

    def precision(self, q, kept, relevant):
        """Return the expected average precision of a question in the pool of the kept candidates."""
        return expected(average_precision, self.ranked(q, kept, lambda c: ANSWER if c in relevant else OTHER))


@cache
def expected(what, groups):
    """Return the mean of what(labels by rank) over all permutations inside the groups."""
    ways = [set(permutations(group)) for group in groups]  # equal labels: each as often as any other
    assert prod(len(way) for way in ways) < 20_000
    return fmean(what(tuple(chain.from_iterable(order))) for order in product(*ways))


def average_precision(labels):
    ranks = [rank for rank, label in enumerate(labels, 1) if label == ANSWER]
    return fmean(hits / rank for hits, rank in enumerate(ranks, 1))


def counted(kind):
    """Return a function that counts the labels of a kind above the first answer."""
    return _COUNTED.setdefault(kind, lambda labels: labels[: labels.index(ANSWER)].count(kind))


def stands_first(kind):
    return _FIRST.setdefault(kind, lambda labels: float(labels[0] == kind))


_COUNTED: dict = {}  # one function for each kind, so that expectations are remembered
_FIRST: dict = {}


def means(cells):
    """Return the mean of each list that has anything."""
    return {key: fmean(values) for key, values in cells.items() if values}


def per_answer(pool, value):
    """Return {(question, answer language): mean of value(question, relevant candidate)}."""
    cells: dict = {}
    for q in pool.questions:
        for c in pool.relevant[q]:
            cells.setdefault((q, pool.language[c]), []).append(value(q, c))
    return means(cells)


def by_pair(pool, cells):
    pairs: dict = {}
    for (q, answer), value in cells.items():
        pairs.setdefault(f"{pool.asked_in[q]}->{answer}", []).append(value)
    return means(pairs)


def own_and_other(pool, cells):
    """Return [(own, mean over other languages)] of the questions that have both."""
    found = []
    for q in pool.questions:
        others = [v for (p, answer), v in cells.items() if p == q and answer != pool.asked_in[q]]
        if others and (q, pool.asked_in[q]) in cells:
            found.append((cells[q, pool.asked_in[q]], fmean(others)))
    return found


def by_question_language(pool, values):
    """Return the mean of {question: value} over the questions of each language."""
    cells: dict = {}
    for q, value in values.items():
        cells.setdefault(pool.asked_in[q], []).append(value)
    return means(cells)


def agnostic(pool):
    """Return {question: average precision}."""
    return {q: pool.precision(q, pool.candidates, pool.relevant[q]) for q in pool.questions}


def one_target(pool):
    def alone(q, c):
        kept = [d for d in pool.candidates if d == c or d not in pool.relevant[q]]
        return pool.precision(q, kept, {c})

    cells = per_answer(pool, alone)
    found = {"one_target": by_pair(pool, cells)}
    if both := own_and_other(pool, cells):
        own, other = (fmean(side) for side in zip(*both, strict=True))
        found["one_target_summary"] = {"own": own, "other": other, "gap": own - other}
    return found


def remove_one(pool):
    def without(q, c):
        kept = [d for d in pool.candidates if d != c]
        return pool.precision(q, kept, pool.relevant[q] - {c}) if len(pool.relevant[q]) > 1 else 0.0

    both = own_and_other(pool, per_answer(pool, without))
    if not both:
        return {}
    same, rand = (fmean(side) for side in zip(*both, strict=True))
    delta = (rand - same) / rand
    return {"remove_one": {"same": same, "rand": rand, "relative_delta": delta, "n_questions": len(both)}}


def before(labels):
    """Return the share of (answer, other) pairs that are in this order."""
    pairs = [i < j for i, a in enumerate(labels) for j, b in enumerate(labels) if (a, b) == (ANSWER, OTHER)]
    return fmean(pairs)


def all_before(labels):
    return float(labels == tuple(sorted(labels)))  # "answer" < "other"


def alignment(pool):
    """Return weak and strong alignment, every pool of candidates ranked by itself."""

    def label_of(q):
        return lambda c: ANSWER if c in pool.relevant[q] else OTHER

    weak, strong, of_question = {}, {}, {name: {} for name in ("weak", "weak_own", "strong", "strict_own")}
    of_question["strict"] = {}
    for q in pool.questions:
        wrong = [c for c in pool.candidates if c not in pool.relevant[q]]
        own_wrong = [c for c in wrong if pool.language[c] == pool.asked_in[q]]
        foreign = pool.relevant[q] - pool.own(q)
        for there in {pool.language[c] for c in pool.relevant[q]}:
            answers = [c for c in pool.relevant[q] if pool.language[c] == there]
            beside = [c for c in pool.candidates if pool.language[c] == there]
            weak[q, there] = expected(stands_first(ANSWER), pool.ranked(q, beside, label_of(q)))
            if own_wrong:
                strong[q, there] = expected(before, pool.ranked(q, answers + own_wrong, label_of(q)))
        others = [value for (p, there), value in weak.items() if p == q and there != pool.asked_in[q]]
        if others:
            of_question["weak"][q] = fmean(others)
        if (q, pool.asked_in[q]) in weak:
            of_question["weak_own"][q] = weak[q, pool.asked_in[q]]
        if foreign and own_wrong:
            crucial = pool.ranked(q, [*foreign, *own_wrong], label_of(q))
            of_question["strong"][q] = expected(before, crucial)
            of_question["strict_own"][q] = expected(all_before, crucial)
        of_question["strict"][q] = expected(all_before, pool.ranked(q, pool.candidates, label_of(q)))
    return {
        "weak_alignment": by_pair(pool, weak),
        "strong_alignment": by_pair(pool, strong),
        "alignment": {name: fmean(values.values()) for name, values in of_question.items() if values},
    }, of_question


def subset(pool, languages):
    """Return {question: average precision} in the pool of these languages."""
    kept = [c for c in pool.candidates if pool.language[c] in languages]
    found = {}
    for q in pool.questions:
        relevant = pool.relevant[q] & set(kept)
        if relevant and pool.asked_in[q] in languages:
            found[q] = pool.precision(q, kept, relevant)
    return found


def monolingual(pool):
    """Return {question: average precision} in the pool of its own language."""
    found: dict = {}
    for language in set(pool.asked_in):
        found |= subset(pool, {language})
    return found


def single_languages(pool):
    """Return {(question, language): average precision} in the pool of each language with an answer."""
    found = {}
    for q in pool.questions:
        for there in {pool.language[c] for c in pool.relevant[q]}:
            kept = [c for c in pool.candidates if pool.language[c] == there]
            found[q, there] = pool.precision(q, kept, pool.relevant[q] & set(kept))
    return found


def loss(pool):
    def of_kind(kind):
        def value(q, c):
            def label(d):
                if d == c:
                    return ANSWER
                own, there = pool.language[d] == pool.asked_in[q], pool.language[d] == pool.language[c]
                return "question" if own else "answer's" if there else "third"

            kept = [d for d in pool.candidates if d == c or d not in pool.relevant[q]]
            return expected(counted(kind), pool.ranked(q, kept, label))

        return by_pair(pool, per_answer(pool, value))

    found = {kind: of_kind(kind) for kind in ("question", "answer's", "third")}
    return {
        pair: {"question": n, "answer": found["answer's"][pair], "third": found["third"][pair]}
        for pair, n in found["question"].items()
    }


def prefer_own(pool):
    """Return {question: average precision}, {kind: {question: errors}} and {kind: {question: P(first)}}."""
    values, errors, first = {}, {}, {}
    for q in pool.questions:
        if not pool.own(q):
            continue

        def label(c, q=q):
            if c in pool.relevant[q]:
                return ANSWER if c in pool.own(q) else "right_meaning_wrong_language"
            return "own_wrong" if pool.language[c] == pool.asked_in[q] else "other_wrong"

        groups = pool.ranked(q, pool.candidates, label)
        values[q] = pool.precision(q, pool.candidates, pool.own(q))
        for kind in ("own_wrong", "other_wrong", "right_meaning_wrong_language"):
            errors.setdefault(kind, {})[q] = expected(counted(kind), groups)
            first.setdefault(kind, {})[q] = expected(stands_first(kind), groups)
        first.setdefault("right", {})[q] = expected(stands_first(ANSWER), groups)
    return values, errors, first
