"""Half-sent requests, and writers that do not end, keep no rater from reading."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
import uvicorn
from starlette.testclient import TestClient

from xlingual.serving.connections import Patience, patient_protocol
from xlingual.serving.run import server_config
from xlingual.study.database import Ratings
from xlingual.study.records import Rating
from xlingual.study.server.app import create_app
from xlingual.study.tables import BusyError

studies = SimpleNamespace(**run_path(str(Path(__file__).with_name("studies.py"))))
NEVER = 600.0
ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def answer(scope, receive, send):
    """Answer with the body that came."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def with_server(patience, visit, **options):
    """Run `visit(open)` beside a server; `open` makes a connection to it."""

    async def both():
        config = uvicorn.Config(
            answer, port=0, log_level="critical", lifespan="off", ws="none", http=patient_protocol(patience),
            timeout_keep_alive=NEVER, timeout_graceful_shutdown=1, **options,
        )  # fmt: skip
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            await visit(lambda: asyncio.open_connection("127.0.0.1", port))
        finally:
            server.should_exit = True
            await running

    asyncio.run(asyncio.wait_for(both(), 60))


async def closed(reader):
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


async def answered(connection, request=ASKED):
    reader, writer = connection
    writer.write(request)
    head = await reader.readuntil(b"ok")
    return head.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nX: y"], ids=["nothing", "half"])
def test_headers_that_do_not_come_close_the_connection(sent):
    async def visit(opened):
        reader, writer = await opened()
        writer.write(sent)
        assert await closed(reader)

    with_server(Patience(headers_s=0.05, body_s=NEVER), visit)


def test_a_body_that_does_not_come_closes_the_connection():
    async def visit(opened):
        reader, writer = await opened()
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
        assert await closed(reader)

    with_server(Patience(headers_s=0.05, body_s=0.05), visit)


def test_the_second_request_of_a_connection_has_a_limit_too():
    async def visit(opened):
        connection = await opened()
        assert await answered(connection)
        connection[1].write(b"GET / HT")
        assert await closed(connection[0])

    with_server(Patience(headers_s=0.2, body_s=NEVER), visit)


def test_a_connection_that_was_answered_is_kept():
    async def visit(opened):
        connection = await opened()
        assert await answered(connection)
        await asyncio.sleep(0.2)  # longer than headers may take
        assert await answered(connection)

    with_server(Patience(headers_s=0.1, body_s=0.1), visit)


@pytest.mark.parametrize("patience", [Patience(NEVER, NEVER, 20, 1000), Patience(NEVER, NEVER, 1000, 20)])
def test_half_sent_requests_push_each_other_out_and_no_rater(patience):
    async def visit(opened):
        kept = await opened()
        assert await answered(kept)
        half = [await opened() for _ in range(60)]
        for _, writer in half:
            writer.write(b"GET / HTTP/1.1\r\nX: y")
        assert await answered(await opened())
        assert await answered(kept)
        assert all([await closed(reader) for reader, _ in half[:40]])

    with_server(patience, visit)


def test_where_every_connection_has_its_request_the_new_one_is_closed():
    async def visit(opened):
        kept = [await opened() for _ in range(3)]
        for connection in kept:
            assert await answered(connection)
        reader, _ = await opened()
        assert await closed(reader)
        assert await answered(kept[0])

    with_server(Patience(NEVER, NEVER, of_address=3), visit)


@pytest.mark.parametrize(
    ("trusted", "address"), [(None, "10.0.0.7"), ("10.0.0.7", "203.0.113.9"), ("10.0.0.8", "10.0.0.7")]
)
def test_an_address_that_is_passed_on_is_believed_of_a_named_proxy_only(trusted, address, monkeypatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")

    async def who(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["client"][0].encode()})

    config = server_config(who, trusted)
    config.load()
    with_headers = {"X-Forwarded-For": "203.0.113.9"}
    client = TestClient(config.loaded_app, client=("10.0.0.7", 5), headers=with_headers)
    assert client.get("/").text == address


@pytest.fixture
def made(tmp_path):
    return studies.make_study(tmp_path / "study")


@pytest.fixture
def write_lock(made):
    """Another program that holds the write lock of the ratings."""
    other = sqlite3.connect(made.folder / "ratings.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def test_pages_are_shown_while_another_program_writes(made, write_lock):
    with TestClient(create_app(made.study, made.folder), follow_redirects=False) as client:
        assert client.get(made.link()).status_code == 200
        assert client.get(f"{made.link()}/page/1").status_code == 200
        assert client.get(f"/o/{made.organiser}/people").status_code == 200


def test_an_answer_that_cannot_be_written_is_not_called_saved(made, write_lock, monkeypatch):
    monkeypatch.setattr("xlingual.study.server.state.Ratings", lambda folder: Ratings(folder, wait_s=0))
    name = made.study.orders[0][0].suggestions[0]
    with TestClient(create_app(made.study, made.folder), follow_redirects=False) as client:
        assert client.post(f"{made.link()}/page/1", data={f"score-{name}": 2}).status_code == 503


def test_who_waits_to_write_keeps_nobody_from_reading(made):
    ratings = Ratings(made.folder)
    rating = Rating(
        "1", made.study.queries[0].shown.id, made.study.queries[0].suggestions[0].id, 0, 2, "", None
    )
    with ratings._writing():
        assert ratings.of("1") == [] and len(ratings.raters()) == len(made.raters)
    ratings.add(rating)
    assert ratings.of("1") == [rating]  # the reader sees what was written
    ratings.close()


def test_a_program_that_comes_and_goes_takes_no_answer_away(made):
    """SQLite deletes the log of a database when its last connection closes: others must see ours."""
    query = made.study.queries[0]
    with Ratings(made.folder) as ratings:
        for score in (1, 2, 3):
            ratings.add(Rating("1", query.shown.id, query.suggestions[0].id, 0, score, "", None))
            assert ratings.of("1")[0].score == score
            read = "print(*sqlite3.connect(sys.argv[1]).execute('SELECT score FROM ratings'))"
            other = f"import sqlite3, sys; {read}"
            command = [sys.executable, "-c", other, str(made.folder / "ratings.sqlite")]
            assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == f"({score},)"


def test_seen_is_not_waited_for(made, write_lock):
    with Ratings(made.folder) as ratings:
        assert ratings.note_seen(0) is False
        with pytest.raises(BusyError, match="another program is writing: try again"), ratings._writing(0.01):
            pass
