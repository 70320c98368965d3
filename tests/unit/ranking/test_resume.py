"""A long pass that was interrupted goes on from its finished parts."""

import os

import numpy as np
import pytest

from xlingual.errors import DataWarning
from xlingual.ranking import Cosine, Counts, Cpu, GivenScores, Top, UnitVectors, folders
from xlingual.ranking.folders import LocalFolder
from xlingual.ranking.parts import DamagedPartError, PassState, packed, unpacked
from xlingual.ranking.resume import Kept


class Noting:
    """Ranks as `Cpu` does, notes the queries of each pass, and can be interrupted."""

    def __init__(self, stop_after=None):
        self.passes, self.stop_after = [], stop_after

    def scan(self, similarity, reductions, *, progress=None):
        if len(self.passes) == self.stop_after:
            raise KeyboardInterrupt
        self.passes.append(similarity.shape[0])
        Cpu().scan(similarity, reductions, progress=progress)

    def about(self):
        return {"backend": "noting"}


@pytest.fixture
def similarity():
    rng = np.random.default_rng(0)
    queries, candidates = (rng.standard_normal((n, 4)).astype(np.float32) for n in (1000, 300))
    return Cosine(UnitVectors(queries), UnitVectors(candidates))


def requests(similarity):
    target = np.arange(1000) % 300
    return [Top(1, similarity.shape), Counts.of(similarity, np.arange(1000), target)]


def kept(inner, folder):
    return Kept(inner, folder, least=0, block=1)  # blocks of 256 queries


def assert_complete(similarity, reductions):
    plain = requests(similarity)
    Cpu().scan(similarity, plain)
    np.testing.assert_array_equal(reductions[0].result().candidate, plain[0].result().candidate)
    np.testing.assert_array_equal(reductions[1].above, plain[1].above)
    np.testing.assert_array_equal(reductions[1].tied, plain[1].tied)


def test_an_interrupted_pass_goes_on_with_what_is_missing(similarity, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        kept(Noting(stop_after=2), tmp_path / "parts").scan(similarity, requests(similarity))
    assert len(list((tmp_path / "parts").glob("*.npz"))) == 2
    inner, found = Noting(), requests(similarity)
    again = kept(inner, tmp_path / "parts")
    steps = []
    again.scan(similarity, found, progress=lambda done, total: steps.append((done, total)))
    assert inner.passes == [256, 232]
    assert again.found == 2
    assert steps[-1] == (300_000, 300_000)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert_complete(similarity, found)
    again.forget()
    assert not (tmp_path / "parts").exists()


def test_pairs_screened_and_decided_are_those_of_a_run_in_one_go(similarity, tmp_path):
    def once():
        fresh = Cosine(UnitVectors(similarity.queries.raw), UnitVectors(similarity.candidates.raw))
        asked = requests(fresh)
        before = fresh.decided
        kept(Cpu(), tmp_path).scan(fresh, asked)
        return fresh.screened, fresh.decided - before

    first = once()
    assert first[0] == 300_000
    assert once() == first


@pytest.mark.parametrize("damage", ["changed", "cut", "empty"])
def test_a_damaged_part_is_computed_again_and_counted(similarity, tmp_path, damage):
    kept(Cpu(), tmp_path).scan(similarity, requests(similarity))
    path = sorted(tmp_path.glob("*.npz"))[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes({"changed": bytes(content), "cut": bytes(content[:-40]), "empty": b""}[damage])
    inner, found = Noting(), requests(similarity)
    with pytest.warns(DataWarning, match="a finished part was damaged and computed again"):
        kept(inner, tmp_path).scan(similarity, found)
    assert len(inner.passes) == 1
    assert_complete(similarity, found)


@pytest.mark.parametrize("changed", ["query", "candidate", "weights", "k", "target"])
def test_other_questions_and_other_vectors_are_not_answered_by_old_parts(similarity, tmp_path, changed):
    kept(Cpu(), tmp_path).scan(similarity, [Top(1, similarity.shape), requests(similarity)[1]])
    queries, candidates = similarity.queries.raw.copy(), similarity.candidates.raw.copy()
    queries[:, 0] += changed == "query"
    candidates[0, 0] += changed == "candidate"
    weights = np.full(300, 2) if changed == "weights" else None
    other = Cosine(UnitVectors(queries), UnitVectors(candidates))
    counts = Counts.of(other, np.arange(1000), (np.arange(1000) + (changed == "target")) % 300)
    inner = Noting()
    kept(inner, tmp_path).scan(other, [Top(1 + (changed == "k"), other.shape, weights=weights), counts])
    assert len(inner.passes) == 4


def test_short_passes_and_scores_that_are_given_are_handed_on(similarity, tmp_path):
    short = Noting()
    Kept(short, tmp_path / "parts").scan(similarity, requests(similarity))
    given = GivenScores((5, 4), lambda rows, columns: np.zeros((len(rows), len(columns))))
    handed = Noting()
    kept(handed, tmp_path / "parts").scan(given, [Top(1, (5, 4))])
    assert (short.passes, handed.passes) == ([1000], [5])
    assert not (tmp_path / "parts").exists()


def test_a_folder_that_cannot_be_written_to_is_told_of_once(similarity, tmp_path):
    (tmp_path / "file").write_text("")
    found = requests(similarity)
    with pytest.warns(DataWarning, match="cannot be kept") as caught:
        kept(Cpu(), tmp_path / "file" / "parts").scan(similarity, found)
    assert len(caught) == 1
    assert_complete(similarity, found)


def test_parts_that_nobody_came_back_for_are_removed(similarity, tmp_path):
    own = "0123456789abcdef" * 2
    names = (f"{own}.npz", f".{own}-1-2to7.npz.x_1", "vectors.npz", "0123.npz")
    for name in names:
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (0, 0))
    kept(Cpu(), tmp_path).scan(similarity, requests(similarity))
    assert [(tmp_path / name).exists() for name in names] == [
        False,
        False,
        True,
        True,
    ]  # others are not its own
    assert len(list(tmp_path.glob("*.npz"))) == 4 + 2


def test_a_folder_that_is_tidied_up_before_anything_is_in_it_is_made_again(tmp_path, monkeypatch):
    folder = LocalFolder(tmp_path / "parts")
    replacing = folders.replacing

    def tidied(path):
        monkeypatch.setattr(folders, "replacing", replacing)
        folder.tidy()
        return replacing(path)

    monkeypatch.setattr(folders, "replacing", tidied)
    folder.write("a.npz", b"1")
    assert folder.names() == {"a.npz"}


def test_parts_may_be_kept_behind_a_url(similarity):
    pytest.importorskip("fsspec")
    for expected in (0, 4):
        ranker, found = kept(Cpu(), "memory://parts-of-a-test"), requests(similarity)
        ranker.scan(similarity, found)
        assert ranker.found == expected
        assert_complete(similarity, found)
    ranker.forget()
    assert ranker.folder.names() == set()


def test_a_file_holds_what_was_seen_and_no_pickle():
    seen = PassState(
        [{"above": np.arange(3), "decided": np.array(7)}, {}, {"exact": np.array([True])}], 12, 3
    )
    again = unpacked(packed(seen))
    assert (again.screened, again.decided, len(again.states)) == (12, 3, 3)
    assert again.states[0]["above"].tolist() == [0, 1, 2]
    assert again.states[0]["decided"] == 7
    assert again.states[2]["exact"].dtype == np.bool_
    with pytest.raises(ValueError, match=r"[Pp]ickle|[Oo]bject"):
        packed(PassState([{"above": np.array([{}], dtype=object)}]))
    with pytest.raises(DamagedPartError):
        unpacked(b"PK not a file")
