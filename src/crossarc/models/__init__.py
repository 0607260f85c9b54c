"""Model files: one safetensors file a model, read once and written once; models by name."""

from crossarc.models.errors import ModelError
from crossarc.models.file import (
    Component,
    Contents,
    Model,
    Tensors,
    component_of,
    describe_model,
    read_model,
    write_model,
)
from crossarc.models.listing import available

__all__ = [
    "Component",
    "Contents",
    "Model",
    "ModelError",
    "Tensors",
    "available",
    "component_of",
    "describe_model",
    "read_model",
    "write_model",
]
