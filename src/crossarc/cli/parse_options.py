"""The options that say how to parse: of ``crossarc parse``, and of ``crossarc corpus parse``."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from crossarc.cli.common import write_options
from crossarc.models import describe_model
from crossarc.parsers import Capability, ParseOptions
from crossarc.parsers.base import ConstraintSource
from crossarc.parsers.constraint_file import HeadConstraints, MiscConstraints, read_constraints
from crossarc.parsers.registry import KNOWN, SYSTEMS, check_header

__all__ = ["ParsingCommand", "parse_options", "parsing_options"]

Command = Callable[..., Any]

_MAX_LENGTH = 1000
_ARGUMENTS = "crossarc.arguments"


class ParsingCommand(click.Command):
    """Shows the options that not every model has only with a model that has them."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.meta[_ARGUMENTS] = list(args)
        return super().parse_args(context, args)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        model = _model_in(context.meta[_ARGUMENTS])
        special = [param for param in self.get_params(context) if isinstance(param, _CapabilityOption)]
        common = [param for param in self.get_params(context) if not isinstance(param, _CapabilityOption)]
        with formatter.section("Options"):
            write_options(formatter, context, common)
        if model is None:
            formatter.write_paragraph()
            formatter.write_text(f"{context.command_path} -m MODEL --help shows what else MODEL can do.")
            return
        header = describe_model(model)["components"].get("parser", {})
        check_header(header, model)
        system = KNOWN[header["system"]]
        own = [param for param in special if param.capability in system.parser.capabilities_in(header)]
        kind = f"model of --system {system.name}" if system.name in SYSTEMS else f"{system.name} model"
        if own:
            with formatter.section(f"Options of {model}, a {kind}"):
                write_options(formatter, context, own)


def _model_in(args: list[str]) -> str | None:
    """The model that the arguments name, before they are understood."""
    for i, argument in enumerate(args):
        if argument.startswith("--model="):
            return argument.partition("=")[2]
        if argument in ("-m", "--model") and i + 1 < len(args):
            return args[i + 1]
    return None


class _CapabilityOption(click.Option):
    """An option for models that can do something."""

    def __init__(self, *arguments: Any, capability: Capability, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.capability = capability


def _option(capability: Capability, *names: str, **about: Any) -> Callable[[Command], Command]:
    return click.option(*names, cls=_CapabilityOption, capability=capability, **about)


_OPTIONS: list[Callable[[Command], Command]] = [
    click.option(
        "--retag", is_flag=True, help="Replace given tags and lemmas; by default only missing ones are filled in."
    ),
    click.option(
        "--constraints",
        metavar="heads|misc|FILE",
        help="heads: keep the heads that the input has, and their labels, and fill in what is missing (_). Or take "
        "Head=3, NotHead=5, Rel=nsubj or NotRel=obj from the words' MISC, or from a file of lines "
        "SENT_ID<tab>WORD<tab>Head=3; trees honour them.",
    ),
    click.option(
        "--enhanced",
        is_flag=True,
        help="Write enhanced dependencies to DEPS; for models with an enhancer.",
    ),
    click.option(
        "--max-length",
        type=click.IntRange(1),
        default=_MAX_LENGTH,
        show_default=True,
        help="Longer sentences are written as they came, with a note. One of n words takes about 200 n² bytes.",
    ),
    _option(
        Capability.K_BEST,
        "-k",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Write the K best trees of each sentence, the most probable first, with their ranks, scores and "
        "probabilities in comments.",
    ),
    _option(
        Capability.PROBABILITIES,
        "--confidence",
        is_flag=True,
        help="Write the probabilities of each arc, and of arc and label, to MISC (ArcProb=0.9712|RelProb=0.9503); if "
        "the model knows them, log p of the tree, the entropy of all trees and the margin to the second best to "
        "comments.",
    ),
    _option(
        Capability.DISTRIBUTION,
        "--decode",
        type=click.Choice(["best", "min-risk", "marginal-threshold"]),
        default="best",
        show_default=True,
        help="min-risk: the tree with most arcs expected to be right. marginal-threshold: of that, only arcs with at "
        "least the probability --threshold; other words are left without a head.",
    ),
    _option(
        Capability.DISTRIBUTION,
        "--threshold",
        type=click.FloatRange(0, 1),
        default=ParseOptions.threshold,
        show_default=True,
        help="The least probability of an arc (--decode marginal-threshold).",
    ),
    _option(
        Capability.DISTRIBUTION,
        "--labelled",
        is_flag=True,
        help="Trees that differ in a label are different trees: the best, the K best and the min-risk trees, their "
        "probabilities and --threshold are then of labelled ones.",
    ),
    _option(
        Capability.MAX_DEGREE,
        "--max-degree",
        type=click.Choice(["0", "1", "2", "none"]),
        help="The largest degree of non-projectivity (Nivre 2007); small ones are faster.  [default: none]",
    ),
    _option(
        Capability.RULES,
        "--rules",
        type=click.Path(),
        help="Rules that trees must follow, one on each line, such as: at most 1 nsubj per head; or rules of ours, "
        "riedel-clarke-2006 for Dutch. Trees are then found by integer programs.",
    ),
    _option(
        Capability.RULES,
        "--exact/--relaxed",
        default=None,
        help="Of integer programs: the best tree there is, or the one nearest to the solution of the linear "
        "relaxation. Of --order 1: the best tree over all heads. Comments say which trees are the best.  "
        "[default: relaxed]",
    ),
    _option(
        Capability.RULES,
        "--time-limit",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Of integer programs: take the best tree found in this time for a sentence; a line says so.  [default: 5]",
    ),
]


def parsing_options(command: Command) -> Command:
    """Add the options to a command, which gives them to ``parse_options``."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def parse_options(
    *, constraints: str | None, rules: str | None, max_degree: str | None, **options: Any
) -> ParseOptions:
    """What the command line asks for; all but ``--retag``, which is not the parser's."""
    return ParseOptions(
        constraints=_constraint_source(constraints),
        rules=_rule_source(rules),
        max_degree=None if max_degree in (None, "none") else int(max_degree),
        **options,
    )


def _constraint_source(constraints: str | None) -> ConstraintSource | None:
    if constraints is None:
        return None
    own: dict[str, ConstraintSource] = {"misc": MiscConstraints(), "heads": HeadConstraints()}
    return own.get(constraints) or read_constraints(constraints)


def _rule_source(rules: str | None) -> Any:
    if rules is None:
        return None
    from crossarc.ilp.rule_file import read_rules  # brings the solver with it

    return read_rules(rules)
