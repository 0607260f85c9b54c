"""What requests in JSON are made of: refused for the first thing that is wrong with them.

To list all that is wrong would take seconds for a body that is made for it, in which nobody else is served.
"""

from __future__ import annotations

from reprlib import repr as shortened
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

__all__ = ["Strict", "Texts"]


class Strict(BaseModel):
    """An object without any other fields."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        unknown = [name for name in given if name not in cls.model_fields] if isinstance(given, dict) else []
        if unknown:
            raise PydanticCustomError("extra_forbidden", "there is no field {name}", {"name": shortened(unknown[0])})
        return given


def _only_texts(given: Any) -> Any:
    if isinstance(given, dict) and not all(isinstance(text, str) for text in given.values()):
        raise PydanticCustomError("string_type", "each value must be a text")
    return given


Texts = Annotated[dict[str, str], BeforeValidator(_only_texts)]
