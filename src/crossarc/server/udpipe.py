"""The interface of UDPipe: ``/models`` and ``/process``, for the clients that people have.

Parameters come in the URL, as ``multipart/form-data`` or as ``application/x-www-form-urlencoded``. Errors are text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from crossarc.server.errors import TEXT_ERRORS
from crossarc.server.jobs import Limits, Process, RequestError
from crossarc.server.registry import Registry

__all__ = ["router"]

_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_FIELDS = 20  # of a form; there are seven

router = APIRouter(tags=["UDPipe"], responses=TEXT_ERRORS)


@router.get("/models", summary="The models and their steps")
@router.post("/models", summary="The models and their steps")
async def models(request: Request) -> Response:
    registry: Registry = request.app.state.registry
    steps = {name: list(description.steps) for name, description in registry.descriptions.items()}
    return _json({"models": steps, "default_model": registry.default})


@router.get("/process", summary="Tokenize, tag and parse")
@router.post("/process", summary="Tokenize, tag and parse")
async def process(request: Request) -> Response:
    """`data`, `model`, `input`, `output`; the presence of `tokenizer`, `tagger`, `parser` switches a step on."""
    registry: Registry = request.app.state.registry
    parameters = await _parameters(request, request.app.state.limits)
    if "data" not in parameters:
        raise RequestError(400, "Required argument 'data' is missing.")
    model = registry.find(parameters.get("model", ""))
    if model is None:
        raise RequestError(400, f"Requested model '{parameters['model']}' does not exist.")
    given = {
        name: parameters[name] for name in ("input", "output", "tokenizer", "tagger", "parser") if name in parameters
    }
    try:
        answer = await request.app.state.pool.do(
            Process(model, parameters["data"], **given, path=registry.paths.get(model))
        )
    except RequestError as refused:
        if refused.line is not None:
            raise RequestError(refused.status, f"Cannot read input data: {refused}") from None
        raise
    acknowledgement = registry.descriptions[model].acknowledgement
    acknowledgements = [acknowledgement] if acknowledgement else []
    return _json({"model": model, "acknowledgements": acknowledgements, "result": answer.content})


async def _parameters(request: Request, limits: Limits) -> Mapping[str, str]:
    """What the URL says and what the body says; the body has the last word."""
    parameters = dict(request.query_params)
    if len(parameters) > _FIELDS:
        raise RequestError(400, f"There are more than {_FIELDS} parameters.")
    if request.method == "GET":
        return parameters
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _FORMS:
        if not kind and not await request.body():
            return parameters
        raise RequestError(400, f"Unsupported payload Content-Type '{kind}'.")
    async with request.form(max_files=_FIELDS, max_fields=_FIELDS, max_part_size=limits.size) as form:
        for name, value in form.multi_items():
            try:
                parameters[name] = (await value.read()).decode() if isinstance(value, UploadFile) else value
            except UnicodeDecodeError:
                raise RequestError(400, f"The parameter '{name}' is not in UTF-8.") from None
    return parameters


def _json(data: object) -> Response:
    return Response(json.dumps(data, indent=1, ensure_ascii=False) + "\n", media_type="application/json")
