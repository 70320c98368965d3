"""Backretrieval, cross-lingual retrieval and distance correlation: encoders whose numbers theory tells."""

import numpy as np
import pytest
from tests.behaviour.planted import TAGS, circle, evaluate, images, manifest, numbers, same, vectors

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
N = 40
EYE = np.eye(N)
WAYS = (("de", "en"), ("en", "de"))
H = np.cumsum(1 / np.arange(1, N + 1))  # harmonic numbers


def both(name, value):
    return {(name, *way): value for way in WAYS}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    return folder, manifest(folder, N)


@pytest.fixture(scope="module")
def extremes(shop):
    """Cross-lingual retrieval of encoders at the ends of the scale."""
    folder, data = shop
    specs = [
        same(folder, "perfect", EYE),
        same(folder, "zero", 0 * EYE),
        same(folder, "constant", np.ones((N, 3))),
        same(folder, "pairs", np.repeat(EYE[: N // 2], 2, axis=0)),  # two items share each vector
        vectors(folder, "opposite", {"de": EYE, "en": -EYE}),
        vectors(folder, "next", {"de": EYE, "en": np.roll(EYE, 1, axis=0) + 0.1 * EYE}),
    ]
    return evaluate("xlr", data, specs, measure=["R@1", "R@2", "R@10", "RR", "MedR"])


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        ("perfect", {"R@1": 1, "R@10": 1, "RR": 1, "MedR": 1}),
        ("zero", {"R@1": 1 / N, "R@10": 10 / N, "RR": H[N - 1] / N, "MedR": (N + 1) / 2}),
        ("constant", {"R@1": 1 / N, "R@10": 10 / N, "RR": H[N - 1] / N, "MedR": (N + 1) / 2}),
        ("pairs", {"R@1": 1 / 2, "R@2": 1, "RR": 3 / 4, "MedR": 1.5}),
        ("opposite", {"R@1": 0, "R@10": 0, "RR": 1 / N, "MedR": N}),
        ("next", {"R@1": 0, "R@2": 1, "RR": 1 / 2, "MedR": 2}),
    ],
)
def test_retrieval_at_the_ends_of_the_scale(extremes, encoder, expected):
    for measure, value in expected.items():
        found = {key: v for key, v in numbers(extremes, measure).items() if key[0] == encoder}
        assert found == pytest.approx(both(encoder, value), abs=1e-12), measure


def test_retrieval_says_chance_ties_and_sizes(extremes):
    for measure, value in {"R@1": 1 / N, "R@10": 10 / N, "RR": H[N - 1] / N}.items():
        assert set(np.round(list(numbers(extremes, measure, "chance").values()), 12)) == {round(value, 12)}
    tied = numbers(extremes, "R@1", "n_tied")
    assert {tied[name, "de", "en"] for name in ("constant", "zero", "pairs")} == {N}
    assert {tied[name, "de", "en"] for name in ("perfect", "next")} == {0}
    assert set(numbers(extremes, "R@1", "n_source").values()) == {N}


def test_intervals_hold_the_value_and_have_width_at_a_bound(extremes):
    for row in extremes["results"]:
        assert row["ci"]["low"] <= row["value"] <= row["ci"]["high"]
    assert numbers(extremes, "R@1", "ci")["perfect", "de", "en"]["low"] < 0.95


def test_several_texts_of_an_item_are_all_right(tmp_path):
    """Two texts of an item in each language, the same vector for both: recall of one place is a half."""
    data = manifest(tmp_path, N, id=lambda i: f"a{i}")
    rows = data.read_text().splitlines()
    data.write_text("\n".join(rows + [row.replace('"a', '"b').replace("text", "words") for row in rows]))
    spec = same(tmp_path, "twice", np.tile(EYE, (2, 1)))
    found = evaluate("xlr", data, [spec], measure=["R@1", "Success@1", "R@2", "RR"])
    expected = {"R@1": 0.5, "Success@1": 1, "R@2": 1, "RR": 1}
    for measure, value in expected.items():
        assert numbers(found, measure) == pytest.approx(both("twice", value)), measure
    assert set(numbers(found, "R@1", "n_source").values()) == {2 * N}


# ---------------------------------------------------------------------------------------------- Backretrieval
HALF, EPSILON = N // 2, 0.004  # turns; neighbours on the circle are 0.05 apart


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Images of the sources 0 … 19 stand on a circle; item 20 + i shows nearly what item i shows."""
    folder = tmp_path_factory.mktemp("ring")
    angles = np.arange(HALF) / HALF
    shown = images(folder, circle([*angles, *(angles + EPSILON)]))
    np.savez(folder / "splits.npz", S=[np.arange(HALF)], T=[np.arange(HALF, N)])
    return folder, manifest(folder, N), shown


def meaning(shift):
    """Vectors by which source i finds the target that shows nearly what source i + shift shows."""
    i = np.arange(HALF)
    return np.concatenate([np.eye(HALF), np.eye(HALF)[(i - shift) % HALF]])


@pytest.fixture(scope="module")
def ways_back(ring):
    folder, data, shown = ring
    specs = [same(folder, f"shift{s}", meaning(s)) for s in range(7)]
    specs += [same(folder, "constant", np.ones((N, 2)))]
    return evaluate(
        *("bkr", data, specs),
        image_encoder=shown, sample=folder / "splits.npz", pairs="de-en", measure=["R@1", "R@5", "R@10"],
    )  # fmt: skip


@pytest.mark.parametrize("k", [1, 5, 10])
def test_the_way_back_leads_as_far_as_the_found_image_is_off(ways_back, k):
    """An image that is off by s places has 2 s images between it and the query's: rank 2 s + 1."""
    found = numbers(ways_back, f"R@{k}")
    for shift in range(7):
        assert found[f"shift{shift}", "de", "en"] == (2 * shift + 1 <= k)
    assert found["constant", "de", "en"] == pytest.approx(k / HALF)  # exactly chance


def test_similarity_of_images_is_the_cosine_of_the_angle(ways_back):
    found = numbers(ways_back, "SIM")
    for shift in range(7):
        angle = 2 * np.pi * (shift / HALF + EPSILON)
        assert found[f"shift{shift}", "de", "en"] == pytest.approx(np.cos(angle), abs=1e-6)
    assert found["constant", "de", "en"] == pytest.approx(0, abs=1e-6)


def test_chance_oracle_ceiling_and_the_normalised_value(ways_back):
    for row in ways_back["results"]:
        if row["measure"].startswith("R@"):
            k = int(row["measure"][2:])
            assert row["chance"] == pytest.approx(k / HALF)
            assert (row["oracle"], row["ceiling"]) == (1, 1)
            share = (row["value"] - k / HALF) / (1 - k / HALF)
            assert row["normalized"] == pytest.approx(share, abs=1e-12)


def test_samples_are_drawn_by_seed_and_do_not_match(ring):
    """A seed is a seed, however many there are; sources and targets are different items."""
    folder, data, shown = ring
    spec = same(folder, "one", meaning(1))
    given = {"image_encoder": shown, "pairs": "de-en", "measure": "R@5"}
    several = evaluate("bkr", data, [spec], seeds=3, seed=5, sample=15, **given)
    assert [row["seed"] for row in several["results"] if row["measure"] == "R@5"] == [5, 6, 7]
    for seed in (5, 6, 7):
        alone = evaluate("bkr", data, [spec], seed=seed, sample=15, **given)
        assert numbers(alone, "R@5", seed=seed) == numbers(several, "R@5", seed=seed)
        sizes = (numbers(alone, "R@5", "n_source", seed=seed), numbers(alone, "R@5", "n_target", seed=seed))
        assert [*sizes[0].values(), *sizes[1].values()] == [15, 15]
    perfect = same(folder, "self", EYE)  # finds only its own item, which is no target
    found = evaluate("bkr", data, [perfect], **given)
    assert list(numbers(found, "R@5").values()) == pytest.approx([1 / 4])


# ----------------------------------------------------------------------------------------------- correlation
def test_distances_of_texts_that_follow_those_of_images(ring):
    folder, data, shown = ring
    angles = np.concatenate([np.arange(HALF) / HALF, np.arange(HALF) / HALF + EPSILON])
    points = circle(angles)
    specs = [
        same(folder, "equal", points),
        vectors(folder, "mirrored", {"de": points, "en": -points}),
        same(folder, "noise", np.random.default_rng(0).normal(size=(N, 30))),
    ]
    found = numbers(evaluate("corr", data, specs, image_encoder=shown), "CORR")
    for way in WAYS:
        assert found["equal", *way] == pytest.approx(1, abs=1e-4)
        assert found["mirrored", *way] == pytest.approx(-1, abs=1e-4)
        assert abs(found["noise", *way]) < 0.3


# ---------------------------------------------------------------------------------------------- invariances
@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A manifest with vectors and images of middling quality, of which a test makes other forms."""
    rng = np.random.default_rng(1)
    meant = rng.normal(size=(N, 8))
    texts = {tag: meant + 0.9 * rng.normal(size=(N, 8)) for tag in TAGS}
    return texts, meant + 0.5 * rng.normal(size=(N, 8))


def values(folder, texts, shown, order=None, tags=TAGS, **options):
    """Return the numbers of three tasks; `order` permutes the items, sources and targets stay the same."""
    order = np.arange(N) if order is None else order
    data = manifest(folder, N, tags, id=lambda i: str(order[i]))
    place = np.argsort(order)  # the new number of each item
    np.savez(folder / "splits.npz", S=[place[:HALF]], T=[place[HALF:]])
    spec = vectors(folder, "x", {tag: v[order] for tag, v in zip(tags, texts.values(), strict=True)})
    eyes = images(folder, shown[order], tags)
    given = {"sample": folder / "splits.npz"} | options
    found = {}
    for task, more, measures in (
        ("bkr", {"image_encoder": eyes, "measure": ["R@1", "R@5"]}, ("R@1", "R@5", "SIM")),
        ("xlr", {"measure": ["R@1", "RR", "MedR"]}, ("R@1", "RR", "MedR")),
        ("corr", {"image_encoder": eyes}, ("CORR",)),
    ):
        results = evaluate(task, data, [spec], **given, **more)
        for measure in measures:
            for (_, source, target), value in numbers(results, measure).items():
                found[task, measure, tags.index(source), tags.index(target)] = value
    return found


def test_order_of_items_names_of_languages_and_the_space_do_not_matter(noise, tmp_path):
    texts, shown = noise
    first = values(tmp_path / "a", texts, shown)
    assert len(first) == 14 and 0.05 < first["xlr", "R@1", 0, 1] < 0.95
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(8, 8)))[0]
    other = {
        "order": {"order": np.random.default_rng(3).permutation(N)},
        "languages": {"tags": ("fi", "sw")},
        "threads": {"threads": 2},
    }
    for name, options in other.items():
        found = values(tmp_path / name, texts, shown, **options)
        assert found == pytest.approx(first, abs=1e-12), name
    lengths = {tag: 3.7 * v * np.arange(1, N + 1)[:, None] for tag, v in texts.items()}
    turned = {tag: v @ turn for tag, v in texts.items()}
    for name, changed in (("lengths", lengths), ("turned", turned)):
        found = values(tmp_path / name, changed, shown)
        assert found == pytest.approx(first, abs=1e-6), name


def test_back_ends_agree(noise, tmp_path):
    pytest.importorskip("torch")
    texts, _ = noise
    data, spec = manifest(tmp_path, N), vectors(tmp_path, "x", texts)
    cpu, torch = (
        evaluate("xlr", data, [spec], measure=["R@1", "RR"], **ranker)
        for ranker in ({"backend": "cpu"}, {"backend": "torch", "device": "cpu"})
    )
    assert cpu["results"] == torch["results"]
