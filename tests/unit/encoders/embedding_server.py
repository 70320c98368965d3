"""A service that speaks OpenAI's embeddings protocol over real HTTP, and misbehaves when asked to."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

KEY = "sk-Secret0123456789-Zq7"
DIM = 6


def vector(text, dim=DIM):
    """Return the vector of a text: random numbers of which the text is the seed."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(dim).astype(np.float32)


class Server:
    """What the service has been sent, and what it does next: `script` holds one step for each request.

    A step is a status, (status, headers, body), or a function from the right answer to another body; the
    service answers rightly where the script is at its end. `stall` holds answers back until it is set.
    """

    def __init__(self, url):
        self.url = url
        self.sent = []
        self.headers = []
        self.script = []
        self.needs_key = False
        self.stall = threading.Event()
        self.stall.set()

    @property
    def spec(self):
        return f"api:tiny?base_url={self.url}"

    def answer(self, path, headers, body):
        self.sent.append(body)
        self.headers.append(headers)
        if self.needs_key and headers.get("Authorization") != f"Bearer {KEY}":
            given = headers.get("Authorization", "")
            return 401, {}, {"error": {"message": f"Incorrect API key provided: {given}"}}
        if path != "/v1/embeddings":
            return 404, {}, {"error": {"message": f"no such path {path}"}}
        if body["model"] != "tiny":
            return 404, {}, {"error": {"message": f"The model {body['model']!r} does not exist"}}
        step = self.script.pop(0) if self.script else None
        right = self.right(body)
        if step is None:
            return 200, {}, right
        if callable(step):
            return 200, {}, step(right)
        return (step, {}, {"error": {"message": f"scripted {step}"}}) if isinstance(step, int) else step

    @staticmethod
    def right(body):
        rows = []
        for i, text in enumerate(body["input"]):
            found = vector(text, body.get("dimensions", DIM))
            rows.append(
                {
                    "object": "embedding",
                    "index": i,
                    "embedding": found.tolist(),
                }
            )
        return {"object": "list", "data": rows, "model": "tiny", "usage": {"total_tokens": 1}}


@contextmanager
def serving(kind=Server):
    """Give a running `Server`, or another kind of it, on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, answer = server.answer(self.path, dict(self.headers), body)
            server.stall.wait(10)
            raw = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            try:
                if status is None:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except OSError:
                self.close_connection = True

        def log_message(self, *arguments):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = kind(f"http://127.0.0.1:{http.server_port}/v1")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stall.set()
        http.shutdown()
        http.server_close()
        thread.join()
