"""Large answers, written once: what a route returns as a record FastAPI would take apart again."""

from __future__ import annotations

from fastapi.responses import Response
from pydantic import BaseModel


def written(record: BaseModel) -> bytes:
    """Return a record as JSON, to be kept and sent more than once."""
    return record.model_dump_json(by_alias=True).encode()


def sent(record: BaseModel | bytes) -> Response:
    """Return a record as the response that it is documented to be; a new one every time."""
    body = record if isinstance(record, bytes) else written(record)
    return Response(body, media_type="application/json")
