"""What a configuration is: a frozen dataclass whose fields say what they mean and what they may be.

The command line makes its options from them, a model's header keeps them, Python takes them as keyword arguments: one
vocabulary for all three.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from crossarc.core import CrossarcError

__all__ = ["Config", "Setting", "setting", "settings"]


def setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    flags: str = "",
    only: Mapping[str, tuple[Any, ...]] | None = None,
    default_text: str | None = None,
) -> Any:
    """A field of a configuration.

    ``low`` and ``high`` bound a number. ``flags`` names the two options of a truth value, such as
    ``--stop/--no-stop``, or an option of another name. ``only``: other fields, and the values of them with which this
    one means anything. ``default_text`` describes a default that depends on something else.
    """
    about = {"help": help, "low": low, "high": high, "flags": flags, "only": only or {}, "default": default_text}
    return field(default=default, metadata=about)


_AS_IN_TREEBANK = "as in the treebank"
_OURS = "A feature set that comes with Crossarc ({}), or a file of templates; several are joined by +."


# What a setting needs that only changes the climbing from a projective tree, or the pruner
CLIMBING, PRUNER = "--nonprojective", "--max-candidates above 0"


# Settings that several systems have. A dataclass keeps each field to itself, so these make new ones.


def projective(help: str = "Whether arcs must not cross.") -> Any:
    return setting(None, help, flags="--projective/--nonprojective", default_text=_AS_IN_TREEBANK)


def single_root(default_text: str = _AS_IN_TREEBANK) -> Any:
    flags = "--single-root/--several-roots"
    return setting(None, "Whether trees have exactly one root.", flags=flags, default_text=default_text)


def epochs(help: str = "Passes over the treebank.", **about: Any) -> Any:
    return setting(10, help, low=1, **about)


def seed(what: str = "of the random order of sentences", **about: Any) -> Any:
    return setting(1, f"The seed {what}.", **about)


def features(names: str = "default, mcd2005, mp2006") -> Any:
    return setting("default", _OURS.format(names))


def hash_bits(default: int | None = None, **about: Any) -> Any:
    text = None if default else "as many as the treebank and the feature set need"
    return setting(default, "There are 2^N weights.", low=10, high=28, default_text=text, **about)


def max_candidates(remark: str, low: int) -> Any:
    return setting(10, f"The most heads that the pruner leaves to each word{remark}.", low=low)


def labels() -> Any:
    help = (
        "two-stage: labels are chosen for a finished tree; joint: together with its arcs; none: only heads are learnt."
    )
    return setting("two-stage", help)


def start(**about: Any) -> Any:
    help = "The tree from which heads are changed: the best projective one, or the best by arcs alone, which may cross."
    return setting("projective", help, **about)


def max_changes(**about: Any) -> Any:
    return setting(None, "The most changes of heads.", low=0, default_text="while they help", **about)


def pruning_margin(default: float) -> Any:
    return setting(default, "The pruner leaves heads that score at most this much less than the best one.", low=0)


@dataclass(frozen=True)
class Setting:
    """A field of a configuration, as the command line and the checks need it."""

    name: str
    type: type  # bool, int, float or str
    choices: tuple[str, ...]  # empty if anything of the type will do
    optional: bool  # whether it may be None: left to the treebank, or to other fields
    default: Any
    help: str
    low: float | None
    high: float | None
    flags: str
    only: Mapping[str, tuple[Any, ...]]
    default_text: str | None

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value."""
        if value is None:
            return None if self.optional else "is missing"
        number = self.type is float and isinstance(value, int) and not isinstance(value, bool)
        if (not isinstance(value, self.type) and not number) or (isinstance(value, bool) and self.type is not bool):
            return f"is {value!r}, not {self.type.__name__}"
        if isinstance(value, int) and abs(value) > sys.maxsize:
            return "is larger than any number that a processor takes"
        if self.choices and value not in self.choices:
            return f"is {value!r}, which is none of {', '.join(self.choices)}"
        if (self.low is not None and not value >= self.low) or (self.high is not None and not value <= self.high):
            bounds = f"at least {self.low:g}" if self.high is None else f"from {self.low:g} to {self.high:g}"
            return f"is {value!r}: it must be {bounds}"
        return None


@dataclass(frozen=True)
class Config:
    """The base of all configurations: every field is checked against what it says of itself."""

    def __post_init__(self) -> None:
        for known in settings(type(self)):
            problem = known.problem(getattr(self, known.name))
            if problem:
                raise CrossarcError(f"{known.name} {problem}")
            if known.type is float and isinstance(getattr(self, known.name), int):
                # a kernel that is given a whole number would be compiled anew for it
                object.__setattr__(self, known.name, float(getattr(self, known.name)))
        self.check()

    def check(self) -> None:
        """Refuse values that do not go together."""

    def without_effect(self) -> dict[str, str]:
        """The settings that mean nothing beside the others, and the options with which they would."""
        found: dict[str, str] = {}
        for known in settings(type(self)):
            for name, values in known.only.items():
                if getattr(self, name) not in values:
                    found[known.name] = " or ".join(_as_option(name, value) for value in values)
        return found

    def beside(self, components: Collection[str]) -> Self:
        """The configuration of a parser that is trained with these components (segmenter, tagger ...)."""
        return self

    @property
    def finds_tags(self) -> bool:
        """Whether the parser finds tags itself, so that it needs no tagger."""
        return False

    @property
    def partial_trees(self) -> bool:
        """Whether words without a head can be learnt from."""
        return False

    @property
    def sharded(self) -> bool:
        """Whether the treebank is learnt from in shards, which workers can hold."""
        return False


def _as_option(name: str, value: object) -> str:
    option = f"--{name.replace('_', '-')}"
    return option if value is True else f"{option} {value}"


def settings(config: type[Config]) -> tuple[Setting, ...]:
    """The fields of a configuration."""
    return _settings(config)  # type: ignore[arg-type]  # mypy takes a class of dataclasses for unhashable


@cache
def _settings(config: Any) -> tuple[Setting, ...]:
    hints = get_type_hints(config)
    return tuple(_setting(own, hints[own.name]) for own in fields(config))


def _setting(own: Field[Any], hint: Any) -> Setting:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    about = own.metadata
    return Setting(
        own.name,
        str if choices else kind,
        choices,
        NoneType in kinds,
        own.default,
        about["help"],
        about["low"],
        about["high"],
        about["flags"],
        about["only"],
        about["default"],
    )
