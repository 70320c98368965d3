"""k-best MIRA written down as it was published, hypothesis by hypothesis: what the fast one is compared with.

Cherry and Foster (2012), Batch tuning strategies for statistical machine translation, algorithm 1 and section
3, with the conventions of Moses: background of ones, hope and fear by BLEU scaled with the reference length.
Counts are [4 matches, 4 totals, hypothesis length, reference length].
"""

import math


def bleu(counts):
    matches, totals, (hypothesis, reference) = counts[:4], counts[4:8], counts[8:]
    if 0 in matches:
        return 0.0
    mean = sum(math.log(match) - math.log(total) for match, total in zip(matches, totals, strict=True)) / 4
    return math.exp(mean + min(1 - reference / hypothesis, 0))


def background_bleu(counts, background):
    summed = [count + past for count, past in zip(counts, background, strict=True)]
    return bleu(summed) * summed[9]


def dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


def argmax(values):
    best = 0
    for i, value in enumerate(values):
        if value > values[best]:
            best = i
    return best


def epoch(lists, order, weights, background, total, seen, C=0.01, decay=0.999):
    """Pass once over the lists [(features, counts)] of hypotheses; return what the next epoch begins with."""
    for sentence in order:
        features, counts = lists[sentence]
        scores = [dot(weights, f) for f in features]
        gains = [background_bleu(c, background) for c in counts]
        hope = argmax([score + gain for score, gain in zip(scores, gains, strict=True)])
        fear = argmax([score - gain for score, gain in zip(scores, gains, strict=True)])
        if hope != fear and gains[hope] > gains[fear]:
            difference = [h - f for h, f in zip(features[hope], features[fear], strict=True)]
            loss = gains[hope] - gains[fear] - dot(weights, difference)
            if loss > 0:
                length = dot(difference, difference)
                step = min(C, loss / length) if length > 0 else C
                weights = [w + step * d for w, d in zip(weights, difference, strict=True)]
            background = [decay * b + c for b, c in zip(background, counts[hope], strict=True)]
        total = [t + w for t, w in zip(total, weights, strict=True)]
        seen += 1
    return weights, background, total, seen


def chosen_bleu(lists, weights):
    summed = [0] * 10
    for features, counts in lists:
        best = argmax([dot(weights, f) for f in features])
        summed = [a + b for a, b in zip(summed, counts[best], strict=True)]
    return 100 * bleu(summed)


def mira(lists, orders, background=(1,) * 10, **settings):
    """Return the kept weights, their BLEU, their epoch and the BLEU of every epoch."""
    weights = [0.0] * len(lists[0][0][0])
    total, seen = list(weights), 0
    background = list(background)
    best, history = None, []
    for number, order in enumerate(orders, 1):
        weights, background, total, seen = epoch(lists, order, weights, background, total, seen, **settings)
        mean = [t / seen for t in total] if seen else weights
        history.append(chosen_bleu(lists, mean))
        if best is None or history[-1] > best[1]:
            best = (mean, history[-1], number)
    return (*best, history)
