"""Results of conventions 1, where R@k was the hit rate: read with a remark, compared if nothing changed."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from xlingual.comparison.compare import compare
from xlingual.comparison.gate import gate
from xlingual.comparison.reading import read_aligned
from xlingual.errors import InputError
from xlingual.results import Entry, Results
from xlingual.results.conventions import remarks
from xlingual.signature import CONVENTIONS, Signature, reasons, same_conventions

N = 40


def as_version_1(folder):
    """Turn the signatures of a folder of results into those of conventions 1."""
    path = Path(folder, "results.json")
    text = path.read_text(encoding="utf-8").replace(f"conventions:{CONVENTIONS}|", "conventions:1|")
    path.write_text(text, encoding="utf-8")
    return str(folder)


def written(folder, measures, *, task="multilingual-pool", version="2", encoders=("good", "bad")):
    """Write results of a task with given measures, and return the folder."""
    entries, columns = [], []
    for e, encoder in enumerate(encoders):
        for measure in measures:
            values = np.random.default_rng([e, len(measure)]).random(N) * (1 - e / 2)
            conditions = {"task": task, "measure": measure, "conventions": version}
            signature = str(Signature(conditions, {"encoder": encoder}))
            numbers = (float(values.mean()), None, 0.01, None, None, None, N, 300, 0, 0, signature)
            entries.append(Entry(task, "all", "pool", encoder, None, measure, *numbers))
            words = {"task": task, "encoder": encoder, "source": "all", "target": "pool", "measure": measure}
            ids = [f"q{i}" for i in range(N)]
            table = {name: [word] * N for name, word in words.items()} | {"query": ids, "item": ids}
            table |= {"seed": [0] * N, "cluster": np.arange(N), "value": values}
            table |= {"retrieved": pa.nulls(N, pa.string()), "above": [0] * N, "tied": [1] * N}
            columns.append(pa.table(table))
    Results(entries, [], pa.concat_tables(columns)).write(folder)
    return str(folder)


def test_backretrieval_and_true_retrieval_of_both_versions_are_compared(folders):
    good, bad = folders.given("good", 0.2), folders.given("bad", 0.5, seed=1)
    for make in (folders.bkr, folders.xlr):
        old, new = as_version_1(make("old", [good])), make("new", [bad])
        (first, *_) = read_aligned([old, new]).queries
        assert first.encoders == ("good", "bad")
        assert not [note for note in read_aligned([old, new]).notes if "conventions" in note]
        assert gate(old, baseline=new, margin=0.05).outcome == "pass"
        assert not Results.read(old).warnings


@pytest.mark.parametrize("task", ["multilingual-pool", "image-sentence"])
def test_a_name_that_means_another_thing_now_is_refused_with_the_reason(tmp_path, task):
    old = written(tmp_path / "old", ["R@10"], task=task, version="1")
    new = written(tmp_path / "new", ["R@10"], task=task)
    why = r"differ in conventions: 1 against 2 \(R@k was the hit rate, which is called Success@k since"
    with pytest.raises(
        InputError, match=f"old and .*new cannot be compared, .*{why}.*: evaluate the older one again"
    ):
        compare([f"{old}#good", f"{new}#bad"])


def test_names_that_changed_are_told_where_nothing_is_shared(tmp_path):
    old = written(tmp_path / "old", ["R@10", "R@1"], task="image-sentence", version="1")
    new = written(tmp_path / "new", ["Success@10", "Success@1"], task="image-sentence")
    why = r"\(conventions 1 and 2: R@k was the hit rate, .*; evaluate the older ones again\)"
    with pytest.raises(InputError, match=f"share no task and measure.*{why}"):
        read_aligned([old, new])
    pool = written(tmp_path / "pool", ["AP", "SetR@10"], version="1")
    other = written(tmp_path / "other", ["AP", "R@10"])
    found = read_aligned([pool, other])
    assert [queries.measure for queries in found.queries] == ["AP"]
    assert found.notes[-1].startswith(
        "left out, since not all encoders have it: SetR@10, R@10 (conventions 1 and 2: "
    )
    with pytest.raises(InputError, match=f"not all encoders have R@10: choose among AP {why}"):
        read_aligned([pool, other], measures=["R@10"])


def test_two_old_ones_are_compared_and_what_their_names_mean_is_noted(tmp_path):
    old = written(tmp_path / "old", ["AP", "R@10", "SetR@10"], version="1")
    remark = (
        "multilingual-pool: written under conventions 1, where R@10 is the hit rate (now called Success@10) "
        "and SetR@10 is set recall (now called R@10): evaluate again to compare with newer results"
    )
    assert Results.read(old).warnings == [remark]
    found = read_aligned([old], measures=["SetR@10"])
    assert [queries.measure for queries in found.queries] == ["SetR@10"]
    assert found.notes == (f"{old}: {remark}",)
    assert [queries.measure for queries in read_aligned([old], measures=["r@10"]).queries] == ["R@10"]
    assert not Results.read(written(tmp_path / "new", ["AP", "R@10", "Success@10"])).warnings


def test_an_old_hit_rate_of_items_with_several_target_texts_is_noted(folders):
    from xlingual.data.manifest import Manifest

    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": i // (2 if tag == "de" else 1) % 40}
        for i in range(80)
        for tag in ("en", "de")
        if tag == "de" or i < 40
    ]
    encoders = [folders.given("good", 0.2)]
    options = {"manifest": Manifest.from_rows(rows), "pairs": "en-de", "measures": ["Success@1", "RR"]}
    new = folders.xlr("new", encoders, **options)
    old = as_version_1(folders.xlr("old", encoders, **options))
    path = Path(old, "results.json")
    path.write_text(path.read_text(encoding="utf-8").replace("Success@1", "R@1"), encoding="utf-8")
    read = Results.read(old)
    table = read.per_query
    names = ["R@1" if name == "Success@1" else name for name in table["measure"].to_pylist()]
    table = table.set_column(table.column_names.index("measure"), "measure", pa.array(names))
    (said,) = remarks(read.entries, table)
    assert said.startswith("crosslingual-retrieval: written under conventions 1, where R@1 is the hit rate")
    assert Results.read(new).warnings == []
    with pytest.warns(match="R@1 is the share of them"):
        share = folders.xlr("share", encoders, **options | {"measures": ["R@1", "RR"]})
    said = rf"conventions: 1 against {CONVENTIONS} \(R@k was.*answers: – against several"
    with pytest.raises(InputError, match=said):
        read_aligned([old, share])
    assert [e["measure"] for e in json.loads(path.read_text(encoding="utf-8"))["results"]] == ["R@1", "RR"]


@pytest.mark.parametrize(
    ("stored", "task", "asked"),
    [
        ("Success@10", "image-sentence", "R@10"),
        ("Success@10", "image-sentence", "hit_rate@10"),
        ("R@10", "backretrieval", "Success@10"),
        ("R@0.1%", "backretrieval", "success@0.1%"),
    ],
)
def test_either_name_asks_for_a_number_that_has_two(tmp_path, stored, task, asked):
    folder = written(tmp_path / "one", [stored], task=task)
    assert [queries.measure for queries in read_aligned([folder], measures=[asked]).queries] == [stored]


def test_elsewhere_they_are_two_numbers(tmp_path):
    folder = written(tmp_path / "one", ["R@10", "AP"])
    with pytest.raises(InputError, match="no encoder has Success@10: choose among R@10, AP"):
        read_aligned([folder], measures=["Success@10"])


def test_every_language_pair_is_looked_at_for_several_target_texts():
    """The first pair alone does not tell: only the items of the second have several texts."""
    task, signature = "crosslingual-retrieval", str(Signature({"conventions": "1"}, {"encoder": "x"}))
    sizes = {"de": 4, "fr": 8}
    entries = [
        Entry(task, "en", tag, "x", None, "R@1", 0.5, None, 0.1, None, None, None, 4, size, 0, 0, signature)
        for tag, size in sizes.items()
    ]
    rows = [{"task": task, "measure": "R@1", "encoder": "x", "source": "en", "seed": 0}]
    rows = [row | {"target": tag, "item": f"i{i}"} for row in rows for tag in sizes for i in range(4)]
    table = pa.Table.from_pylist(rows)
    assert remarks(entries[:1], table) == []
    (said,) = remarks(entries, table)
    assert "R@1 is the hit rate" in said


class TestPromptsByRole:
    """Conventions 3: sources are queries and targets candidates, for encoders to which that matters."""

    PROMPTED = "st:abc?&prompt=&query_prompt=q%3A&candidate_prompt="

    def number(self, version, encoder="st:abc", **more):
        conditions = {"task": "backretrieval", "measure": "R@10", "conventions": version, **more}
        return Signature(conditions, {"encoder": encoder})

    def test_numbers_without_such_prompts_are_comparable(self):
        for version in ("1", "2"):
            assert self.number(version).differences(self.number("3")) == []
            assert self.number("3", self.PROMPTED).differences(self.number(version)) == []

    def test_older_numbers_with_them_are_not(self):
        for old, new in (("2", self.PROMPTED), ("1", "st:abc")):
            (found,) = self.number(old, self.PROMPTED).differences(self.number("3", new))
            assert found.startswith(f"conventions: {old} against 3 (prompts for queries and candidates count")
        assert self.number("1", self.PROMPTED).differences(self.number("2")) == []

    def test_nor_are_older_ones_of_an_encoder_whose_newer_ones_have_roles(self):
        """A router has no prompts, nor has an encoder with two towers."""
        roles = {"encoder": "st:abc", "roles": "source=query,target=candidate"}
        new = Signature(self.number("3").conditions, roles)
        for old in ("1", "2"):
            for one, other in ((self.number(old), new), (new, self.number(old))):
                (found,) = one.differences(other)
                assert found.startswith("conventions: ") and "reads the two apart" in found
        assert self.number("2", "st:plain").differences(new) == []
        assert self.number("3").differences(new) == []

    def test_pools_had_roles_before(self):
        task = {"task": "multilingual-pool", "measure": "AP"}
        old, new = (self.number(version, self.PROMPTED, **task) for version in ("2", "3"))
        assert old.differences(new) == []

    @pytest.mark.parametrize("place", [0, 1])
    def test_a_folder_with_both_is_refused_whichever_comes_first(self, tmp_path, place):
        old = Path(written(tmp_path / "old", ["R@1"], task="backretrieval", version="2"))
        new = written(tmp_path / "new", ["R@1"], task="backretrieval", version="3")
        assert compare([f"{old}#good", f"{new}#bad"])
        text = (old / "results.json").read_text(encoding="utf-8")
        name = ("good", "bad")[place]
        text = text.replace(f"encoder:{name}", "encoder:st:abc?query_prompt=q")
        (old / "results.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"conventions: 2 against 3 \(prompts for queries"):
            compare([str(old), f"{new}#bad"])

    @pytest.mark.parametrize("name", ["good", "bad"])
    def test_a_folder_with_a_router_is_refused_against_its_own_older_numbers(self, tmp_path, name):
        old = written(tmp_path / "old", ["R@1"], task="backretrieval", version="2")
        new = Path(written(tmp_path / "new", ["R@1"], task="backretrieval", version="3"))
        text = (new / "results.json").read_text(encoding="utf-8")
        roles = f"encoder:{name}|roles:source=query,target=candidate"
        (new / "results.json").write_text(text.replace(f"encoder:{name}", roles), encoding="utf-8")
        with pytest.raises(InputError, match=r"conventions: 2 against 3 \(.*reads the two apart"):
            compare([old, str(new)])
        other = {"good": "bad", "bad": "good"}[name]
        assert compare([f"{old}#{other}", f"{new}#{name}"])

    def test_of_encoders_that_are_not_known_it_is_in_doubt(self):
        old, new = (self.number(version).conditions for version in ("2", "3"))
        assert not same_conventions(old, new) and "reads the two apart" in reasons(old, new)
        assert same_conventions(old, new, by_role=False)
        assert same_conventions(self.number("1").conditions, old)
        pools = [{**each, "task": "multilingual-pool", "measure": "AP"} for each in (old, new)]
        assert same_conventions(*pools)
