"""The systems by name. A system's modules are imported when it is first used: parsing with one does not load others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crossarc.core import CrossarcError, Sentence
from crossarc.io import read
from crossarc.learning.shards import InProcess, Workers
from crossarc.models import Contents, ModelError, component_of, read_model
from crossarc.models.installed import file_of, naming_package
from crossarc.models.schema import Record
from crossarc.parsers.base import Capability, Parser, Sentences, UnsupportedOption, checked_sentences
from crossarc.parsers.config import Config
from crossarc.parsers.progress import ProgressLines
from crossarc.parsers.training import TrainingListener, TrainingSetup
from crossarc.parsers.wrapping import Train

if TYPE_CHECKING:
    from crossarc.parsers.pseudo_projective.encoding import Encoding

__all__ = [
    "KNOWN",
    "SYSTEMS",
    "WRAPPERS",
    "System",
    "check_header",
    "class_of",
    "load",
    "named_config",
    "parser_from_model",
    "system_of",
    "train",
    "training_of",
]


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

    def train(self, treebank: Sequence[Sentence], config: Config, setup: TrainingSetup, *inner: Any) -> Parser:
        """Train a parser: see ``crossarc.parsers.train``; of a wrapper, ``inner`` says how those inside are trained."""
        found: Parser = self._find("training", "train")(treebank, config, setup, *inner)
        return found

    def inner_config(self, config: Config) -> Config:
        """Of a wrapper: the configuration of a parser that is to be inside of it."""
        found: Config = self._find("config", "inner_config")(config)
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
            "neural",
            "the best tree by a neural network's scores of arcs (Dozat & Manning 2017); needs torch for training",
            "crossarc.parsers.neural",
            "Neural",
        ),
        System(
            "combined",
            "several parsers whose scores are added up: by default a neural and a spanning-tree parser; needs --dev",
            "crossarc.parsers.combined",
            "Combined",
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

# Parsers around those of a system. They are no systems: ``crossarc train`` has options that put them around any
WRAPPERS = {
    wrapper.name: wrapper
    for wrapper in (
        System(
            "pseudo-projective",
            "crossing arcs in the labels of projective trees (Nivre & Nilsson 2005)",
            "crossarc.parsers.pseudo_projective",
            "PseudoProjective",
        ),
        System(
            "stacked",
            "the trees of one parser as features of another (Nivre & McDonald 2008; Martins et al. 2008)",
            "crossarc.parsers.stacked",
            "Stacked",
        ),
    )
}
KNOWN = SYSTEMS | WRAPPERS  # by what the header of a model says


def system_of(config: Config) -> System:
    """The system that a configuration is for."""
    for system in SYSTEMS.values():
        if type(config).__module__ == f"{system.package}.config":
            return system
    raise CrossarcError(f"{type(config).__name__} is the configuration of no system")


def named_config(name: str) -> Config | None:
    """The configuration of a system or a preset with that name."""
    if name in SYSTEMS:
        return SYSTEMS[name].config()
    presets = (system.presets.get(name) for system in SYSTEMS.values())
    return next((found for found in presets if found is not None), None)


def class_of(header: Mapping[str, Any]) -> type[Parser] | None:
    """The class of the parser with that header; None if it is unknown."""
    name = header.get("system")
    return KNOWN[name].parser if isinstance(name, str) and name in KNOWN else None


def train(
    treebank: str | Path | Sentences,
    config: Config | None = None,
    *,
    dev: str | Path | Sentences = (),
    progress: bool = False,
    listener: TrainingListener | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    workers: Workers | None = None,
    pseudo_projective: Encoding | None = None,
    stack: str | Path | None = None,
) -> Parser:
    """A parser of the kind that the configuration is for; by default the best we have.

    An interrupt after the first epoch ends training and keeps the best so far.

    Parameters
    ----------
    treebank, dev : sentences with trees, or the path of a file of them
        With ``dev``, the weights after the epoch that is best there are kept.
    config : Config, optional
        Of one of the systems: ``crossarc.parsers.SpanningTreeConfig`` and its like.
    progress : bool
        Whether to print a line to standard error after each epoch.
    listener : TrainingListener, optional
        Is told more than these lines say, in their place.
    checkpoint, resume : Path and bool
        Where the state after each epoch is kept, and whether to go on from there. Whoever saves the parser deletes it.
    jobs : int
        With two, systems that can learn two things at once do so; the result is the same.
    workers : learning.shards.Workers, optional
        Who holds the treebank where it is learnt from in shards (``shards`` of the configuration,
        ``optimizer="lbfgs"``, ``unsupervised``): ``crossarc.cluster.LocalWorkers`` or ``RayWorkers``. The result is the
        same for any number of them.
    pseudo_projective : "head", "path" or "head+path", optional
        The parser is projective, and its labels say which arcs cross (``parsers.pseudo_projective.encoding``).
    stack : str or Path, optional
        A system, a preset or a model, whose trees guide the parser by features (``parsers.stacked``).
    """
    config = config or SYSTEMS[DEFAULT].config()
    if workers is not None and not config.sharded:
        raise UnsupportedOption("workers share shards: there are none without shards, optimizer lbfgs or unsupervised")
    sentences = _sentences(treebank, trees=not config.partial_trees)
    listener = listener or (ProgressLines(config) if progress else TrainingListener())
    setup = TrainingSetup(_sentences(dev), listener, checkpoint, resume, jobs, workers or InProcess())
    return training_of(config, pseudo_projective=pseudo_projective, stack=stack)(sentences, setup)


def training_of(config: Config, *, pseudo_projective: Encoding | None = None, stack: str | Path | None = None) -> Train:
    """How parsers with this configuration are trained, with what is put around them."""
    if pseudo_projective is not None:
        if Capability.GRAPHS in system_of(config).parser.capabilities:
            raise UnsupportedOption("pseudo-projective parsing is for trees, not for words with several heads")
        config = WRAPPERS["pseudo-projective"].inner_config(config)
    if stack is not None:
        config = WRAPPERS["stacked"].inner_config(config)
    own = config

    def learn(treebank: Sequence[Sentence], setup: TrainingSetup) -> Parser:
        return system_of(own).train(treebank, own, setup)

    trained: Train = learn if stack is None else _stacked(str(stack), learn)
    return trained if pseudo_projective is None else _pseudo_projective(pseudo_projective, trained)


def _pseudo_projective(encoding: Encoding, learn: Train) -> Train:
    wrapper = WRAPPERS["pseudo-projective"]
    config: Any = wrapper.config
    return lambda treebank, setup: wrapper.train(treebank, config(encoding=encoding), setup, learn)


def _stacked(guide: str, learn: Train) -> Train:
    wrapper, named = WRAPPERS["stacked"], named_config(guide)
    config: Any = wrapper.config
    trained: Parser | None = None
    if named is not None:
        learn_guide = training_of(named.beside(()))
    elif not file_of(guide).exists():
        raise CrossarcError(f"stack: {guide} is neither a system, nor a preset, nor a model")
    else:
        trained = load(guide)
        learn_guide = _training_like(trained)
    return lambda treebank, setup: wrapper.train(
        treebank, config(guide=Path(guide).name), setup, learn, learn_guide, trained
    )


def _training_like(parser: Parser) -> Train:
    """How a parser was trained."""
    if parser.system not in WRAPPERS:
        return training_of(parser.config)
    inner: Any = parser
    if hasattr(inner.config, "encoding"):
        return _pseudo_projective(inner.config.encoding, _training_like(inner.parser))
    raise CrossarcError("a stacked parser cannot guide another one")


def _sentences(given: str | Path | Sentences, *, trees: bool = True) -> list[Sentence]:
    """The sentences themselves, or those of a file."""
    return list(read(given, trees=trees) if isinstance(given, str | Path) else checked_sentences(given))


def load(path: str | Path) -> Parser:
    """The parser in a model, of which path or name is given. Raises ``ModelError`` that says what is wrong with it."""
    with naming_package(path):
        return parser_from_model(read_model(path).components, path)


def parser_from_model(components: dict[str, Contents], path: str | Path) -> Parser:
    """The parser among the components of a model; errors name its file."""
    if "training" in components:
        raise ModelError(f"{path}: the state of an interrupted training; crossarc train --resume goes on with it")
    contents = components.get("parser", Contents({}, {}))
    return component_of(KNOWN[_system_in(contents.header, path)].parser, contents, path)


def _system_in(header: dict[str, Any], path: str | Path) -> str:
    """The name of the system of a parser with that header."""
    name = header.get("system")
    if not isinstance(name, str) or name not in KNOWN:
        problem = f"a model of a system that this version of Crossarc does not know: {str(name)[:100]}"
        raise ModelError(f"{path}: {problem if name else 'no parser'}")
    return name


def check_header(header: dict[str, Any], path: str | Path) -> None:
    """Refuse a parser's header that is not of the kinds of its system; ``ModelError`` names the file."""
    parser = KNOWN[_system_in(header, path)].parser
    try:
        Record(parser.header_kinds, parser.optional_fields).check([header], "its header")
        parser.tensor_kinds(header)  # checks the headers of inner parsers
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
