"""Dependencies in a UIMA CAS, as INCEpTION sends them in XMI: read as sentences, written as suggestions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from crossarc.core import MissingLibrary, Sentence
from crossarc.server.jobs import RequestError

__all__ = ["Place", "annotated_sentences", "read_cas", "suggest"]

_SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_PREDICTED = "inception_internal_predicted"
_ENDS = ("Governor", "Dependent")  # of an arc; the root's arc has the same token at both


class Place(NamedTuple):
    """A sentence of a CAS: its annotation and its tokens."""

    begin: int
    end: int
    tokens: list[Any]


def read_cas(xmi: str, type_system: str, layer: str, feature: str) -> Any:
    """The CAS of a request. Raises ``RequestError`` for what is no CAS, and for a layer that is not of arcs."""
    try:
        import cassis
    except ModuleNotFoundError:
        raise RequestError(501, str(MissingLibrary("dkpro-cassis is not installed", "inception"))) from None
    if "<!DOCTYPE" in xmi or "<!DOCTYPE" in type_system:
        raise RequestError(400, "XMI has no document type: entities are refused")
    try:
        cas = cassis.load_cas_from_xmi(xmi, typesystem=cassis.load_typesystem(type_system))
        arcs = cas.typesystem.get_type(layer)
    except Exception as error:  # of several libraries
        raise RequestError(400, f"not a CAS in XMI: {error}") from None
    missing = [name for name in (*_ENDS, feature) if arcs.get_feature(name) is None]
    if missing:
        raise RequestError(400, f"the layer {layer} has no feature {missing[0]}: Crossarc suggests arcs between tokens")
    return cas


def annotated_sentences(cas: Any, layer: str, feature: str) -> Iterator[tuple[Sentence, Place]]:
    """The sentences with the arcs that are there already; all other heads are unknown."""
    arcs = {id(arc.Dependent): arc for arc in cas.select(layer) if not _is_suggestion(arc)}
    for unit in cas.select(f"{_SEGMENTATION}.Sentence"):
        tokens = list(cas.select_covered(f"{_SEGMENTATION}.Token", unit))
        if tokens:
            yield _sentence(tokens, arcs, feature), Place(unit.begin, unit.end, tokens)


def _sentence(tokens: Sequence[Any], arcs: dict[int, Any], feature: str) -> Sentence:
    number = {id(token): str(i) for i, token in enumerate(tokens, 1)}
    head, label = [], []
    for token in tokens:
        arc = arcs.get(id(token))
        own = "_" if arc is None or arc.Governor is None else number.get(id(arc.Governor), "_")
        head.append("0" if own == number[id(token)] else own)
        label.append("_" if own == "_" else getattr(arc, feature) or "_")
    columns = {
        "lemma": [_value(token, "lemma", "value") for token in tokens],
        "upos": [_value(token, "pos", "coarseValue") for token in tokens],
        "xpos": [_value(token, "pos", "PosValue") for token in tokens],
    }
    forms = [" ".join(token.get_covered_text().split()) or "_" for token in tokens]
    return Sentence.of(forms, **columns, head=head, deprel=label)


def _value(token: Any, annotation: str, feature: str) -> str:
    """What a token's annotation says, if it has it."""
    return getattr(getattr(token, annotation, None), feature, None) or "_"


def _is_suggestion(arc: Any) -> bool:
    return bool(getattr(arc, _PREDICTED, False)) or arc.Dependent is None


def suggest(
    cas: Any, layer: str, feature: str, place: Place, word: int, head: int, label: str, score: float | None
) -> None:
    """Add an arc to the CAS, as a suggestion with its score."""
    arcs = cas.typesystem.get_type(layer)
    dependent = place.tokens[word - 1]
    governor = place.tokens[head - 1] if head else dependent
    fields = {"begin": dependent.begin, "end": dependent.end, "Governor": governor, "Dependent": dependent}
    fields |= {feature: label, _PREDICTED: True, f"{feature}_score": score}
    cas.add(arcs(**{name: value for name, value in fields.items() if _fits(arcs, name, value)}))


def _fits(arcs: Any, name: str, value: object) -> bool:
    return value is not None and (name in ("begin", "end") or arcs.get_feature(name) is not None)
