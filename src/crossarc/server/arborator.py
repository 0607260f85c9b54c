"""ArboratorGrew's parser: the interface that its backend calls, with paths and fields of its own.

Every reply is ``{"status": "success", "data": ...}`` or ``{"status": "failure", "error": ...}``.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from crossarc.core import CrossarcError
from crossarc.parsers.constraint_file import WordConstraint
from crossarc.server.errors import TEXT_ERRORS
from crossarc.server.formats import normal, read_conllu
from crossarc.server.jobs import Parse, RequestError, SentenceConstraint
from crossarc.server.registry import Registry
from crossarc.server.strict import Texts
from crossarc.server.training import Trainer

__all__ = ["router"]

router = APIRouter(prefix="/parser/models", tags=["ArboratorGrew"], responses=TEXT_ERRORS)
_SERVED = "crossarc"  # the project of the models that the service has been started with
_REMEMBERED = 100  # tasks whose result can be asked for

Keep = Literal["NONE", "EXISTING", "ALL"]
Reply = dict[str, Any]


class ModelInfo(BaseModel):
    project_name: str
    model_id: str

    @property
    def name(self) -> str:
        return f"arborator {self.project_name} {self.model_id}"


class TrainStart(BaseModel):
    project_name: str = Field(max_length=40)
    train_samples: Texts = Field(description="CoNLL-U by the name of the sample.")
    max_epoch: int = Field(10, ge=1)
    base_model: ModelInfo | None = None


class TrainStatus(BaseModel):
    model_info: ModelInfo
    train_task_id: str


class ParsingSettings(BaseModel):
    """What is kept of the sample: nothing, or what there is of it."""

    keep_heads: Keep = "NONE"
    keep_deprels: Keep = "NONE"
    keep_upos: Keep = "NONE"
    keep_xpos: Keep = "NONE"
    keep_feats: Keep = "NONE"
    keep_lemmas: Keep = "NONE"


class ParseStart(BaseModel):
    model_info: ModelInfo
    to_parse_samples: Texts
    parsing_settings: ParsingSettings = ParsingSettings()


class ParseStatus(BaseModel):
    parse_task_id: str


@router.get("/list", summary="The models")
async def models(request: Request) -> Reply:
    registry: Registry = request.app.state.registry
    infos = [ModelInfo(project_name=_SERVED, model_id=name) for name in registry.descriptions]
    rows: list[Reply] = [{"model_info": info.model_dump(), "scores_best": {}, "scores_history": []} for info in infos]
    trainer: Trainer | None = request.app.state.trainer
    for name in trainer.names() if trainer is not None else ():
        kind, *rest = name.split(" ")
        if kind == "arborator":
            info = ModelInfo(project_name=" ".join(rest[:-1]), model_id=rest[-1])
            rows.append({"model_info": info.model_dump(), **_scores(_trainer(request).scores(name))})
    return _success(rows)


@router.delete("/list/{project_name}/{model_id}", summary="Delete a model")
async def delete(project_name: str, model_id: str, request: Request) -> Reply:
    _trainer(request).delete(ModelInfo(project_name=project_name, model_id=model_id).name)
    return _success(None)


@router.post("/train/start", summary="Train a model")
async def train_start(wanted: TrainStart, request: Request) -> Reply:
    """Every training is from the beginning, which takes less than a minute for some hundred trees."""
    info = ModelInfo(project_name=wanted.project_name, model_id=datetime.now(UTC).strftime("%Y-%m-%d_%H:%M:%S.%f")[:-3])
    try:
        number = _trainer(request).start(info.name, list(wanted.train_samples.values()), wanted.max_epoch)
    except RequestError as refused:
        return _failure(refused.message)
    return _success({"model_info": info.model_dump(), "train_task_id": number})


@router.post("/train/status", summary="Whether a model is trained")
async def train_status(wanted: TrainStatus, request: Request) -> Reply:
    try:
        training = _trainer(request).training(wanted.train_task_id)
    except RequestError as refused:
        return _failure(refused.message)
    if not training.done():
        return _success({"ready": False, "scores_best": None, "scores_history": None})
    if training.exception() is not None:
        return _failure(str(training.exception()))
    return _success({"ready": True, "model_info": wanted.model_info.model_dump(), **_scores(training.result())})


@router.post("/parse/start", summary="Parse samples")
async def parse_start(wanted: ParseStart, request: Request) -> Reply:
    tasks = _tasks(request)
    number = uuid.uuid4().hex
    tasks[number] = asyncio.ensure_future(_parse_samples(request, wanted))
    for old in list(tasks)[:-_REMEMBERED]:
        tasks.pop(old).cancel()
    return _success({"model_info": wanted.model_info.model_dump(), "parse_task_id": number})


@router.post("/parse/status", summary="Whether samples are parsed, and their trees")
async def parse_status(wanted: ParseStatus, request: Request) -> Reply:
    task = _tasks(request).get(wanted.parse_task_id)
    if task is None:
        return _failure(f"there is no task {wanted.parse_task_id}")
    return task.result() if task.done() else _success({"ready": False})


async def _parse_samples(request: Request, wanted: ParseStart) -> Reply:
    try:
        parsed = {
            name: await _parse_sample(request, wanted, sample) for name, sample in wanted.to_parse_samples.items()
        }
    except CrossarcError as error:
        return _failure(str(error))
    return _success({"ready": True, "model_info": wanted.model_info.model_dump(), "parsed_samples": parsed})


async def _parse_sample(request: Request, wanted: ParseStart, sample: str) -> str:
    info, keep = wanted.model_info, wanted.parsing_settings
    sentences = read_conllu(normal(sample), request.app.state.limits.length)
    constraints = tuple(
        SentenceConstraint(number, WordConstraint(word, heads=(int(head),), labels=_kept_label(label, keep)))
        for number, sentence in enumerate(sentences, 1)
        for word, (head, label) in enumerate(zip(sentence.head, sentence.deprel, strict=True), 1)
        if keep.keep_heads != "NONE" and head != "_"
    )
    dropped = {"upos": keep.keep_upos, "xpos": keep.keep_xpos, "feats": keep.keep_feats, "lemma": keep.keep_lemmas}
    blanks = [name for name, kept in dropped.items() if kept == "NONE"]
    texts = [s.with_columns(**{name: ["_"] * len(s) for name in blanks}).to_conllu() for s in sentences]
    model = info.model_id if info.project_name == _SERVED else info.name
    job = Parse(model, "".join(texts), "conllu", 1, constraints)
    if info.project_name == _SERVED:
        if info.model_id not in request.app.state.registry.descriptions:
            raise RequestError(404, f"there is no model {info.model_id}")
        answer = await request.app.state.pool.do(job)
    else:
        answer = await _trainer(request).answer(model, job)
    return "".join(found["trees"][0]["conllu"] for found in json.loads(answer.content)["sentences"])


def _kept_label(label: str, keep: ParsingSettings) -> tuple[str, ...]:
    return () if keep.keep_deprels == "NONE" or label == "_" else (label,)


def _tasks(request: Request) -> dict[str, asyncio.Task[Reply]]:
    state = request.app.state
    if not hasattr(state, "arborator_tasks"):
        state.arborator_tasks = {}
    tasks: dict[str, asyncio.Task[Reply]] = state.arborator_tasks
    return tasks


def _trainer(request: Request) -> Trainer:
    trainer: Trainer | None = request.app.state.trainer
    if trainer is None:
        raise RequestError(403, "this service does not train parsers (crossarc serve --training DIR)")
    return trainer


def _scores(scores: dict[str, Any]) -> Reply:
    """By the names that ArboratorGrew has for them; what was not measured is missing."""
    named = {"acc_head_epoch": scores.get("uas"), "LAS_epoch": scores.get("las"), "LAS_chuliu_epoch": scores.get("las")}
    data = {"n_train_sents": scores["trained_on"], "n_test_sents": scores["tested_on"]}
    best = {name: score for name, score in named.items() if score is not None}
    best["training_diagnostics"] = {"epoch": scores["epochs"], "data_description": data}
    return {"scores_best": best, "scores_history": [best]}


def _success(data: Any) -> Reply:
    return {"status": "success", "data": data}


def _failure(error: str) -> Reply:
    return {"status": "failure", "error": error}
