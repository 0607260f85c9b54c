"""crossarc evaluate"""

from __future__ import annotations

from collections.abc import Iterator

import click

from crossarc.cli.common import FILES, json_option, print_json, print_table, read_trees
from crossarc.core import Sentence
from crossarc.evaluation.empty_nodes import collapse_empty_nodes as without_empty_nodes
from crossarc.evaluation.enhancements import EnhancementScore
from crossarc.evaluation.evaluate import OFFICIAL, AttachmentScores, Evaluation, evaluate
from crossarc.evaluation.graphs import GraphScores, tree_as_graph
from crossarc.evaluation.score import Score

_SHOWN = 15  # rows of the longer tables; --json has all


@click.command("evaluate")
@click.argument("gold", type=FILES)
@click.argument("system", type=FILES)
@click.option(
    "--graph",
    is_flag=True,
    help="Only the scores of graphs (DEPS). The tree of a sentence is its graph if its DEPS is empty.",
)
@click.option(
    "--collapse-empty-nodes",
    is_flag=True,
    help="Take a path through empty nodes for an arc with all labels of the path (conj>nsubj), as the IWPT tasks "
    "did; by default, ELAS and EULAS leave such arcs out. With --graph.",
)
@click.option("--brief", is_flag=True, help="Print one line.")
@json_option
def command(gold: str, system: str, graph: bool, collapse_empty_nodes: bool, brief: bool, as_json: bool) -> None:
    """Score a parser's output (SYSTEM) against the gold trees (GOLD).

    The first table is that of the official scorer of the CoNLL 2018 shared task, to the last digit; words and
    sentences may be split differently in the two files as long as the characters are the same. LAS there counts
    labels up to the colon only (nsubj:pass is nsubj). UAS and the like are F1 scores; with the same words in both
    files that is the accuracy.

    A word is punctuation if it is tagged PUNCT, or if its tag does not tell (X, _, other tag sets) and it is made of
    punctuation characters. Non-projective arcs: precision is the share of the system's that are in the gold tree,
    recall the share of the gold tree's that the system found.
    """
    if brief and (graph or as_json):
        raise click.UsageError("--brief is one line of scores of trees: not with --graph or --json")
    if collapse_empty_nodes and not graph:
        raise click.UsageError("--collapse-empty-nodes is for graphs: only with --graph")
    if graph:
        scores = evaluate(*(_graphs(path, collapse_empty_nodes) for path in (gold, system))).graph
        if as_json:
            print_json(scores.as_dict())
        else:
            print_graph(scores)
        return
    result = evaluate(read_trees(gold), read_trees(system))
    if brief:
        click.echo(_brief(result))
    elif as_json:
        print_json(result.as_dict())
    else:
        print_evaluation(result)


def _graphs(path: str, collapse: bool) -> Iterator[Sentence]:
    """The graphs of a file, which are its trees where it has none."""
    graphs = map(tree_as_graph, read_trees(path))
    return map(without_empty_nodes, graphs) if collapse else graphs


def _brief(result: Evaluation) -> str:
    """The scores that papers have, in one line: of trees with full labels, and of what differs before them."""
    trees = {"UAS": result.all_words.uas, "LAS": result.all_words.las, "CLAS": result.all_words.clas}
    before = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas")
    shown = trees | {name: result.official[name] for name in before if result.official[name].f1 < 1}
    return "  ".join(f"{name} {100 * score.f1:.2f}" for name, score in shown.items())


def print_evaluation(result: Evaluation) -> None:
    rows = [[name, *_rates(result.official[name])] for name in OFFICIAL]
    print_table(rows, header=["Metric", "Precision", "Recall", "F1", "AligndAcc"])
    print_table(
        [
            ["all words", *attachment_row(result.all_words)],
            ["without punctuation", *attachment_row(result.without_punctuation)],
            ["non-projective sentences", *attachment_row(result.nonprojective_sentences)],
        ],
        title="Attachment (full labels; LAS-u: up to the colon; complete: all heads, all heads and labels right)",
        header=ATTACHMENT_HEADER,
    )
    precision, recall = result.nonprojective_precision, result.nonprojective_recall
    rates = [100 * precision.precision, 100 * recall.recall, 100 * result.nonprojective_f1]
    print_table(
        [["non-projective arcs", recall.gold, precision.system, *rates]],
        title="Crossing",
        header=["", "gold", "system", "P", "R", "F1"],
    )
    if result.graph.labelled.gold or result.graph.labelled.system:
        print_graph(result.graph)
    print_table(
        [[name, *_counts_and_rates(score)] for name, score in result.by_arc_length.items() if score.gold],
        title="By arc length (heads)",
        header=["Length", "gold", "system", "P", "R", "F1"],
    )
    print_table(
        [[name, *attachment_row(scores)] for name, scores in result.by_sentence_length.items() if scores.complete.gold],
        title="By sentence length",
        header=["Words", *ATTACHMENT_HEADER[1:]],
    )
    by_frequency = sorted(result.by_label.items(), key=lambda item: (-item[1].gold, item[0]))
    print_table(
        [[label, *_counts_and_rates(score)] for label, score in by_frequency[:_SHOWN]],
        title=_title("By label (heads and labels)", len(by_frequency)),
        header=["Label", "gold", "system", "P", "R", "F1"],
    )
    mistaken = [(pair, count) for pair, count in result.confusion.most_common() if pair[0] != pair[1]]
    if mistaken:
        print_table(
            [[gold, system, count] for (gold, system), count in mistaken[:_SHOWN]],
            title=_title("Labels taken for others, most often first", len(mistaken)),
            header=["Gold", "System", "words"],
        )


def print_graph(scores: GraphScores) -> None:
    header = ["", "gold", "system", "P", "R", "F1"]
    print_table(
        [[graph_score_name(name), *_counts_and_rates(score)] for name, score in scores.overall.items()],
        title="Graph (DEPS; extra: arcs that are not in the tree)",
        header=header,
    )
    there = {name: score for name, score in scores.by_enhancement.items() if score.gold or score.system}
    print_table(
        [[name, *_counts_and_rates(score)] for name, score in there.items()],
        title="By enhancement (arcs with labels)",
        header=header,
    )


def graph_score_name(field: str) -> str:
    """What tables call a score of graphs."""
    return field.upper() if field in ("elas", "eulas") else field.replace("_", " ")


ATTACHMENT_HEADER = ["", "sentences", "words", "UAS", "LAS", "LAS-u", "CLAS", "complete", "+labels"]


def attachment_row(scores: AttachmentScores) -> list[object]:
    rates = (scores.uas, scores.las, scores.las_universal, scores.clas, scores.complete, scores.complete_labelled)
    return [scores.complete.gold, scores.uas.gold, *(100 * score.f1 for score in rates)]


def _rates(score: Score) -> list[float]:
    return [100 * score.precision, 100 * score.recall, 100 * score.f1, 100 * score.aligned_accuracy]


def _counts_and_rates(score: Score | EnhancementScore) -> list[object]:
    return [score.gold, score.system, 100 * score.precision, 100 * score.recall, 100 * score.f1]


def _title(text: str, rows: int) -> str:
    return f"{text}: {_SHOWN} of {rows} (--json has all)" if rows > _SHOWN else text
