"""crossarc compare"""

from __future__ import annotations

import click

from crossarc.cli.common import FILES, json_option, print_json, print_table, read_trees
from crossarc.cli.evaluate import graph_score_name
from crossarc.evaluation.compare import compare
from crossarc.evaluation.evaluate import AttachmentScores, Evaluation, evaluate

_SHOWN = 10


@click.command("compare")
@click.argument("gold", type=FILES)
@click.argument("system1", type=FILES)
@click.argument("system2", type=FILES)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the randomised tests.")
@click.option(
    "--samples", type=click.IntRange(1), default=10_000, show_default=True, help="How many samples they draw."
)
@json_option
def command(gold: str, system1: str, system2: str, seed: int, samples: int, as_json: bool) -> None:
    """Two parsers (SYSTEM1, SYSTEM2) against the same gold trees (GOLD): is one really better?

    Shows both scores, their difference with a 95 % interval (paired bootstrap over sentences) and two p-values:
    approximate randomisation over sentences, and McNemar's exact test over words. Then the sentences where the two
    differ most.
    """
    if [gold, system1, system2].count("-") > 1:
        raise click.UsageError("standard input (-) can stand for one file only")
    golds = list(read_trees(gold)) if gold == "-" else None
    first, second = (
        evaluate(read_trees(gold) if golds is None else golds, read_trees(system)) for system in (system1, system2)
    )
    comparison = compare(first, second, seed=seed, samples=samples)
    if as_json:
        print_json(
            {
                "systems": [system1, system2],
                **comparison.as_dict(),
                "evaluations": [evaluation.as_dict() for evaluation in (first, second)],
            }
        )
        return
    click.echo(f"1: {system1}\n2: {system2}\n")
    print_table(
        [
            [
                difference.name,
                100 * difference.first,
                100 * difference.second,
                f"{100 * (difference.second - difference.first):+.2f}",
                f"[{100 * difference.interval.low:+.2f}, {100 * difference.interval.high:+.2f}]",
                f"{difference.randomisation:.4f}",
                f"{difference.mcnemar:.2g}",
                difference.only_first,
                difference.only_second,
            ]
            for difference in comparison.differences
        ],
        header=[
            "Share of gold words",
            "1",
            "2",
            "2 - 1",
            "95 % interval",
            "p (random.)",
            "p (McNemar)",
            "only 1",
            "only 2",
        ],
    )
    print_table(_side_by_side(first, second), title="All scores (F1)", header=["", "1", "2", "2 - 1"])
    if comparison.sentences:
        print_table(
            [list(sentence) for sentence in comparison.sentences[:_SHOWN]],
            title="Sentences that differ most (words with the right head and label)",
            header=["Sentence", "words", "1", "2"],
        )


def _side_by_side(first: Evaluation, second: Evaluation) -> list[list[object]]:
    named = [(name, first.official[name].f1, second.official[name].f1) for name in first.official]
    for title, field in (
        ("", "all_words"),
        (" without punctuation", "without_punctuation"),
        (" in non-projective sentences", "nonprojective_sentences"),
    ):
        a, b = getattr(first, field), getattr(second, field)
        named.extend(
            (f"{_NAMES[score]}{title}", getattr(a, score).f1, getattr(b, score).f1)
            for score in vars(AttachmentScores())
            if title or score not in _OFFICIAL
        )
    named.append(("non-projective arcs", first.nonprojective_f1, second.nonprojective_f1))
    named.extend(
        (f"graph, {graph_score_name(name)}", score.f1, second.graph.overall[name].f1)
        for name, score in first.graph.overall.items()
        if score.gold
    )
    return [[name, 100 * x, 100 * y, f"{100 * (y - x):+.2f}"] for name, x, y in named]


_OFFICIAL = ("uas", "las_universal", "clas")  # over all words: the official scores again
_NAMES = {
    "uas": "UAS",
    "las": "LAS (full labels)",
    "las_universal": "LAS (up to the colon)",
    "clas": "CLAS",
    "complete": "complete",
    "complete_labelled": "complete with labels",
}
