"""Our own interface: JSON in, JSON out, described at ``/api/openapi.json``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from crossarc.parsers.constraint_file import WordConstraint
from crossarc.server.errors import JSON_ERRORS
from crossarc.server.jobs import Parse, RequestError, SentenceConstraint
from crossarc.server.registry import Registry
from crossarc.server.strict import Strict

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["Crossarc"], responses=JSON_ERRORS)

_LARGEST = 1_000_000_000  # number of a word or sentence

_MANY = 1000  # values in a list
_CONSTRAINTS = 2000  # of a request
Number = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]


class Constraint(Strict):
    """What the tree of a sentence must have for one word."""

    sentence: Number = Field(1, description="Which sentence, counted from 1.")
    word: Number = Field(description="Which word of it, counted from 1.")
    head: Number | None = Field(None, description="Its head must be this word; 0 is the root.")
    not_heads: list[Number] = Field([], description="Its head must be none of these words.", max_length=_MANY)
    label: str | None = Field(None, description="Its label must be this one.")
    not_labels: list[str] = Field([], description="Its label must be none of these.", max_length=_MANY)

    def for_parser(self) -> SentenceConstraint:
        """The same, as the parser wants it."""
        return SentenceConstraint(
            self.sentence,
            WordConstraint(
                self.word,
                heads=() if self.head is None else (self.head,),
                not_heads=tuple(self.not_heads),
                labels=() if self.label is None else (self.label,),
                not_labels=tuple(self.not_labels),
            ),
        )


class ParseRequest(Strict):
    text: str = Field(description="What to parse.")
    format: Literal["text", "conllu"] = Field("text", description="Raw text, or CoNLL-U.")
    model: str | None = Field(None, description="The name of a model; the default one if there is none.")
    k: int = Field(1, ge=1, description="How many trees of each sentence.")
    constraints: list[Constraint] = Field(
        [], description="What the trees must have.", fail_fast=True, max_length=_CONSTRAINTS
    )
    judge: bool = Field(False, description="Whether to say how probable the arcs are that the sentences come with.")


class Word(BaseModel):
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str


class Token(BaseModel):
    """Several words that are written as one."""

    first: int
    last: int
    form: str


Likely = Annotated[list[tuple[str, float]], Field(description="The most probable labels of this arc.")]


class Arc(BaseModel):
    head: int | None = Field(description="0 is the root.")
    label: str
    probability: float | None = Field(description="Of the arc among all trees; null if the model knows none.")
    labelled: float | None = Field(description="Of the arc with its label.")
    labels: Likely | None


class GivenArc(BaseModel):
    """An arc that a sentence came with."""

    probability: float = Field(description="Of the arc among all trees.")
    labelled: float = Field(description="Of the arc with its label.")


class Tree(BaseModel):
    probability: float | None = Field(description="Of its heads.")
    score: float | None
    arcs: list[Arc] = Field(description="The arc into each word.")
    conllu: str


class ParsedSentence(BaseModel):
    sent_id: str | None
    text: str
    words: list[Word]
    tokens: list[Token]
    entropy: float | None = Field(description="Of all trees, in nats: how unsure the parser is.")
    heads: list[list[tuple[int, float]]] | None = Field(description="The most probable heads of each word.")
    given: list[GivenArc] | None = Field(
        description="The arc that each word came with, if `judge` asked for it and each word has one."
    )
    trees: list[Tree] = Field(description="Distinct, the best one first.")


class ParseReply(BaseModel):
    model: str
    sentences: list[ParsedSentence]


class Model(BaseModel):
    name: str
    steps: list[str] = Field(description="Of tokenizer, tagger, parser.")
    labels: list[str]
    probabilities: bool
    k_best: bool
    acknowledgement: str
    language: str = Field(description="Its English name, if the model says.")


class Models(BaseModel):
    default: str
    models: list[Model]
    limits: dict[str, float] = Field(description="Bytes of a request, words of a sentence, seconds, trees.")
    folder: bool = Field(description="Whether there is a folder of treebanks (`/api/folder`).")


@router.get("/models")
async def models(request: Request) -> Models:
    """The models and what they can do."""
    registry: Registry = request.app.state.registry
    limits = request.app.state.limits
    return Models(
        default=registry.default,
        models=[Model(name=name, **found._asdict()) for name, found in registry.descriptions.items()],
        limits={"size": limits.size, "length": limits.length, "seconds": limits.seconds, "k": limits.k},
        folder=request.app.state.folder is not None,
    )


@router.post("/parse", response_model=ParseReply)
async def parse(request: Request, wanted: ParseRequest) -> Response:
    """The k best trees of each sentence under the constraints, with the probabilities of their arcs."""
    registry: Registry = request.app.state.registry
    model = registry.find(wanted.model or "")
    if model is None:
        raise RequestError(404, f"there is no model {wanted.model}")
    limits = request.app.state.limits
    if wanted.k > limits.k:
        raise RequestError(400, f"k may be at most {limits.k}")
    constraints = tuple(constraint.for_parser() for constraint in wanted.constraints)
    path = registry.paths.get(model)
    answer = await request.app.state.pool.do(
        Parse(model, wanted.text, wanted.format, wanted.k, constraints, wanted.judge, path)
    )
    return Response(answer.content, media_type="application/json")
