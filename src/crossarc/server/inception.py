"""INCEpTION's external recommender: arcs as suggestions, with those that a person has accepted as constraints.

The remote URL of the recommender is that of the service, for its default model, or that of the service and the name of
a model. Trained parsers belong to a project and a user.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from crossarc.core import Sentence
from crossarc.parsers.constraint_file import WordConstraint
from crossarc.server.cas import Place, annotated_sentences, read_cas, suggest
from crossarc.server.errors import TEXT_ERRORS
from crossarc.server.jobs import Answer, Parse, RequestError, SentenceConstraint
from crossarc.server.registry import Registry
from crossarc.server.training import Trainer

__all__ = ["router"]

router = APIRouter(tags=["INCEpTION"], responses=TEXT_ERRORS)
_EPOCHS = 6


class Range(BaseModel):
    begin: int
    end: int


class Metadata(BaseModel):
    layer: str = Field(description="A layer of relations, such as that of dependencies.")
    feature: str
    projectId: int  # noqa: N815 (their name)
    range: Range | None = None


class Document(BaseModel):
    xmi: str
    documentId: int | None = None  # noqa: N815
    userId: str = ""  # noqa: N815


class PredictionRequest(BaseModel):
    metadata: Metadata
    document: Document
    typeSystem: str  # noqa: N815


class TrainingRequest(BaseModel):
    metadata: Metadata
    documents: list[Document] = Field(fail_fast=True)
    typeSystem: str  # noqa: N815


@router.post("/predict", summary="Suggest arcs")
@router.post("/{model}/predict", summary="Suggest arcs")
async def predict(wanted: PredictionRequest, request: Request, model: str = "") -> dict[str, str]:
    """The CAS with an arc for each token that has none."""
    name, own = _model(request, model), wanted.metadata
    cas = await asyncio.to_thread(read_cas, wanted.document.xmi, wanted.typeSystem, own.layer, own.feature)
    found = [pair for pair in annotated_sentences(cas, own.layer, own.feature) if _in_range(pair[1], own.range)]
    if found:
        trees = await _parse(request, name, _trained_name(name, own, wanted.document), [s for s, _ in found])
        await asyncio.to_thread(_suggest_all, cas, own, found, trees)
    return {"document": cas.to_xmi()}


@router.post("/train", summary="Learn from what has been annotated", status_code=204)
@router.post("/{model}/train", summary="Learn from what has been annotated", status_code=204)
async def train(wanted: TrainingRequest, request: Request, model: str = "") -> Response:
    """Begins to train; suggestions come from the new parser when it is ready. 429 while one is being trained."""
    trainer: Trainer | None = request.app.state.trainer
    if trainer is None:
        raise RequestError(403, "this service does not train parsers (crossarc serve --training DIR)")
    name, own = _model(request, model), wanted.metadata
    if not wanted.documents:
        raise RequestError(400, "there is no document to learn from")
    text = await asyncio.to_thread(_treebank, wanted)
    trainer.start(_trained_name(name, own, wanted.documents[0]), [text], _EPOCHS)
    return Response(status_code=204)


def _model(request: Request, model: str) -> str:
    registry: Registry = request.app.state.registry
    name = registry.find(model)
    if name is None:
        raise RequestError(404, f"there is no model {model}")
    return name


def _trained_name(model: str, metadata: Metadata, document: Document) -> str:
    return f"inception {model} {metadata.projectId} {document.userId}"


def _in_range(place: Place, wanted: Range | None) -> bool:
    return wanted is None or (place.begin < wanted.end and place.end > wanted.begin)


def _treebank(wanted: TrainingRequest) -> str:
    """All documents as CoNLL-U; words without an arc have no head."""
    own, sentences = wanted.metadata, []
    for document in wanted.documents:
        cas = read_cas(document.xmi, wanted.typeSystem, own.layer, own.feature)
        sentences += [sentence for sentence, _ in annotated_sentences(cas, own.layer, own.feature)]
    return "".join(sentence.to_conllu() for sentence in sentences)


async def _parse(request: Request, model: str, trained: str, sentences: list[Sentence]) -> list[dict[str, Any]]:
    """The best tree of each sentence around the arcs that it has; if they allow none, regardless of them."""
    text = "".join(sentence.to_conllu() for sentence in sentences)
    constraints = tuple(
        SentenceConstraint(number, WordConstraint(word, heads=(int(head),)))
        for number, sentence in enumerate(sentences, 1)
        for word, head in enumerate(sentence.head, 1)
        if head != "_"
    )
    try:
        answer = await _answer(request, model, trained, Parse(model, text, "conllu", 1, constraints))
    except RequestError as refused:
        if refused.status != 400 or not constraints:
            raise
        answer = await _answer(request, model, trained, Parse(model, text, "conllu"))
    return [sentence["trees"][0] for sentence in json.loads(answer.content)["sentences"]]


async def _answer(request: Request, model: str, trained: str, job: Parse) -> Answer:
    """By the parser that was trained for this project and user, if there is one."""
    trainer: Trainer | None = request.app.state.trainer
    if trainer is not None and trained in trainer:
        return await trainer.answer(trained, job)
    answer: Answer = await request.app.state.pool.do(job)
    return answer


def _suggest_all(
    cas: Any, metadata: Metadata, found: list[tuple[Sentence, Place]], trees: list[dict[str, Any]]
) -> None:
    for (sentence, place), tree in zip(found, trees, strict=True):
        for word, (known, arc) in enumerate(zip(sentence.head, tree["arcs"], strict=True), 1):
            if known == "_" and arc["head"] is not None:
                layer, feature, label = metadata.layer, metadata.feature, arc["label"]
                suggest(cas, layer, feature, place, word, arc["head"], label, _score(arc))


def _score(arc: dict[str, Any]) -> float | None:
    """The probability of the arc with its label, if the model knows it."""
    if arc["probability"] is None:
        return None
    shares = dict(arc["labels"] or [])
    return float(arc["probability"] * shares.get(arc["label"], 1.0))
