"""Results on small, strange manifests equal the definitions written out; what must not matter does not."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from xlingual.data.samples import Sampler
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation

HERE = Path(__file__).parent
shared = SimpleNamespace(**run_path(str(HERE.parent / "unit" / "evaluation" / "cases.py")))
cases, oracle, MEASURES = shared.cases, shared.oracle, shared.MEASURES
CLOSE = {"rel": 0, "abs": 1e-9}


pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")  # zero vectors are meant


def ran(function, *args, **kwargs):
    """Return the results, or leave the example out where it has too few images for the measures."""
    try:
        return function(*args, **kwargs)
    except InputError as error:
        assume("distinct source images" not in str(error) and "non-matching sample" not in str(error))
        raise


def bkr(case, names=None, **options):
    pairs = ["en:de", f"{max(case.manifest.languages)}:en"] if "ja" in case.manifest.languages else None
    return ran(
        backretrieval,
        case.manifest,
        text_encoders=case.encoders(names),
        image_encoder=case.image_encoder,
        **({"measures": MEASURES, "examples": False, "pairs": pairs} | options),
    )


def per_query(results):
    """Return (values, ids of queries) for each number."""
    found = {}
    for row in results.per_query.to_pylist():
        key = row["encoder"], row["source"], row["target"], row["measure"], row["seed"]
        values, queries = found.setdefault(key, ([], []))
        values.append(row["value"])
        queries.append(row["query"])
    return found


def key_of(entry):
    return entry.encoder, entry.source, entry.target, entry.measure, entry.seed


slowly = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@slowly
@given(cases(), st.sampled_from([{}, {"sample": 5, "seeds": 2, "seed": 3}, {"texts_per_item": 1}]))
def test_backretrieval_equals_its_definition(case, options):
    results = bkr(case, **options)
    assert {e.measure for e in results.entries} == {*MEASURES, "SIM"}
    table = per_query(results)
    for entry in results.entries:
        sample = case.sample(entry, **options)
        values, best, ceiling, chance = case.backretrieval(entry.measure, entry.encoder, sample)
        found, queries = table[key_of(entry)]
        assert queries == [case.manifest.ids[row] for row in sample.source]
        assert found == pytest.approx(values, **CLOSE)
        assert entry.value == pytest.approx(oracle.aggregate(entry.measure, values), **CLOSE)
        assert entry.oracle == pytest.approx(oracle.aggregate(entry.measure, best), **CLOSE)
        assert entry.chance == pytest.approx(chance, abs=3e-9)  # SIM: the mean of cosines not rounded
        if entry.measure.startswith("R@"):
            assert entry.ceiling == pytest.approx(np.mean(ceiling), **CLOSE)
        else:
            assert entry.ceiling == (entry.oracle if entry.measure == "SIM" else None)
        if entry.normalized is not None:
            wanted = (entry.value - entry.chance) / (entry.oracle - entry.chance)
            assert entry.normalized == pytest.approx(wanted, **CLOSE)
        assert (entry.n_source, entry.n_target) == (len(sample.source), len(sample.target))


@slowly
@given(cases(), st.sampled_from([{}, {"sample": 4, "seeds": 2}, {"texts_per_item": 1}]))
def test_crosslingual_retrieval_equals_its_definition(case, options):
    results = ran(
        crosslingual_retrieval,
        case.manifest,
        text_encoders=case.encoders(),
        measures=[*MEASURES, "Success@1", "Success@2"],
        pairs="en-de,de-en",
        **options,
    )
    table = per_query(results)
    samples = [case.sample(e, matching=True, **options) for e in results.entries]
    several = any(np.bincount(case.manifest.item[sample.target]).max() > 1 for sample in samples)
    named = {entry.measure for entry in results.entries}
    assert named == {*MEASURES, *(("Success@1", "Success@2") if several else ())}
    for entry, sample in zip(results.entries, samples, strict=True):
        values, chances = case.crosslingual_retrieval(entry.measure, entry.encoder, sample)
        assert table[key_of(entry)][0] == pytest.approx(values, **CLOSE)
        assert entry.value == pytest.approx(oracle.aggregate(entry.measure, values), **CLOSE)
        assert entry.chance == pytest.approx(oracle.aggregate(entry.measure, chances), **CLOSE)
        assert (entry.oracle, entry.ceiling, entry.normalized) == (None, None, None)


@slowly
@given(cases(), st.sampled_from([{}, {"sample": 4, "seeds": 2}, {"texts_per_item": 1}]))
def test_distance_correlation_equals_its_definition(case, options):
    results = ran(
        distance_correlation,
        case.manifest,
        text_encoders=case.encoders(),
        image_encoder=case.image_encoder,
        pairs="en-de,de-en",
        **options,
    )
    for entry in results.entries:
        sample = case.sample(entry, **options)
        wanted = case.distance_correlation(entry.encoder, sample)
        if wanted is None:
            assert entry.value is None
            assert "no correlation" in entry.note
        else:
            assert entry.value == pytest.approx(wanted, abs=1e-6)
            assert entry.ci.low < entry.value < entry.ci.high or abs(wanted) > 1 - 1e-9


@slowly
@given(cases())
def test_no_query_exceeds_its_ceiling(case):
    results = bkr(case, measures=["R@1", "R@2", "R@4"])
    table = per_query(results)
    for entry in results.entries:
        ceiling = case.backretrieval(entry.measure, entry.encoder, case.sample(entry))[2]
        values = np.array(table[key_of(entry)][0])
        assert (values <= np.array(ceiling) + 1e-9).all()
        assert entry.value <= entry.ceiling + 1e-9
        assert entry.oracle <= entry.ceiling + 1e-9


@slowly
@given(cases())
def test_an_encoder_that_sees_the_images_is_the_oracle(case):
    case.texts["perfect"] = case.images
    for entry in bkr(case, ["perfect"]).entries:
        assert entry.value == pytest.approx(entry.oracle, **CLOSE)


@slowly
@given(cases(kinds=("integers", "plain")))
def test_an_encoder_or_measure_more_changes_no_other_number(case):
    def numbers(results):
        return {key_of(entry): entry for entry in results.entries}

    both = numbers(bkr(case))
    for name in ("integers", "plain"):
        alone = numbers(bkr(case, [name]))
        assert alone == {key: entry for key, entry in both.items() if key[0] == name}
    # hubs stand with the first measure
    both = {key: structs.replace(entry, views=None) for key, entry in both.items()}
    for measure in MEASURES:
        alone = numbers(bkr(case, measures=[measure]))
        alone = {key: structs.replace(entry, views=None) for key, entry in alone.items()}
        assert alone == {key: entry for key, entry in both.items() if key[3] in (measure, "SIM")}


@slowly
@given(cases(), st.integers(2, 4))
def test_threads_and_repetition_change_nothing(case, threads):
    def content(**options):
        results = bkr(case, seeds=2, **options)
        record = results.to_dict()
        del record["timings"], record["costs"], record["run"]
        return record, results.per_query

    first, table = content()
    for again, other in (content(), content(threads=threads)):
        assert again == first
        assert other.equals(table)


@slowly
@given(cases(kinds=("plain", "few")), st.integers(0, 2**32))
def test_rotating_and_rescaling_all_vectors_changes_nothing(case, seed):
    rng = np.random.default_rng(seed)
    before = {name: bkr(case, [name]).entries for name in case.texts}
    for name in case.texts:
        d = case.texts[name].shape[1]
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
        # a rotation rounds to float32: equal vectors stay equal, others move by far less than they differ
        case.texts[name] = (case.texts[name] @ turn * 7.5).astype(np.float32)
        for old, new in zip(before[name], bkr(case, [name]).entries, strict=True):
            assert new.value == pytest.approx(old.value, **CLOSE)


@slowly
@given(cases(), st.integers(0, 2**32))
def test_lengths_of_vectors_do_not_matter(case, seed):
    before = bkr(case).entries
    scale = 2.0 ** np.random.default_rng(seed).integers(-20, 20, (len(case.manifest), 1))
    case.texts = {name: (v * scale).astype(np.float32) for name, v in case.texts.items()}
    for old, new in zip(before, bkr(case).entries, strict=True):
        assert new.value == pytest.approx(old.value, **CLOSE)


@slowly
@given(cases(), st.integers(0, 2**32))
def test_the_order_of_the_rows_does_not_matter_for_a_given_sample(case, seed):
    """Ranks see sets: the same sources and targets in another order give the same numbers."""
    rng = np.random.default_rng(seed)
    manifest = case.manifest
    sample = case.sample(SimpleNamespace(source="en", target="de", seed=0))
    names = np.array(manifest.ids, dtype=object)
    order = rng.permutation(np.concatenate([sample.source, sample.target]))
    images = [*manifest.image_source, None]
    rows = [
        {
            "id": names[row],
            "lang": manifest.languages[manifest.language[row]],
            "text": manifest.text[row],
            "item": manifest.item_ids[manifest.item[row]],
            "image": images[manifest.image[row]],
        }
        for row in order
    ]
    moved = type(case)(
        type(manifest).of(rows),
        {name: values[order] for name, values in case.texts.items()},
        case.images[order],
    )
    before = bkr(case, pairs="en-de").entries
    after = bkr(moved, pairs="en-de").entries
    for old, new in zip(before, after, strict=True):
        assert (new.n_source, new.n_target) == (old.n_source, old.n_target)
        for key in ("value", "chance", "oracle", "ceiling"):
            a, b = getattr(old, key), getattr(new, key)
            assert (a is None) == (b is None)
            assert a is None or b == pytest.approx(a, **CLOSE)


@slowly
@given(cases(), st.integers(0, 9), st.data())
def test_samples(case, seed, data):
    manifest = case.manifest
    sampler = Sampler(manifest, seeds=2, seed=seed)
    again = Sampler(manifest, seeds=2, seed=seed)
    items = {language: set(manifest.item[manifest.rows_of(language)]) for language in manifest.languages}
    for source, target in [("en", "de"), ("de", "en"), (manifest.languages[-1], "en")]:
        if source == target:
            continue
        for sample, other in zip(
            sampler.non_matching(source, target), again.non_matching(source, target), strict=True
        ):
            np.testing.assert_array_equal(sample.source, other.source)
            np.testing.assert_array_equal(sample.target, other.target)
            left, right = set(manifest.item[sample.source]), set(manifest.item[sample.target])
            assert not left & right
            assert left | right == items[source] | items[target]  # everything serves
            assert items[source] - items[target] <= left
            assert items[target] - items[source] <= right
            both = items[source] & items[target]
            assert abs(len(left & both) - len(right & both)) <= 1
            for rows, language, chosen in ((sample.source, source, left), (sample.target, target, right)):
                of_language = manifest.rows_of(language)
                wanted = of_language[np.isin(manifest.item[of_language], list(chosen))]
                np.testing.assert_array_equal(rows, wanted)  # every text of a chosen item, in order
        for sample in sampler.matching(source, target):
            assert set(manifest.item[sample.source]) == set(manifest.item[sample.target])
            assert set(manifest.item[sample.source]) == items[source] & items[target]
    size = data.draw(st.integers(1, 4))
    drawn = Sampler(manifest, sample=size, seeds=2, seed=seed)
    for sample in [*drawn.non_matching("en", "de"), *drawn.matching("en", "de")]:
        assert len(set(manifest.item[sample.source])) == len(set(manifest.item[sample.target])) == size
    there, back = drawn.non_matching("en", "de"), drawn.non_matching("de", "en")
    shared_items = items["en"] & items["de"]
    for a, b in zip(there, back, strict=True):
        # one division serves both directions: an item is a source in both or a target in both
        assert not set(manifest.item[a.source]) & set(manifest.item[b.target]) & shared_items
        assert not set(manifest.item[a.target]) & set(manifest.item[b.source]) & shared_items
