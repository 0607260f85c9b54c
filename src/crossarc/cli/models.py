"""crossarc models"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crossarc.cli.common import FILES, json_option, print_json, read_trees
from crossarc.cli.hints import HintingGroup
from crossarc.cli.messages import log, verbosity_options
from crossarc.core import CrossarcError


@click.group("models", cls=HintingGroup, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """The models that can be used by name: what they can do, their scores, licence, size and package.

    Some come with Crossarc, others with packages that are installed beside it; crossarc models package makes such a
    package of a model of your own.
    """
    if context.invoked_subcommand is None:
        _list(as_json)


def _list(as_json: bool) -> None:
    from crossarc.models import available

    found = available()
    if as_json:
        print_json(found)
        return
    for name, about in found.items():
        click.secho(name, bold=True)
        for title, value in _rows(about).items():
            if value:
                click.echo(f"  {title:16} {value}")


def _rows(about: dict[str, Any]) -> dict[str, str]:
    """What is shown of a model."""
    speed = about.get("words_per_second")
    return {
        "language": about.get("language", "unknown"),
        "components": ", ".join(f"parser ({about['system']})" if c == "parser" else c for c in about["components"]),
        "package": about["package"],
        "size": f"{about['bytes'] / 1e6:.1f} MB",
        "speed": f"about {speed:,.0f} words a second on one core, where it was made" if speed else "",
        "trained on": about.get("treebank", ""),
        **{
            f"test, {start}": "  ".join(f"{score} {value:.2f}" for score, value in scores.items())
            for start, scores in about.get("scores", {}).items()
        },
        "licence": about.get("licence", ""),
        "attribution": about.get("attribution", ""),
    }


@command.command("package", short_help="Make an installable package of a model.")
@click.argument("model", type=click.Path())
@click.option("--name", required=True, help="By which the model is to be loaded: da, en-legal ...")
@click.option(
    "--licence",
    help="Of the model: an identifier of SPDX, such as CC-BY-SA-4.0 or MIT.  [default: what the model says]",
)
@click.option("--attribution", help="Whose data it was learnt from, with a link.  [default: what the model says]")
@click.option("--language", help="The English name of its language.  [default: what the model says]")
@click.option("--version", default="1.0", show_default=True, help="Of the package.")
@click.option(
    "--test",
    type=FILES,
    metavar="FILE",
    help="A treebank that the model has not learnt from: its scores there, and words a second, become part of it.",
)
@click.option("-o", "--output", type=click.Path(), metavar="DIR", help="Where it goes.  [default: crossarc-NAME]")
def package(model: str, name: str, version: str, test: str | None, output: str | None, **said: str | None) -> None:
    """Make an installable package of MODEL, so that whoever installs it has the model by its name.

    It has a model card (README.md) with scores, data, licence, size and known limits. What you say here goes into the
    header of the model, too. pip install ./crossarc-NAME installs what is written.
    """
    from crossarc.models import describe_model
    from crossarc.pipeline.packaging import ModelPackage, write_package

    known = describe_model(model)["about"]
    about = {key: str(text or known.get(key, "")) for key, text in said.items()}
    if not about["licence"]:
        raise click.UsageError("the model has no licence: give one with --licence")
    own = ModelPackage(name, version=version, **about)
    folder = Path(output or own.distribution)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise CrossarcError(f"{folder}: it is there already: -o writes the package somewhere else")
    write_package(model, folder, own, about=_measured(model, test) if test else {})
    log.info("%s: pip install %s makes the model available as %s", folder, folder.resolve(), name)


def _measured(model: str, test: str) -> dict[str, Any]:
    """Scores and speed on a treebank."""
    from crossarc.pipeline import load, scores_of, words_per_second

    pipeline, gold = load(model), list(read_trees(test))
    speed = words_per_second(pipeline, gold)  # before the scores: they make its words known
    return {"scores": scores_of(pipeline, gold), "words_per_second": float(f"{speed:.2g}")}


package.params += verbosity_options()
