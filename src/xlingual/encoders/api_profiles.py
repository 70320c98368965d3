"""How services want to be asked for embeddings, and what they answer: a row each, as documented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True)
class Profile:
    """A service: its address, the header and variable of its key, the shapes of requests and answers."""

    base_url: str | None  # None: everyone has an address of their own
    key_env: str
    path: str = "/embeddings"
    key_header: str = "Authorization"
    url: Mapping[str, str] = field(default_factory=dict)  # parameters in the address
    names_model: bool = True  # whether requests name the model; otherwise the service has one
    texts: str = "input"  # the field with the texts
    each: bool = False  # whether every text is a request of its own in that field, as Gemini has it
    dim: str = "dimensions"  # the field with the number of dimensions
    body: Mapping[str, Any] = field(default_factory=dict)  # fields of every request
    role: str = ""  # the field that says what texts are for
    by_role: Mapping[str | None, str] = field(default_factory=dict)  # its values; None: texts without a role
    rows: tuple[str, ...] = ("data",)  # where in an answer the list of vectors is
    vector: str | None = "embedding"  # the field of a row with its vector; None: the row is the vector
    index: bool = True  # whether rows have an index; otherwise they are in the order of the texts
    batch: int = 128  # texts of a request
    most: int | None = None  # the most that the service takes

    def address(self, base_url: str, model: str) -> str:
        """Return where requests are sent."""
        return base_url + self.path.format(model=quote(model, safe=""))

    def request(self, model: str, texts: Sequence[str], fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON of a request."""
        if self.each:
            shared = {"model": f"models/{model}", **fields}
            return {self.texts: [{**shared, "content": {"parts": [{"text": text}]}} for text in texts]}
        return {**({"model": model} if self.names_model else {}), self.texts: list(texts), **fields}

    def found(self, answer: Any) -> list[Any] | None:  # noqa: ANN401  (JSON)
        """Return the rows of an answer, each with a vector; None where it holds no list of them."""
        for name in self.rows:
            answer = answer.get(name) if isinstance(answer, dict) else None
        kind = list if self.vector is None else dict
        if not isinstance(answer, list) or not all(isinstance(row, kind) for row in answer):
            return None
        return answer

    @property
    def example(self) -> str:
        """An address of such a service."""
        return self.base_url or "https://NAME.openai.azure.com"

    @property
    def form(self) -> str:
        """Where the list of vectors is expected, for errors."""
        return f"list {'.'.join(self.rows)!r} of embeddings" if self.rows else "list of embeddings"


FLOATS = {"encoding_format": "float"}
OPENAI = "openai"
PROFILES: Mapping[str, Profile] = {
    OPENAI: Profile("https://api.openai.com/v1", "OPENAI_API_KEY", body=FLOATS),
    "azure": Profile(
        None,
        "AZURE_OPENAI_API_KEY",
        path="/openai/deployments/{model}/embeddings",
        key_header="api-key",
        url={"api-version": "2024-10-21"},
        body=FLOATS,
        most=2048,
    ),
    "cohere": Profile(
        "https://api.cohere.com",
        "CO_API_KEY",
        path="/v2/embed",
        texts="texts",
        dim="output_dimension",
        body={"embedding_types": ["float"]},
        role="input_type",
        by_role={None: "search_document", "query": "search_query", "candidate": "search_document"},
        rows=("embeddings", "float"),
        vector=None,
        index=False,
        batch=96,
        most=96,
    ),
    "voyage": Profile(
        "https://api.voyageai.com/v1",
        "VOYAGE_API_KEY",
        dim="output_dimension",
        role="input_type",
        by_role={"query": "query", "candidate": "document"},
        most=1000,
    ),
    "gemini": Profile(
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
        path="/models/{model}:batchEmbedContents",
        key_header="x-goog-api-key",
        texts="requests",
        each=True,
        dim="outputDimensionality",
        role="taskType",
        by_role={
            None: "SEMANTIC_SIMILARITY",
            "query": "RETRIEVAL_QUERY",
            "candidate": "RETRIEVAL_DOCUMENT",
        },
        rows=("embeddings",),
        vector="values",
        index=False,
        batch=100,
        most=100,
    ),
    "jina": Profile(
        "https://api.jina.ai/v1",
        "JINA_API_KEY",
        role="task",
        by_role={None: "text-matching", "query": "retrieval.query", "candidate": "retrieval.passage"},
    ),
    "ollama": Profile(
        "http://localhost:11434",
        "OLLAMA_API_KEY",
        path="/api/embed",
        rows=("embeddings",),
        vector=None,
        index=False,
        batch=32,
    ),
    "tei": Profile(
        "http://localhost:8080",
        "TEI_API_KEY",
        path="/embed",
        names_model=False,
        texts="inputs",
        rows=(),
        vector=None,
        index=False,
        batch=32,
    ),
    "vllm": Profile("http://localhost:8000/v1", "VLLM_API_KEY", body=FLOATS),
}
