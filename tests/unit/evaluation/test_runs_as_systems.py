"""A search engine's run is evaluated as the encoder whose ranking it holds."""

import json
import warnings
from io import BytesIO

import numpy as np
import pyarrow.compute as pc
import pytest
from msgspec import UNSET
from PIL import Image

from xlingual import DataWarning, InputError, Manifest, backretrieval, compare, crosslingual_retrieval
from xlingual.data.runs import SearchRun
from xlingual.report import page_of
from xlingual.report.render.text import as_text

N = 30


@pytest.fixture(scope="module")
def manifest():
    """Items with texts in two languages and an image each."""
    return Manifest.of(
        [{"id": f"p{i}", "text_en": f"word {i}", "text_de": f"wort {i}", "image": png(i)} for i in range(N)]
    )


def png(shade):
    """Return the bytes of an image."""
    file = BytesIO()
    Image.new("L", (2, 2), shade).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(3)
    en = rng.normal(size=(N, 6))
    de = en + 0.7 * rng.normal(size=(N, 6))
    de[4] = de[9]  # two targets tie
    return {"en": en.astype(np.float32), "de": de.astype(np.float32)}


def ranking(vectors, source, target, depth=None, only=None, **names):
    """Return {query: {candidate: score}} by cosine, of the first `depth` candidates."""
    unit = {
        tag: v / np.linalg.norm(v.astype(np.float64), axis=1, keepdims=True) for tag, v in vectors.items()
    }
    scores = np.round(unit[source] @ unit[target].T, 9)
    name = names.get("name", lambda tag, i: f"{tag}:p{i}")
    found = {}
    for i, row in enumerate(scores):
        kept = [j for j in np.argsort(-row) if only is None or j in only][:depth]
        found[name(source, i)] = {name(target, j): float(row[j]) for j in kept}
    return found


def values(results, encoder):
    return [(e.measure, e.source, e.value, e.ci, e.n_tied) for e in results.entries if e.encoder == encoder]


MEASURES = ("R@1", "R@5", "RR@10")


def xlr(manifest, systems, **options):
    options = {"pairs": "en-de", "measures": MEASURES, "store": None} | options
    return crosslingual_retrieval(manifest, systems, **options)


def test_cross_lingual_retrieval_of_a_run_is_that_of_its_encoder(manifest, vectors):
    run = SearchRun.of(ranking(vectors, "en", "de", depth=12))
    found = xlr(manifest, {"vectors": vectors, "run": run})
    assert values(found, "run") == values(found, "vectors")
    assert found.entries[-1].signature.endswith(f"run:{run.digest[:16]}?depth=12")


def test_results_verdicts_and_comparisons_say_how_many_queries_have_no_results(manifest, vectors):
    lists = ranking(vectors, "en", "de")
    run = SearchRun.of({query: own for query, own in lists.items() if query not in ("en:p3", "en:p8")})
    images = np.random.default_rng(5).normal(size=(N, 4)).astype(np.float32)
    systems = {"vectors": vectors, "run": run}
    with pytest.warns(DataWarning, match="have no results"):
        found = [
            xlr(manifest, systems),
            backretrieval(manifest, systems, image_encoder=images, pairs="en-de", measures="R@3", store=None),
        ]
    for results in found:
        texts = results.per_query.filter(pc.equal(results.per_query["encoder"], "run"))
        own = set(texts["query"].to_pylist())
        count = len(own & {"p3", "p8"})
        assert count
        sentence = f"run has no results for {count} of {len(own)} queries"
        missing = {entry.encoder: entry.n_unanswered for entry in results.entries}
        assert missing == {"vectors": UNSET, "run": count}
        assert f"{sentence}, which count as misses." in " ".join(
            as_text(page_of(results), "markdown").split()
        )
        compared = compare([results])
        assert [note for note in compared.notes if sentence in note]
        assert sentence in " ".join(as_text(page_of(compared), "latex").replace("%", "").split())


def test_backretrieval_of_a_run_is_that_of_its_encoder(manifest, vectors):
    images = np.random.default_rng(5).normal(size=(N, 4)).astype(np.float32)
    run = SearchRun.of(ranking(vectors, "en", "de") | ranking(vectors, "de", "en"))
    options = {"image_encoder": images, "measures": ("R@3", "RR", "MedR"), "store": None, "examples": False}
    found = backretrieval(manifest, {"vectors": vectors, "run": run}, seeds=2, **options)
    assert values(found, "run") == values(found, "vectors")
    columns = ["query", "value", "retrieved", "above", "tied"]
    table = found.per_query.to_pylist()
    own, other = (
        [[row[c] for c in columns] for row in table if row["encoder"] == e] for e in ("run", "vectors")
    )
    assert own == other


def test_files_by_language_pair_need_no_languages(tmp_path, manifest, vectors):
    for source, target in (("en", "de"), ("de", "en")):
        lists = ranking(vectors, source, target, depth=12, name=lambda tag, i: f"p{i}")
        lines = [f"{q} Q0 {c} 0 {s!r} t" for q, own in lists.items() for c, s in own.items()]
        (tmp_path / f"run.{source}-{target}.trec").write_text("\n".join(lines))
    found = xlr(
        manifest, {"vectors": vectors, "engine": f"run:{tmp_path}/run.{{source}}-{{target}}.trec"}, pairs=None
    )
    assert values(found, "engine") == values(found, "vectors")
    with pytest.raises(InputError, match="'p0' is the id of texts in several languages: write language:id"):
        xlr(manifest, f"run:{tmp_path}/run.en-de.trec", pairs=None)
    assert values(xlr(manifest, f"run:{tmp_path}/run.en-de.trec"), "run.en-de") == values(
        xlr(manifest, {"vectors": vectors}), "vectors"
    )


def test_a_signature_names_the_file_of_its_pair_whatever_else_is_evaluated(manifest, vectors, tmp_path):
    digests = {}
    for source, target in (("en", "de"), ("de", "en")):
        lists = ranking(vectors, source, target, depth=12 if source == "en" else 14)
        lines = [f"{q} Q0 {c} 0 {s!r} t" for q, own in lists.items() for c, s in own.items()]
        file = tmp_path / f"run.{source}-{target}.trec"
        file.write_text("\n".join(lines))
        digests[source] = SearchRun.read(file).digest[:16]
    engine = f"run:{tmp_path}/run.{{source}}-{{target}}.trec"
    systems = {"vectors": vectors, "engine": engine}
    found = {}
    for pairs in (["en-de", "de-en"], ["de-en", "en-de"], ["en-de"], ["de-en"]):
        for one in xlr(manifest, systems, pairs=pairs, measures=["R@5"]).entries:
            found.setdefault((one.encoder, one.source), []).append(one.signature)
    assert {name: (len(own), len(set(own))) for name, own in found.items()} == dict.fromkeys(found, (3, 1))
    assert len(found) == 4
    for source, depth in (("en", 12), ("de", 14)):
        assert found["engine", source][0].endswith(f"|encoder:run:{digests[source]}?depth={depth}")


def test_queries_without_results_are_misses_and_counted(manifest, vectors):
    lists = ranking(vectors, "en", "de", depth=12)
    del lists["en:p0"], lists["en:p1"]
    with pytest.warns(DataWarning, match="2 of 30 queries of en-de have no results: they count as") as said:
        found = xlr(manifest, {"run": SearchRun.of(lists)})
    assert len(said) == 1
    assert found.warnings == [str(said[0].message)]
    whole = xlr(manifest, {"run": SearchRun.of(ranking(vectors, "en", "de", depth=12))})
    for one, other in zip(found.per_query.to_pylist(), whole.per_query.to_pylist(), strict=True):
        assert one["value"] == (0.0 if one["query"] in ("p0", "p1") else other["value"])


def test_backretrieval_ranks_an_unanswered_query_last(manifest, vectors):
    """All images are above its own, as in cross-lingual retrieval; its similarity is 0."""
    images = np.random.default_rng(5).normal(size=(N, 4)).astype(np.float32)
    lists = ranking(vectors, "en", "de")
    options = {"image_encoder": images, "pairs": "en-de", "store": None, "examples": False}
    options |= {"measures": ("MedR", "RR", "R@3")}
    whole = backretrieval(manifest, {"run": SearchRun.of(lists)}, **options).per_query.to_pylist()
    asked = [row["query"] for row in whole if row["measure"] == "MedR"]
    gone, pool = set(asked[: len(asked) * 2 // 3]), len(asked)
    few = SearchRun.of({query: own for query, own in lists.items() if query[3:] not in gone})
    with pytest.warns(DataWarning, match=f"{len(gone)} of {pool} queries of en-de have no results"):
        found = backretrieval(manifest, {"run": few}, **options)
    worst = {"MedR": pool + 1, "RR": 0, "R@3": 0, "SIM": 0}
    for one, other in zip(found.per_query.to_pylist(), whole, strict=True):
        assert one["value"] == (worst[one["measure"]] if one["query"] in gone else other["value"])
    (median,) = (e for e in found.entries if e.measure == "MedR")
    assert median.value == pool + 1


def test_a_list_that_ended_misses_what_it_lacks(manifest, vectors):
    """One long list says how deep lists go; the others found nothing more."""
    lists = ranking(vectors, "en", "de", depth=2)
    lists["en:p0"] = ranking(vectors, "en", "de", depth=10)["en:p0"]
    found = xlr(manifest, {"run": SearchRun.of(lists), "vectors": vectors}, measures=["R@10", "R@2"])
    short, r2 = (
        {(r["measure"], r["query"]): r["value"] for r in found.per_query.to_pylist() if r["encoder"] == e}
        for e in ("run", "vectors")
    )
    for i in range(1, N):
        assert short["R@10", f"p{i}"] == r2["R@2", f"p{i}"]


def test_what_a_short_run_cannot_tell_is_refused(manifest, vectors):
    run = SearchRun.of(ranking(vectors, "en", "de", depth=5))
    assert xlr(manifest, {"run": run}, measures=["R@5"]).entries
    first = SearchRun.of(
        {query: dict([next(iter(own.items()))]) for query, own in ranking(vectors, "en", "de").items()}
    )
    (entry,) = xlr(manifest, {"run": first}, measures=["R@1"]).entries
    assert entry.value < 0.9
    assert entry.n_tied == 0  # what lists lack is in no known order, which is no tie
    with pytest.raises(InputError, match=r"30 of 30 lists end before rank 10, so R@10 .* up to rank 5"):
        xlr(manifest, {"run": run}, measures=["R@10"])
    for measure in ("RR", "MedR"):
        with pytest.raises(InputError, match=f"end before the last candidate, so {measure} is not known"):
            xlr(manifest, {"run": run}, measures=[measure])
    whole = SearchRun.of(ranking(vectors, "en", "de"))
    assert values(xlr(manifest, {"v": vectors}, measures=["RR", "MedR"]), "v") == values(
        xlr(manifest, {"r": whole}, measures=["RR", "MedR"]), "r"
    )


def test_lists_that_are_short_without_other_languages_are_said_to_be(manifest, vectors):
    """An engine returned texts of both languages: what is short is what is left of its lists."""
    lists = ranking(vectors, "en", "de", depth=12)
    for query, own in lists.items():
        lists[query] = {
            name.replace("de:", "en:") if i % 2 else name: s for i, (name, s) in enumerate(own.items())
        }
    with pytest.raises(
        InputError,
        match=r"lists end before rank 10, so R@10 is not known \(180 of their results are no candidates "
        r"here, for example of other languages, and were left out\): .* lists of these candidates alone",
    ):
        xlr(manifest, {"run": SearchRun.of(lists)}, measures=["R@10"])


def test_an_index_of_which_targets_are_a_sample(manifest, vectors):
    """The lists hold the query's own item first; those that end before a target are refused."""
    options = {
        "image_encoder": np.eye(N, dtype=np.float32),
        "measures": "R@3",
        "store": None,
        "examples": False,
        "pairs": "en-de",
    }
    whole = backretrieval(manifest, {"run": SearchRun.of(ranking(vectors, "en", "de"))}, **options)
    deep = backretrieval(manifest, {"run": SearchRun.of(ranking(vectors, "en", "de", depth=20))}, **options)
    assert values(whole, "run") == values(deep, "run")
    shallow = SearchRun.of(ranking(vectors, "en", "de", depth=1))
    with pytest.raises(InputError, match=r"lists end before any of the targets: .* data sample"):
        backretrieval(manifest, {"run": shallow}, **options)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"x": {"de:p1": 1.0}}, r"none of its 1 queries is known \(first: 'x'\)"),
        ({"en:p1": {"x": 1.0}}, r"none of its 1 candidates is known \(first: 'x'\)"),
        ({"de:p1": {"de:p1": 1.0}}, "none of its 1 queries is one of en-de"),
        ({"en:p1": {"de:p1": 1.0, "p1": 0.5}}, "two names of its candidates are of one text"),
    ],
)
def test_runs_that_do_not_belong_to_the_data(manifest, lists, message):
    with pytest.raises(InputError, match=message):
        xlr(manifest, {"run": SearchRun.of(lists)}, measures=["R@1"])


@pytest.mark.filterwarnings("ignore:.*the longest has:xlingual.errors.DataWarning")
def test_some_unknown_names_are_left_out_and_said(manifest, vectors):
    lists = ranking(vectors, "en", "de")
    lists["en:p0"] = {"other:7": 9.0} | lists["en:p0"]
    with pytest.warns(DataWarning, match=r"1 of 31 candidates are not in the data .*'other:7'"):
        found = xlr(manifest, {"run": SearchRun.of(lists)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(found, "run") == values(xlr(manifest, {"v": vectors}), "v")


def test_where_vectors_are_needed_a_run_is_refused(manifest, vectors):
    run = SearchRun.of(ranking(vectors, "en", "de"))
    from xlingual import distance_correlation

    for system in (run, "run:x.trec"):
        with pytest.raises(InputError, match=r"returns lists of candidates, but this command needs vectors"):
            distance_correlation(manifest, {"run": system}, image_encoder=np.eye(N, dtype=np.float32))
    with pytest.raises(InputError, match=r"^nowhere\.trec: there is no such file"):
        xlr(manifest, "run:nowhere.trec")


def test_trec_files_of_a_run_are_the_run(tmp_path, manifest, vectors):
    run = SearchRun.of(ranking(vectors, "en", "de", depth=7))
    xlr(manifest, {"run": run}, measures=["R@5"], trec=tmp_path)
    again = SearchRun.read(tmp_path / "en-de" / "run.run")
    assert again.lengths.tolist() == run.lengths.tolist()
    assert values(xlr(manifest, {"run": again}, measures=["RR@7"]), "run")[0][2] == pytest.approx(
        values(xlr(manifest, {"run": run}, measures=["RR@7"]), "run")[0][2], abs=0.05
    )


def test_trec_files_of_a_run_that_ties_keep_its_scores(tmp_path, manifest, vectors):
    lists = ranking(vectors, "en", "de")
    tying = {query: {name: round(score, 1) for name, score in own.items()} for query, own in lists.items()}
    run = SearchRun.of(tying)
    found = xlr(manifest, {"run": run, "vectors": vectors}, trec=tmp_path)
    again = xlr(manifest, {"run": SearchRun.read(tmp_path / "en-de" / "run.run")})
    assert values(again, "run") == values(found, "run")
    assert any(n_tied for *_, n_tied in values(again, "run"))
    written = SearchRun.read(tmp_path / "en-de" / "run.run")
    assert {tuple(sorted(own.items())) for own in mapping(written)} == {
        tuple(sorted(own.items())) for own in tying.values()
    }
    scores = [
        float(line.split()[4]) for line in (tmp_path / "en-de" / "vectors.run").read_text().splitlines()
    ]
    assert scores == [N - place for place in range(N)] * N


def mapping(run):
    """Yield {candidate: score} of each query."""
    for low, high in zip(run.start[:-1], run.start[1:], strict=True):
        names = [run.candidates[c] for c in run.candidate[low:high]]
        yield dict(zip(names, run.score[low:high].tolist(), strict=True))


def test_one_file_for_several_seeds_is_named(tmp_path, manifest, vectors):
    file = tmp_path / "run.json"
    own = ranking(vectors, "en", "de", depth=12)
    for name in list(own)[10:]:
        del own[name]
    file.write_text(json.dumps(own))
    options = {"sample_size": 20, "measures": ["R@1"]}
    with pytest.warns(DataWarning, match="have no results") as said:
        xlr(manifest, f"run:{file}", **options)
    assert not any("{seed}" in str(one.message) for one in said)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        xlr(manifest, f"run:{file}", seeds=2, **options)
    assert any(
        "have no results" in str(one.message) and "{seed} in its name" in str(one.message) for one in said
    )


def test_lists_without_any_right_answer_are_warned_of(manifest, vectors):
    lists = ranking(vectors, "en", "de", depth=N)
    for i in range(N):
        del lists[f"en:p{i}"][f"de:p{i}"]
    with pytest.warns(
        DataWarning, match="no list holds a right answer: was it sampled without matching=True"
    ):
        xlr(manifest, {"run": SearchRun.of(lists)}, measures=["R@5"])


def test_candidates_of_another_language_are_named(manifest, vectors):
    run = SearchRun.of(ranking(vectors, "en", "en", depth=12))
    images = np.eye(N, dtype=np.float32)
    with pytest.raises(
        InputError, match=r"en-de: none of its candidates is in the target language de \(first: 'en:p"
    ):
        backretrieval(manifest, {"run": run}, pairs="en-de", image_encoder=images, store=None, examples=False)


def test_warnings_come_before_the_error_that_follows(manifest, vectors):
    lists = {
        query: {name.replace("de:p2", "de:x2"): score for name, score in own.items()}
        for query, own in ranking(vectors, "en", "de", depth=12).items()
    }
    with (
        pytest.warns(DataWarning, match="of 30 candidates are not in the data"),
        pytest.raises(InputError, match="lists end before rank 20"),
    ):
        xlr(manifest, {"run": SearchRun.of(lists)}, measures=["R@20"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="lists end before rank 20"):
            xlr(manifest, {"run": SearchRun.of(lists)}, measures=["R@20"])
