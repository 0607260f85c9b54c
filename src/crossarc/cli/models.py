"""crossarc models"""

from __future__ import annotations

import click

from crossarc.cli.common import json_option, print_json


@click.command("models")
@json_option
def command(as_json: bool) -> None:
    """The models that come with Crossarc: what they can do, their scores, licence and size."""
    from crossarc.models import available

    found = available()
    if as_json:
        print_json(found)
        return
    for name, about in found.items():
        click.secho(name, bold=True)
        rows = {
            "language": about.get("language", "unknown"),
            "components": ", ".join(f"parser ({about['system']})" if c == "parser" else c for c in about["components"]),
            "size": f"{about['bytes'] / 1e6:.1f} MB",
            "trained on": about.get("treebank", ""),
            **{
                f"test, {start}": "  ".join(f"{score} {value:.2f}" for score, value in scores.items())
                for start, scores in about.get("scores", {}).items()
            },
            "licence": about.get("licence", ""),
            "attribution": about.get("attribution", ""),
        }
        for title, value in rows.items():
            if value:
                click.echo(f"  {title:16} {value}")
