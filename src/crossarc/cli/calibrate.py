"""crossarc calibrate"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from crossarc.cli.common import FILES, json_option, load_with, print_json, print_table, read_trees
from crossarc.cli.messages import log
from crossarc.drawing.reliability import reliability_diagram
from crossarc.evaluation.calibration import Bin, expected_calibration_error
from crossarc.io.streams import open_output
from crossarc.parsers import Capability
from crossarc.parsers.calibration import reliability_of


@click.command("calibrate")
@click.argument("gold", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(), help="A model made by crossarc train.")
@click.option("--fit", is_flag=True, help="First fit the model's probabilities to GOLD, and keep that in its file.")
@click.option("--svg", type=click.Path(dir_okay=False), help="Draw the reliability diagram to this file.")
@json_option
def command(gold: str, model: str, fit: bool, svg: str | None, as_json: bool) -> None:
    """Compare the probabilities of a parser's arcs and labels with how often they are right, on the trees of GOLD.

    The table groups the arcs (and the labelled arcs) of the parser's trees by their probability; the expected
    calibration error is the mean distance between that probability and the share of arcs that are right. GOLD should
    not be what the model was trained on.
    """
    pipeline = load_with(Capability.PROBABILITIES, model)
    trees = list(read_trees(gold))
    if fit:
        pipeline = replace(pipeline, parser=pipeline.parser.calibrated(trees))
        pipeline.save(model)
        log.info("fitted to %s itself: only other trees tell how honest the probabilities are", gold)
    tables = reliability_of(pipeline.parser, trees)
    errors = {name: expected_calibration_error(table) for name, table in tables.items()}
    if svg:
        curves = {f"{name} (ECE {errors[name]:.3f})": _points(table) for name, table in tables.items()}
        with open_output(svg) as stream:
            stream.write(reliability_diagram(curves, f"{Path(model).name} on {Path(gold).name}").encode())
    if as_json:
        print_json({name: {"ece": errors[name], "bins": [bin._asdict() for bin in tables[name]]} for name in tables})
        return
    for name, table in tables.items():
        print_table([_row(bin) for bin in table], header=["probability", name, "mean probability", "right"])
        click.echo(f"expected calibration error of {name}: {errors[name]:.4f}\n")


def _points(table: Sequence[Bin]) -> list[tuple[float, float, int]]:
    return [(bin.confidence, bin.accuracy, bin.predictions) for bin in table]


def _row(bin: Bin) -> list[object]:
    return [f"{bin.lowest:.1f} to {bin.highest:.1f}", bin.predictions, f"{bin.confidence:.3f}", f"{bin.accuracy:.3f}"]
