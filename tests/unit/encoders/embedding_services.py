"""Embeddings services with request and answer shapes of their own, as their public documentation has them.

Each refuses what it does not know, so that a field too many fails a test.
"""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from runpy import run_path
from urllib.parse import parse_qsl, unquote, urlsplit

fake = run_path(str(Path(__file__).with_name("embedding_server.py")))
KEY, DIM, vector = fake["KEY"], fake["DIM"], fake["vector"]
OPENAI = "input model encoding_format dimensions user"


class RefusedError(Exception):
    def __init__(self, status, answer):
        super().__init__(status, answer)


class Service(fake["Server"]):
    """A service of one profile: what it wants, and what it answers."""

    path = "/v1/embeddings"
    below = "/v1"  # what of the path belongs to base_url
    header, form = "Authorization", f"Bearer {KEY}"
    fields, texts, dim = OPENAI, "input", "dimensions"
    most = None
    query = ()

    def __init__(self, url):
        super().__init__(url)
        self.base = url.removesuffix("/v1") + self.below

    def answer(self, path, headers, body):
        self.sent.append(body)
        self.headers.append(headers)
        if self.script and (step := self.script.pop(0)) is not None:
            return step
        address = urlsplit(path)
        try:
            if headers.get(self.header, headers.get(self.header.title())) != self.form:
                raise RefusedError(401, self.error(401, "invalid key"))
            if unquote(address.path) != self.path:
                raise RefusedError(404, self.error(404, f"no {address.path}"))
            if tuple(parse_qsl(address.query)) != self.query:
                raise RefusedError(400, self.error(400, f"query {address.query!r}"))
            texts = self.checked(body)
            if self.most is not None and len(texts) > self.most:
                raise RefusedError(400, self.error(400, f"at most {self.most} texts"))
            return (
                200,
                {},
                self.answered([vector(self.seed(body) + text, self.size(body)) for text in texts], body),
            )
        except RefusedError as refused:
            status, answer = refused.args
            return status, {}, answer

    def checked(self, body):
        self.allow(body, self.fields)
        if "model" in body and body["model"] != "tiny":
            raise RefusedError(404, self.error(404, f"model {body['model']!r} not found"))
        return body[self.texts]

    def allow(self, body, fields):
        if unknown := sorted(body.keys() - set(fields.split())):
            raise RefusedError(400, self.error(400, f"unknown field {unknown[0]!r}"))

    def size(self, body):
        return body.get(self.dim, DIM)

    def seed(self, body):
        """Return what changes the vectors besides the text."""
        return ""

    def answered(self, found, body):
        rows = [{"object": "embedding", "index": i, "embedding": x.tolist()} for i, x in enumerate(found)]
        return {"object": "list", "data": rows, "model": "tiny", "usage": {"total_tokens": 1}}

    def error(self, status, words):
        return {"error": {"message": words, "type": "invalid_request_error", "code": None}}


class Azure(Service):
    path, below = "/openai/deployments/tiny/embeddings", ""
    header, form = "api-key", KEY
    query = (("api-version", "2024-10-21"),)
    most = 2048

    def error(self, status, words):
        return {"statusCode": 401, "message": words} if status == 401 else super().error(status, words)


class Cohere(Service):
    path, below = "/v2/embed", ""
    fields = "model texts input_type embedding_types output_dimension truncate max_tokens"
    texts, dim, most = "texts", "output_dimension", 96

    def checked(self, body):
        texts = super().checked(body)
        kinds = ("search_document", "search_query", "classification", "clustering")
        if body.get("input_type") not in kinds:
            raise RefusedError(400, self.error(400, "invalid request: valid input_type must be provided"))
        return texts

    def seed(self, body):
        return body["input_type"]

    def answered(self, found, body):
        assert body["embedding_types"] == ["float"]
        return {"id": "1", "embeddings": {"float": [x.tolist() for x in found]}, "texts": body["texts"]}

    def error(self, status, words):
        return {"message": words}


class Voyage(Service):
    fields = "input model input_type truncation output_dimension output_dtype encoding_format"
    dim, most = "output_dimension", 1000

    def checked(self, body):
        if body.get("encoding_format", "base64") != "base64":
            raise RefusedError(
                400, self.error(400, "Value 'float' for encoding_format is invalid: base64 or null")
            )
        if body.get("input_type", "query") not in ("query", "document"):
            raise RefusedError(400, self.error(400, "input_type is invalid"))
        return super().checked(body)

    def seed(self, body):
        return body.get("input_type", "")

    def answered(self, found, body):
        answer = super().answered(found, body)
        if "encoding_format" in body:
            for row, x in zip(answer["data"], found, strict=True):
                row["embedding"] = base64.b64encode(x.tobytes()).decode()
        return answer

    def error(self, status, words):
        return {"detail": words}


class Gemini(Service):
    path, below = "/v1beta/models/tiny:batchEmbedContents", "/v1beta"
    header, form = "x-goog-api-key", KEY
    fields, texts, most = "requests", "requests", 100

    def checked(self, body):
        self.allow(body, self.fields)
        for request in body["requests"]:
            self.allow(request, "model content taskType title outputDimensionality")
            if request["model"] != "models/tiny":
                raise RefusedError(400, self.error(400, "model must be that of the address"))
        return [request["content"]["parts"][0]["text"] for request in body["requests"]]

    def size(self, body):
        return body["requests"][0].get("outputDimensionality", DIM)

    def seed(self, body):
        return body["requests"][0].get("taskType", "")

    def answered(self, found, body):
        return {"embeddings": [{"values": x.tolist()} for x in found]}

    def error(self, status, words):
        return {"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}


class GeminiOpenai(Service):
    """Gemini's endpoint in OpenAI's protocol: without `encoding_format`, and an index of 0 is left out."""

    path, below = "/v1beta/openai/embeddings", "/v1beta/openai"
    fields, most = "input model dimensions", 100

    def answered(self, found, body):
        answer = super().answered(found, body)
        del answer["data"][0]["index"]
        return answer

    def error(self, status, words):
        return [Gemini.error(self, status, words)]


class Stalling(Service):
    """It answers three requests, and no more until it is released."""

    def __init__(self, url):
        super().__init__(url)
        self.free, self.released = threading.Semaphore(3), threading.Event()

    def answer(self, path, headers, body):
        found = super().answer(path, headers, body)
        if not self.free.acquire(blocking=False):
            self.released.wait(10)
        return found


class Jina(Service):
    fields = "input model task dimensions embedding_type late_chunking normalized truncate"

    def seed(self, body):
        return body.get("task", "")

    def error(self, status, words):
        return {"detail": [{"loc": ["body"], "msg": words, "type": "value_error"}]}


class Ollama(Service):
    path, below = "/api/embed", ""
    fields = "model input truncate options keep_alive dimensions"

    def answered(self, found, body):
        return {"model": "tiny", "embeddings": [x.tolist() for x in found], "total_duration": 1}

    def error(self, status, words):
        return {"error": words}


class Tei(Service):
    path, below = "/embed", ""
    fields = "inputs normalize truncate truncation_direction prompt_name dimensions"
    texts, most = "inputs", 32

    def seed(self, body):
        return body.get("prompt_name") or ""

    def answered(self, found, body):
        return [x.tolist() for x in found]

    def error(self, status, words):
        return {"error": words, "error_type": "validation"}


SERVICES = {
    "openai": Service,
    "azure": Azure,
    "cohere": Cohere,
    "voyage": Voyage,
    "gemini": Gemini,
    "jina": Jina,
    "ollama": Ollama,
    "tei": Tei,
    "vllm": Service,
}
