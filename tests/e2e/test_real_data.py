"""Product texts in English and German with ResNet-50 features: every number equals one computed apart.

The definitions are written out again with whole matrices: 24 encoders, 25 fixed samples, both
directions. The fast run takes two of the samples and some of the encoders.
"""

import numpy as np
import pytest
from scipy.stats import rankdata

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation
from xlingual.results import by_key

pytestmark = [pytest.mark.data, pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")]
PAIRS = "en-de,de-en"
K = 10
SOME = ["random", "doclen", "charhash_3_5", "cllsa_200", "minilm_direct", "ibm1_lsa_2860"]


@pytest.fixture(scope="module")
def ikea(real_data):
    folder = real_data / "ikea"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing")
    return folder


@pytest.fixture(scope="module")
def manifest(ikea):
    return Manifest.read(ikea / "ikea_en_de_eval.parquet", text_column="raw_{lang}", image_column="image")


@pytest.fixture(scope="module")
def names(ikea, full):
    found = sorted(path.name.removesuffix(".en.npy") for path in (ikea / "embeddings").glob("*.en.npy"))
    assert len(found) == 24
    return found if full else SOME


@pytest.fixture(scope="module")
def options(samples, tmp_path_factory):
    path = tmp_path_factory.mktemp("splits") / "splits.npz"
    np.savez(path, S=samples[0], T=samples[1])
    return {"pairs": PAIRS, "sample": path}


@pytest.fixture(scope="module")
def images(ikea):
    return f"vectors:{ikea / 'ikea_en_de_eval_features.npy'}"


@pytest.fixture(scope="module")
def encoders(ikea, names):
    return {name: f"vectors:{ikea / 'embeddings'}/{name}.{{lang}}.npy" for name in names}


@pytest.fixture(scope="module")
def bkr(manifest, options, images, encoders):
    return backretrieval(manifest, text_encoders=encoders, image_encoder=images, examples=False, **options)


@pytest.fixture(scope="module")
def xlr(manifest, options, encoders):
    return crosslingual_retrieval(manifest, text_encoders=encoders, **options)


@pytest.fixture(scope="module")
def samples(ikea, full):
    with np.load(ikea / "embeddings" / "splits.npz") as file:
        assert len(file["S"]) == len(file["T"]) == 25
        some = slice(25 if full else 2)
        return file["S"][some], file["T"][some]


def unit(vectors):
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1)


@pytest.fixture(scope="module")
def cosines(ikea):
    """Return the cosines of all images [730, 730], to 9 decimals."""
    features = unit(np.load(ikea / "ikea_en_de_eval_features.npy"))
    return np.round(features @ features.T, 9)


@pytest.fixture(scope="module")
def texts(ikea, names):
    """Return the cosines of all English with all German texts by encoder [730, 730], to 9 decimals."""
    found = {}
    for name in names:
        sides = [unit(np.load(ikea / "embeddings" / f"{name}.{lang}.npy")) for lang in ("en", "de")]
        found[name] = np.round(sides[0] @ sides[1].T, 9)
    return found


def directed(cosines, source, rows, columns):
    return (cosines if source == "en" else cosines.T)[np.ix_(rows, columns)]


def chance_of_hit(scores, own):
    """Return P(rank ≤ K) of the candidates `own` [n] in rows of scores [n, m], ties at random."""
    mine = scores[np.arange(len(own)), own][:, None]
    above, tied = (scores > mine).sum(1), (scores == mine).sum(1)
    return np.clip((K - above) / tied, 0, 1)


def all_chances_of_hit(scores):
    """Return P(rank ≤ K) of every candidate in every row of scores [n, m]."""
    ordered = np.sort(scores, axis=1)
    found = np.empty(scores.shape)
    for row, (values, order) in enumerate(zip(scores, ordered, strict=True)):
        high = np.searchsorted(order, values, "right")
        above, tied = len(order) - high, high - np.searchsorted(order, values, "left")
        found[row] = np.clip((K - above) / tied, 0, 1)
    return found


def test_backretrieval_and_sim_equal_the_definition(bkr, names, texts, cosines, samples):
    recall = {(e.encoder, e.source, e.seed): e for e in by_key(bkr.entries, measure="R@10")}
    similarity = {(e.encoder, e.source, e.seed): e for e in by_key(bkr.entries, measure="SIM")}
    assert len(recall) == len(similarity) == len(names) * len(samples[0]) * 2
    for seed, (S, T) in enumerate(zip(*samples, strict=True)):
        back = cosines[np.ix_(T, S)]
        hits = all_chances_of_hit(back)  # [T, S]
        nearest = back == back.max(axis=0)
        oracle = (hits * nearest).sum(0) / nearest.sum(0)
        for name in names:
            for source in ("en", "de"):
                scores = directed(texts[name], source, S, T)
                best = scores == scores.max(axis=1, keepdims=True)  # [S, T]
                share = best / best.sum(axis=1, keepdims=True)
                found, sim = recall[name, source, seed], similarity[name, source, seed]
                assert found.value == pytest.approx((share * hits.T).sum() / len(S), abs=1e-6)
                assert sim.value == pytest.approx((share * back.T).sum() / len(S), abs=1e-6)
                assert found.oracle == pytest.approx(oracle.mean(), abs=1e-6)
                assert found.ceiling == pytest.approx(hits.max(axis=0).mean(), abs=1e-6)
                assert found.chance == pytest.approx(K / len(S), abs=1e-12)
                assert sim.chance == pytest.approx(back.mean(), abs=1e-6)
                assert sim.oracle == sim.ceiling == pytest.approx(back.max(axis=0).mean(), abs=1e-6)
                assert found.normalized == pytest.approx(
                    (found.value - found.chance) / (found.oracle - found.chance)
                )
                assert found.ci.low < found.value < found.ci.high


def test_crosslingual_retrieval_equals_the_definition(xlr, names, texts, samples):
    found = {(e.encoder, e.source, e.seed): e for e in xlr.entries}
    assert len(found) == len(names) * len(samples[0]) * 2
    for seed, S in enumerate(samples[0]):
        for name in names:
            for source in ("en", "de"):
                scores = directed(texts[name], source, S, S)
                entry = found[name, source, seed]
                assert entry.value == pytest.approx(chance_of_hit(scores, np.arange(len(S))).mean(), abs=1e-6)
                assert entry.chance == pytest.approx(K / len(S), abs=1e-12)


def check_correlations(manifest, ikea, images, texts, cosines, samples, names, seeds, options):
    specs = [f"vectors:{ikea / 'embeddings' / name}.{{lang}}.npy" for name in names]
    results = distance_correlation(manifest, text_encoders=specs, image_encoder=images, **options)
    found = {(e.encoder, e.source, e.seed): e for e in results.entries}
    assert len(found) == len(names) * 2 * seeds
    for seed, (S, T) in list(enumerate(zip(*samples, strict=True)))[:seeds]:
        ranked = rankdata(1 - cosines[np.ix_(S, T)])
        for name in names:
            for source in ("en", "de"):
                distances = rankdata(1 - directed(texts[name], source, S, T))
                wanted = np.corrcoef(distances.ravel(), ranked.ravel())[0, 1]
                assert found[name, source, seed].value == pytest.approx(wanted, abs=1e-4)


@pytest.mark.slow  # on made data: tests/properties/test_backretrieval.py
def test_distance_correlation_equals_the_definition(
    manifest, ikea, images, texts, cosines, samples, tmp_path
):
    seeds = min(5, len(samples[0]))
    path = tmp_path / "five.npz"
    np.savez(path, S=samples[0][:seeds], T=samples[1][:seeds])
    options = {"pairs": PAIRS, "sample": path}
    check_correlations(manifest, ikea, images, texts, cosines, samples, SOME, seeds, options)


def overall(results, name, measure):
    (row,) = by_key(results.summary, encoder=name, measure=measure, source=None)
    return row


def test_random_vectors_are_at_chance_and_a_good_encoder_far_above(bkr, xlr):
    for results in (bkr, xlr):
        nothing, good = (overall(results, name, "R@10") for name in ("random", "ibm1_lsa_2860"))
        error = (nothing.ci.high - nothing.ci.low) / 2 / 1.96
        assert abs(nothing.value - nothing.chance) < 3 * error
        assert (good.ci.low - good.chance) > 5 * error
        assert good.value > 3 * good.chance


def test_backretrieval_ranks_encoders_as_retrieval_does(bkr, xlr, names):
    """The paper's claim, on this data: over encoders, BkR and XLR correlate strongly."""
    by_name = [
        [overall(results, name, measure).value for name in names]
        for results, measure in ((xlr, "R@10"), (bkr, "R@10"), (bkr, "SIM"))
    ]
    truth, recall, similarity = by_name
    assert np.corrcoef(truth, recall)[0, 1] > 0.9
    assert np.corrcoef(truth, similarity)[0, 1] > 0.9


def test_summaries_are_means_over_seeds_and_pairs(bkr, samples):
    seeds = len(samples[0])
    for name in SOME:
        entries = by_key(bkr.entries, encoder=name, measure="R@10")
        row = overall(bkr, name, "R@10")
        assert row.value == pytest.approx(np.mean([e.value for e in entries]))
        assert (row.n_pairs, row.n_seeds) == (2, seeds)
        by_seed = [np.mean([e.value for e in entries if e.seed == seed]) for seed in range(seeds)]
        assert row.sd_seeds == pytest.approx(np.std(by_seed, ddof=1))
        # an interval over seeds that overlap must not shrink with their number
        assert row.ci.high - row.ci.low > row.sd_seeds / 5 * 2


def test_the_query_table_gives_the_numbers_back(bkr):
    table = bkr.per_query.to_pandas()
    keys = ["encoder", "source", "target", "measure", "seed"]
    means = table.groupby(keys, observed=True)["value"].mean()
    for entry in bkr.entries:
        key = tuple(getattr(entry, name) for name in keys)
        assert means[key] == pytest.approx(entry.value, abs=1e-12)
