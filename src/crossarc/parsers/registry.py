"""The systems by name. A system's modules are imported when it is first used: parsing with one does not load others."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crossarc.core import CrossarcError, Sentence
from crossarc.models import Contents, ModelError, read_model
from crossarc.parsers.config import Config
from crossarc.parsers.training import TrainingListener, TrainingSetup

if TYPE_CHECKING:
    from crossarc.parsers.base import Parser

__all__ = ["SYSTEMS", "System", "load", "parser_from_model", "system_of", "train"]


class System(NamedTuple):
    """A way of parsing: where its configuration, its parser and its training are."""

    name: str
    summary: str
    package: str  # has the modules config, parser and training
    class_prefix: str  # of its classes: SpanningTreeConfig, SpanningTreeParser

    @property
    def config(self) -> type[Config]:
        """The class of its configurations."""
        found: type[Config] = self._find("config", f"{self.class_prefix}Config")
        return found

    @property
    def parser(self) -> type[Parser]:
        """The class of its parsers."""
        found: type[Parser] = self._find("parser", f"{self.class_prefix}Parser")
        return found

    @property
    def presets(self) -> dict[str, Config]:
        """Configurations by name: the set-ups of papers."""
        found: dict[str, Config] = getattr(import_module(f"{self.package}.config"), "PRESETS", {})
        return found

    def train(self, treebank: Sequence[Sentence], config: Config, setup: TrainingSetup) -> Parser:
        """Train a parser: see ``crossarc.parsers.train``."""
        found: Parser = self._find("training", "train")(treebank, config, setup)
        return found

    def _find(self, module: str, name: str) -> Any:
        return getattr(import_module(f"{self.package}.{module}"), name)


SYSTEMS = {
    system.name: system
    for system in (
        System(
            "spanning-tree",
            "the best tree by scores of arcs, siblings, grandparents (McDonald et al. 2005, 2006; Zhang et al. 2014)",
            "crossarc.parsers.spanning_tree",
            "SpanningTree",
        ),
        System(
            "covington",
            "fast and incremental, with degrees of non-projectivity (Nivre 2007)",
            "crossarc.parsers.covington",
            "Covington",
        ),
        System(
            "generative",
            "a language model over trees, from counts or without trees by EM (McDonald & Satta 2007)",
            "crossarc.parsers.generative",
            "Generative",
        ),
        System(
            "ilp",
            "integer programs, exact or relaxed (Martins, Smith & Xing 2009)",
            "crossarc.parsers.ilp",
            "Ilp",
        ),
        System(
            "graph",
            "words with several heads, from and to DEPS (McDonald & Pereira 2006)",
            "crossarc.parsers.graph",
            "Graph",
        ),
    )
}

DEFAULT = "spanning-tree"


def system_of(config: Config) -> System:
    """The system that a configuration is for."""
    for system in SYSTEMS.values():
        if type(config).__module__ == f"{system.package}.config":
            return system
    raise CrossarcError(f"{type(config).__name__} is the configuration of no system")


def train(
    treebank: Sequence[Sentence],
    config: Config | None = None,
    *,
    dev: Sequence[Sentence] = (),
    listener: TrainingListener | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    jobs: int = 1,
) -> Parser:
    """A parser of the kind that the configuration is for; by default the best we have.

    With ``dev``, the weights after the epoch that is best there are kept. An interrupt after the first epoch ends
    training and keeps the best so far. With ``checkpoint``, the state after each epoch is kept in that file; ``resume``
    goes on from there; whoever saves the parser deletes it. With two ``jobs``, systems that can learn two things at
    once do so; the result is the same.
    """
    system = system_of(config) if config is not None else SYSTEMS[DEFAULT]
    setup = TrainingSetup(dev, listener or TrainingListener(), checkpoint, resume, jobs)
    return system.train(treebank, config or system.config(), setup)


def load(path: str | Path) -> Parser:
    """The parser in a model file. Raises ``ModelError`` that says what is wrong with the file."""
    return parser_from_model(read_model(path).components, path)


def parser_from_model(components: dict[str, Contents], path: str | Path) -> Parser:
    """The parser among the components of a model; errors name its file."""
    if "training" in components:
        raise ModelError(f"{path}: the state of an interrupted training; crossarc train --resume goes on with it")
    contents = components.get("parser", Contents({}, {}))
    name = contents.header.get("system")
    if name not in SYSTEMS:
        problem = f"a model of a system that this version of Crossarc does not know: {name}" if name else "no parser"
        raise ModelError(f"{path}: {problem}")
    return SYSTEMS[name].parser.from_model(*contents)
