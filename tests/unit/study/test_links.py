"""Links: unguessable, kept where only their owner reads them."""

from __future__ import annotations

import stat

import pytest

from xlingual.errors import InputError
from xlingual.study.database import Ratings
from xlingual.study.folder import LINKS_FILE, RATINGS
from xlingual.study.links import (
    addresses,
    ensure_links,
    find_rater,
    is_organiser,
    organiser_link,
    read_links,
    renew_link,
)


def test_links_are_made_once(tmp_path):
    links = ensure_links(tmp_path, 3)
    assert [link.who for link in links] == ["organiser", "1", "2", "3"]
    assert ensure_links(tmp_path, 5) == links == read_links(tmp_path)
    assert len({link.path for link in links}) == 4


def test_the_file_is_private_and_the_database_has_digests_only(tmp_path):
    links = ensure_links(tmp_path, 2)
    assert stat.S_IMODE((tmp_path / LINKS_FILE).stat().st_mode) == 0o600
    stored = (tmp_path / RATINGS).read_bytes()
    for link in links:
        token = link.path[3:]
        assert len(token) >= 32 and token.encode() not in stored


def test_tokens_find_their_raters(tmp_path):
    organiser, first, second = ensure_links(tmp_path, 2)
    with Ratings(tmp_path) as ratings:
        assert find_rater(ratings, first.path[3:]).name == "1"
        assert find_rater(ratings, second.path[3:]).name == "2"
        assert find_rater(ratings, organiser.path[3:]) is None
        assert find_rater(ratings, "") is None and find_rater(ratings, "\ud800") is None
        assert is_organiser(ratings, organiser.path[3:])
        assert not is_organiser(ratings, first.path[3:]) and not is_organiser(ratings, "")


def test_nobody_is_organiser_of_a_study_without_one(tmp_path):
    assert not is_organiser(Ratings(tmp_path), "")


def test_a_renewed_link_replaces_the_one_before(tmp_path):
    organiser, first = ensure_links(tmp_path, 1)
    with Ratings(tmp_path) as ratings:
        rater = ratings.raters()[0]
        renewed = renew_link(ratings, rater)
        assert find_rater(ratings, first.path[3:]) is None
        assert find_rater(ratings, renewed.path[3:]).number == rater.number
        assert is_organiser(ratings, organiser_link(ratings).path[3:])
        assert not is_organiser(ratings, organiser.path[3:])


def test_addresses(tmp_path):
    organiser, _ = ensure_links(tmp_path, 1)
    listed = dict(addresses(read_links(tmp_path), "http://127.0.0.1:8080/"))
    assert listed["organiser"] == "http://127.0.0.1:8080" + organiser.path


def test_links_that_were_taken_away_stay_away(tmp_path):
    ensure_links(tmp_path, 1)
    (tmp_path / LINKS_FILE).unlink()
    assert ensure_links(tmp_path, 1) == []


def test_another_table_is_refused(tmp_path):
    (tmp_path / LINKS_FILE).write_text("name,link\n1,x\n")
    with pytest.raises(InputError, match="columns who and path"):
        read_links(tmp_path)
