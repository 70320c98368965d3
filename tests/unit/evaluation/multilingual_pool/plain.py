"""A multilingual pool evaluated plainly: the whole score matrix, a sort per question, a loop for each view.

Scores are float64 cosines to 9 decimals. Ties are expectations, summed place by place over the sorted list:
at place j of a tie group of n, of which r are relevant, stands a relevant candidate with probability r/n, and
before it (j − 1)(r − 1)/(n − 1) relevant ones of the group are expected.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from math import comb

import numpy as np
from scipy.stats import binom, chi2, skew, t


class Plain:
    """The ranking of a pool by vectors [n, d] and [m, d]; every method is one view, written out."""

    def __init__(self, pool, questions, candidates, nearest=None):
        self.pool, self.languages = pool, pool.languages
        scores = unit(questions) @ unit(candidates).T
        self.keys = np.rint(scores * 1e9).astype(np.int64)
        if nearest is not None:
            self.keys = csls(self.keys, nearest)
        self.asked_in, self.language = pool.questions.language, pool.candidates.language
        self.n, self.m, self.G = *self.keys.shape, len(self.languages)
        self.relevant = np.zeros((self.n, self.m), dtype=bool)
        for q, key in enumerate(pool.questions.key):
            self.relevant[q] = self.holders(key)

    @cache  # noqa: B019  (a test's object, which does not live long)
    def holders(self, key):
        return np.array([key in keys for keys in self.pool.candidates.keys])

    def answers(self, q):
        return np.flatnonzero(self.relevant[q])

    def precision(self, q, kept=None, relevant=None, cut=None):
        """Return the expected average precision of question q among the kept candidates."""
        kept = np.ones(self.m, dtype=bool) if kept is None else kept
        relevant = self.relevant[q] if relevant is None else relevant
        return average_precision(self.keys[q][kept], relevant[kept], cut)

    def tied_questions(self):
        """Count the questions of which a relevant candidate ties with an irrelevant one."""
        return sum(
            bool(np.isin(keys[relevant], keys[~relevant]).any())
            for keys, relevant in zip(self.keys, self.relevant, strict=True)
        )

    def measure(self, name, relevant=None):
        """Return a measure's value for each question [n]."""
        relevant = self.relevant if relevant is None else relevant
        rows = zip(self.keys, relevant, strict=True)
        how, _, k = name.removesuffix("/min").partition("@")
        k = int(k) if k else None
        if how == "AP":
            least = np.array([average_precision(keys, rel, k) for keys, rel in rows])
            total = relevant.sum(axis=1)
            return least if k is None or name.endswith("/min") else least * np.minimum(total, k) / total
        if how == "R":
            return np.array([within(keys, k)[rel].mean() for keys, rel in rows])
        if how == "P":
            return np.array([within(keys, k)[rel].sum() / k for keys, rel in rows])
        chances = [place_of_first(keys, rel) for keys, rel in rows]
        of = {
            "Success": lambda above, chance: chance[: max(k - above, 0)].sum() if k else None,
            "RR": lambda above, chance: (chance / (above + 1 + np.arange(len(chance))))[
                : None if k is None else max(k - above, 0)
            ].sum(),
            "MedR": lambda above, chance: (chance * (above + 1 + np.arange(len(chance)))).sum(),
        }[how]
        return np.array([of(*chance) for chance in chances])

    def by_language(self, values):
        """Return the mean over the questions of each language."""
        return {
            tag: float(np.nanmean(own))
            for code, tag in enumerate(self.languages)
            if not np.isnan(own := values[self.asked_in == code]).all()
        }

    def by_pair(self, table):
        """Return the mean of a table [n, G] over the questions of each language."""
        return {
            f"{asked}->{answer}": value
            for a, answer in enumerate(self.languages)
            for asked, value in self.by_language(table[:, a]).items()
        }

    def by_answer_language(self, value):
        """Return the mean of value(q, c) over a question's answers of each language [n, G]; NaN for none."""
        table = np.full((self.n, self.G), np.nan)
        for q in range(self.n):
            own = self.answers(q)
            found = np.array([value(q, c) for c in own])
            for code in np.unique(self.language[own]):
                table[q, code] = found[self.language[own] == code].mean()
        return table

    def own_and_other(self, table):
        """Return (own, mean of the others) [k] of the questions that have both."""
        found = []
        for q, row in enumerate(table):
            others = np.delete(row, self.asked_in[q])
            if not np.isnan(row[self.asked_in[q]]) and not np.isnan(others).all():
                found.append((row[self.asked_in[q]], np.nanmean(others)))
        return np.array(found).reshape(-1, 2).T

    def one_target(self):
        def alone(q, c):
            only = np.arange(self.m) == c
            return self.precision(q, ~self.relevant[q] | only, only)

        table = self.by_answer_language(alone)
        own, other = self.own_and_other(table)
        found = {"one_target": self.by_pair(table)}
        if len(own):
            summary = {"own": own.mean(), "other": other.mean(), "gap": own.mean() - other.mean()}
            found["one_target_summary"] = summary
        return found

    def remove_one(self):
        def without(q, c):
            kept = np.arange(self.m) != c
            return self.precision(q, kept, self.relevant[q] & kept) if self.relevant[q].sum() > 1 else 0.0

        own, other = self.own_and_other(self.by_answer_language(without))
        if not len(own):
            return {}
        same, rand = own.mean(), other.mean()
        delta = (rand - same) / rand
        return {"remove_one": {"same": same, "rand": rand, "relative_delta": delta, "n_questions": len(own)}}

    def subset(self, codes):
        """Return average precision in the pool of some languages [n]; NaN for other questions."""
        inside = np.isin(self.language, codes)
        asked = np.isin(self.asked_in, codes)
        return np.array(
            [
                self.precision(q, inside) if asked[q] and (self.relevant[q] & inside).any() else np.nan
                for q in range(self.n)
            ]
        )

    def subsets(self, chosen=()):
        every = list(combinations(range(self.G), self.G - 1)) if self.G > 2 else []
        every += [tuple(sorted(self.languages.index(tag) for tag in subset)) for subset in chosen]
        found = {",".join(self.languages[code] for code in codes): self.subset(codes) for codes in every}
        means = {name: np.nanmean(values) for name, values in found.items() if not np.isnan(values).all()}
        return {"subsets": means} if means else {}

    def monolingual(self):
        """Return average precision in the pool of the question's language [n]; NaN without an answer."""
        alone = np.stack([self.subset([code]) for code in range(self.G)])
        return alone[self.asked_in, np.arange(self.n)]

    def monolingual_pool(self):
        values = self.monolingual()
        found = self.by_language(values)
        counted = {t: int((~np.isnan(values[self.asked_in == self.languages.index(t)])).sum()) for t in found}
        if not found:
            return {}
        return {
            "monolingual_pool": found,
            "monolingual_pool_average": np.mean(list(found.values())),
            "monolingual_pool_questions": counted,
        }

    def loss(self):
        def of(kind):
            def value(q, c):
                own, there = self.language == self.asked_in[q], self.language == self.language[c]
                chosen = {"question": own, "answer": there & ~own, "third": ~own & ~there}[kind]
                keys = self.keys[q][chosen & ~self.relevant[q]]
                return (keys > self.keys[q, c]).sum() + (keys == self.keys[q, c]).sum() / 2

            return self.by_pair(self.by_answer_language(value))

        found = {kind: of(kind) for kind in ("question", "answer", "third")}
        pairs = found["question"]
        return {"loss": {pair: {kind: found[kind][pair] for kind in found} for pair in pairs}}

    def alignment_of(self, q):
        """Return weak alignment by language, strong alignment by language, and the strict ones, of q."""
        keys, mine, foreign = self.keys[q], self.relevant[q], self.language != self.asked_in[q]
        weak, strong = {}, {}
        wrong = keys[~mine & ~foreign]
        for code in np.unique(self.language[mine]):
            there = self.language == code
            nearest = there & (keys == keys[there].max())
            weak[code] = mine[nearest].mean()
            pairs = np.sign(keys[mine & there][:, None] - wrong[None, :])
            strong[code] = (pairs + 1) / 2
        crucial = (keys[mine & foreign], wrong) if (mine & foreign).any() and len(wrong) else None
        return weak, strong, crucial, (keys[mine], keys[~mine])

    def alignment(self):
        found = [self.alignment_of(q) for q in range(self.n)]
        own = self.asked_in.tolist()
        rows = {name: [] for name in ("weak", "weak_own", "strong", "strict_own", "strict")}
        for q, (weak, strong, crucial, everything) in enumerate(found):
            if others := [value for code, value in weak.items() if code != own[q]]:
                rows["weak"].append(np.mean(others))
            if own[q] in weak:
                rows["weak_own"].append(weak[own[q]])
            if crucial is not None:
                pairs = [value for code, each in strong.items() if code != own[q] for value in each.flat]
                rows["strong"].append(np.mean(pairs))
                rows["strict_own"].append(all_first(*crucial))
            rows["strict"].append(all_first(*everything))
        table = np.full((2, self.n, self.G), np.nan)
        for q, (weak, strong, _, _) in enumerate(found):
            for code in weak:
                table[0, q, code] = weak[code]
                table[1, q, code] = strong[code].mean() if strong[code].size else np.nan
        shown = {"weak_alignment": self.by_pair(table[0]), "strong_alignment": self.by_pair(table[1])}
        shown["alignment"] = {name: np.mean(values) for name, values in rows.items() if values}
        return {name: values for name, values in shown.items() if values}

    def top(self, k):
        """Yield the chance of each candidate [m] to be among the first k, question by question."""
        return (within(keys, k) for keys in self.keys)

    def shares(self):
        k = min(100, self.m)
        member = np.eye(self.G)[self.language]
        shares = self.by_pair(np.array([chance @ member / k for chance in self.top(k)]))
        size = dict(zip(self.languages, member.mean(axis=0), strict=True))
        ratio = {pair: value / size[pair.partition("->")[2]] for pair, value in shares.items()}
        return {"top": k, "language_share_top100": shares, "language_share_ratio_top100": ratio}

    def hubs(self):
        k = min(10, self.m)
        count = sum(self.top(k))
        limit = count.mean() + 2 * count.std()
        varied = count.std() > 1e-9 * count.mean()
        hub = (count > limit) & varied
        held = [count[hub & (self.language == code)].sum() / count.sum() for code in range(self.G)]
        return {
            "hubs": {
                "k": k,
                "skewness": skew(count) if varied else 0.0,
                "never": np.mean(count == 0),
                "largest": count.max(),
                "expected": self.n * k / self.m,
                "threshold": limit,
                "n": int(hub.sum()),
                "by_language": dict(zip(self.languages, held, strict=True)),
                **self.hub_errors(count),
                **self.hub_chance(k, count),
                **self.hubs_across(k, hub),
                "skewness_ci": self.skewness_interval(np.array(list(self.top(k))), count),
            }
        }

    def hub_errors(self, count):
        """Return the share of wrong first places at the hundredth part that is found most often."""
        largest = -(-self.m // 100)
        wrong = sum(chance * ~right for chance, right in zip(self.top(1), self.relevant, strict=True))
        errors = None
        if wrong.sum() > 0:  # mean over orders of what ties: each is drawn as often
            level = np.round(count, 9)
            last = sorted(level)[-largest]
            above, tied = wrong[level > last], wrong[level == last]
            errors = (above.sum() + (largest - len(above)) * tied.mean()) / wrong.sum()
        return {"n_largest": largest, "n_errors": wrong.sum(), "errors": errors}

    def hub_chance(self, k, count):
        """Return the same for candidates that are found by chance: N_k is binomial."""
        one, largest = binom(self.n, k / self.m), -(-self.m // 100)
        u = 1 / one.var() if k < self.m else 0.0
        skewness = float(one.stats("s")) if k < self.m else 0.0
        bound = skewness + 6 * np.sqrt((6 + 4.5 * u + u * u / 4) / self.m)
        held = sum(one.ppf(1 - (i + 0.5) / self.m) for i in range(largest)) / (self.n * k)
        edges = [0, 1, *(2**i for i in range(1, 40) if 2**i <= np.floor(count.max() + 0.5 + 1e-9))]
        rounded = np.floor(count + 0.5 + 1e-9)
        edges = [edge for edge in edges if edge <= max(rounded.max(), 0)]
        bins = [
            {
                "least": low,
                "n": int(((rounded >= low) & (rounded < high)).sum()),
                "by_chance": self.m * sum(one.pmf(i) for i in range(low, min(high, self.n + 1))),
            }
            for low, high in pairwise([*edges, 10**9])
        ]
        found = self.hub_errors(count)["errors"]
        varied = count.std() > 1e-9 * count.mean()
        return {
            "skewness_by_chance": skewness,
            "skewness_bound": bound,
            "never_by_chance": float(one.pmf(0)),
            "errors_by_chance": min(held, 1.0),
            "errors_bound": 0.15,
            "distribution": bins,
            "alarm": bool(varied and skew(count) > bound and found is not None and found >= 0.15),
        }

    def hubs_across(self, k, hub):
        """Return of which languages the questions are that find hubs."""
        held = np.array([chance * hub for chance in self.top(k)])
        asked = {code: held[self.asked_in == code] for code in range(self.G)}
        of = {self.languages[code]: rows.sum() / (len(rows) * k) for code, rows in asked.items() if len(rows)}
        other = by_chance = None
        if held.sum() > 0:
            foreign = self.asked_in[:, None] != self.language
            other = held[foreign].sum() / held.sum()
            by_chance = (held.sum(axis=0) * foreign.mean(axis=0)).sum() / held.sum()
        return {"by_query_language": of, "other_language": other, "other_language_by_chance": by_chance}

    def skewness_interval(self, chances, count):
        """Return skewness ± t times the standard error of the jackknife over clusters."""
        cluster = self.pool.questions.cluster
        left = [chances[cluster != one].sum(axis=0) for one in np.unique(cluster)]
        if len(left) < 2:
            return None
        without = np.array([skew(c) if c.std() > 1e-9 * count.mean() else 0.0 for c in left])
        error = np.sqrt((len(left) - 1) * np.mean((without - without.mean()) ** 2))
        middle = skew(count) if count.std() > 1e-9 * count.mean() else 0.0
        reach = t.ppf(0.975, len(left) - 1) * error
        method = "jackknife over clusters of queries"
        return {"low": middle - reach, "high": middle + reach, "level": 0.95, "method": method}

    def fairness(self, cut=20):
        found = np.array([self._peer(q, cut) for q in range(self.n)])
        other, relevant, other_tested, relevant_tested = found.mean(axis=0)
        peer = {"value": (other + relevant) / 2, "relevant": relevant, "other": other}
        peer |= {"other_tested": other_tested, "relevant_tested": relevant_tested}
        return {"fairness": {f"PEER@{cut}": peer}}

    def _peer(self, q, cut):
        rank, relevant = mid_rank(self.keys[q]), self.relevant[q]
        other = ~relevant & (rank <= cut)
        answers, missing = rank[relevant], rank[relevant] > cut
        unfound = len(answers) + (missing.sum() + 1) / 2
        p = kruskal(rank[other], self.language[other])
        own = 1.0 if missing.all() else kruskal(np.where(missing, unfound, answers), self.language[relevant])
        tested = [len(set(self.language[rows])) > 1 for rows in (other, relevant)]
        return p, own, *tested

    def views(self, subsets=()):
        """Return all views that follow from scores."""
        values = self.measure("AP")
        found = {"by_question_language": self.by_language(values)}
        found["macro"] = np.mean(list(found["by_question_language"].values()))
        for view in (*(self.one_target, self.remove_one, self.monolingual_pool, self.alignment, self.loss),):
            found |= view()
        return found | self.subsets(subsets) | self.shares() | self.hubs() | self.fairness()


def all_first(right, wrong):
    """Return the probability that all of `right` come before all of `wrong`."""
    if not len(wrong) or right.min() > wrong.max():
        return 1.0
    if right.min() < wrong.max():
        return 0.0
    r, w = (right == right.min()).sum(), (wrong == wrong.max()).sum()
    return 1 / comb(int(r + w), int(r))


def unit(vectors):
    raw = np.asarray(vectors, dtype=np.float32).astype(np.float64)
    norm = np.sqrt((raw**2).sum(axis=1, keepdims=True))
    return np.divide(raw, norm, out=np.zeros_like(raw), where=norm > 0)


def csls(keys, k):
    """Return 2·cos less the mean of the k nearest of each side, in whole numbers of 1e-9."""

    def mean(row):
        nearest = sorted(row.tolist(), reverse=True)[:k]
        return round(Fraction(sum(nearest), len(nearest)))

    return 2 * keys - np.array([[mean(row)] for row in keys]) - np.array([mean(row) for row in keys.T])


def tie_groups(keys):
    """Return (order best first, for each place the first place of its tie group and the group's size)."""
    order = np.argsort(-keys, kind="stable")
    ordered = keys[order]
    new = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    size = np.diff(np.append(new, len(keys)))
    return order, np.repeat(new, size), np.repeat(size, size)


def average_precision(keys, relevant, cut=None):
    order, start, size = tie_groups(keys)
    before = np.append(0, np.cumsum(relevant[order]))
    r, above = before[start + size] - before[start], before[start]
    place = np.arange(len(keys))
    beside = (place - start) * (r - 1) / np.maximum(size - 1, 1)
    each = r / size * (above + 1 + beside) / (place + 1)
    total = relevant.sum()
    return each.sum() / total if cut is None else each[:cut].sum() / min(total, cut)


def within(keys, k):
    """Return each candidate's chance to be among the first k."""
    order, start, size = tie_groups(keys)
    chance = np.empty(len(keys))
    chance[order] = np.clip((k - start) / size, 0, 1)
    return chance


def mid_rank(keys):
    order, start, size = tie_groups(keys)
    rank = np.empty(len(keys))
    rank[order] = start + (size + 1) / 2
    return rank


def place_of_first(keys, relevant):
    """Return (candidates above, chance of each place of the tie group to hold the first relevant one)."""
    best = keys[relevant].max()
    n, r = (keys == best).sum(), (keys[relevant] == best).sum()
    chances, none_yet = [], 1.0
    for j in range(n - r + 1):
        chances.append(none_yet * r / (n - j))
        none_yet *= (n - j - r) / (n - j)
    return (keys > best).sum(), np.array(chances)


def kruskal(values, groups):
    """Return p of a Kruskal-Wallis test on values that are ranks; 1 where nothing can differ."""
    codes = np.unique(groups)
    spread = ((values - values.mean()) ** 2).sum() if len(values) else 0.0
    if len(codes) < 2 or spread < 1e-9:
        return 1.0
    between = sum((groups == g).sum() * (values[groups == g].mean() - values.mean()) ** 2 for g in codes)
    return chi2.sf((len(values) - 1) * between / spread, len(codes) - 1)
