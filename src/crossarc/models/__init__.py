"""Model files: one safetensors file a model, read once and written once."""

from crossarc.models.errors import ModelError
from crossarc.models.file import (
    Component,
    Contents,
    Model,
    Tensors,
    available,
    component_of,
    describe_model,
    read_model,
    write_model,
)

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
