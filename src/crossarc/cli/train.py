"""crossarc train"""

from __future__ import annotations

import click

from crossarc.cli.common import FILES, read_trees
from crossarc.parsers import EpochReport, SpanningTreeConfig, train_spanning_tree

_DEFAULTS = SpanningTreeConfig()


@click.command("train")
@click.argument("treebank", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(dir_okay=False), help="Where to write the model.")
@click.option("--dev", type=FILES, help="Trees to choose the best epoch on.")
@click.option(
    "--order",
    type=click.Choice(["1", "high"]),
    default=_DEFAULTS.order,
    show_default=True,
    help="1: arcs only, exact search. high: arcs, adjacent siblings and grandparents, by climbing.",
)
@click.option(
    "--projective/--nonprojective",
    default=None,
    help="Whether arcs may cross; by default as in the treebank.",
)
@click.option("--epochs", type=click.IntRange(1), default=_DEFAULTS.epochs, show_default=True)
@click.option("--seed", type=int, default=_DEFAULTS.seed, show_default=True)
@click.option("--features", default=_DEFAULTS.features, show_default=True, help="A feature set of ours, or a file.")
@click.option("--hash-bits", type=click.IntRange(10, 28), default=_DEFAULTS.hash_bits, show_default=True)
def command(
    treebank: str,
    model: str,
    dev: str | None,
    order: str,
    projective: bool | None,
    epochs: int,
    seed: int,
    features: str,
    hash_bits: int,
) -> None:
    """Train a parser on the trees of TREEBANK.

    Interrupting (Ctrl-C) after an epoch keeps the best model so far.
    """
    config = SpanningTreeConfig(
        order=order,  # type: ignore[arg-type]
        projective=projective,
        epochs=epochs,
        seed=seed,
        features=features,
        hash_bits=hash_bits,
    )
    trees = list(read_trees(treebank))
    held_out = list(read_trees(dev)) if dev else []
    parser = train_spanning_tree(trees, config, dev=held_out, report=_report)
    parser.save(model)


def _report(epoch: EpochReport) -> None:
    scores = f"  dev UAS {100 * epoch.dev.uas:.2f} LAS {100 * epoch.dev.las:.2f}" if epoch.dev else ""
    click.echo(
        f"crossarc: {epoch.stage} {epoch.epoch}: {100 * epoch.wrong:.1f} % wrong, "
        f"{epoch.words_per_second:,.0f} words/s{scores}",
        err=True,
    )
