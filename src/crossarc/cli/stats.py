"""crossarc stats"""

from __future__ import annotations

from collections import Counter

import click

from crossarc.cli.common import (
    FILES,
    ErrorLog,
    files_in,
    json_option,
    on_error_option,
    print_json,
    print_table,
    read_sentences,
)
from crossarc.evaluation.statistics import TreebankStatistics, treebank_statistics


@click.command("stats")
@click.argument("files", nargs=-1, required=True, type=FILES)
@json_option
@on_error_option
def command(files: tuple[str, ...], as_json: bool, on_error: str) -> None:
    """What treebanks look like: the table of Nivre (2007), and how their arcs cross.

    A directory stands for all treebanks in it. A legend follows the tables.

    An arc is non-projective if some word between head and modifier does not descend from the head. The degree of a
    tree is that of Nivre (2007, Definition 3), its gap degree and well-nestedness those of Kuhlmann and Nivre (2006).
    """
    errors = ErrorLog(on_error)
    results: dict[str, TreebankStatistics] = {}
    for path in files_in(files):
        results[path] = treebank_statistics(read_sentences(path, trees=True, on_error=errors.on_error))
    errors.report()
    if as_json:
        print_json({path: statistics.as_dict() for path, statistics in results.items()})
        return
    _print_nivre_table(results)
    _print_shapes(results)
    click.echo(f"\n{_LEGEND}")


_LEGEND = """\
Tok  words                          Lem  whether there are lemmas
Sen  sentences                      CPoS, PoS  different UPOS and XPOS tags
T/S  words per sentence             MSF  different features (Case=Nom)
NPT  % non-projective arcs          Dep  different labels
NPS  % non-projective sentences
deg0, deg1 ...  degree of non-projectivity (Nivre 2007): 0 is projective
gap0, gap1 ...  gap degree: gaps in what descends from a word (Kuhlmann and Nivre 2006)
nested          well-nested: no two disjoint subtrees interleave
root1, root2+   one root, several roots
heads2+         % of words with several heads in DEPS"""


def _print_nivre_table(results: dict[str, TreebankStatistics]) -> None:
    rows = []
    for path, statistics in results.items():
        s = statistics.as_dict()
        rows.append(
            [
                path,
                s["words"],
                s["sentences"],
                f"{s['words_per_sentence']:.1f}",
                "yes" if s["has_lemmas"] else "no",
                s["upos_tags"],
                s["xpos_tags"],
                s["features"],
                s["labels"],
                s["nonprojective_arcs_percent"],
                s["nonprojective_sentences_percent"],
            ]
        )
    print_table(rows, header=["Treebank", *["Tok", "Sen", "T/S", "Lem", "CPoS", "PoS", "MSF", "Dep", "NPT", "NPS"]])


def _print_shapes(results: dict[str, TreebankStatistics]) -> None:
    rows = []
    for path, s in results.items():
        shares = [
            *_distribution(s.degrees, s.sentences, range(4)),
            *_distribution(s.gap_degrees, s.sentences, range(3)),
            100 * (1 - s.ill_nested / s.sentences) if s.sentences else 0.0,
            *_distribution(s.roots, s.sentences, range(1, 3)),
            100 * s.several_heads / s.words if s.words else 0.0,
        ]
        rows.append([path, *shares])
    print_table(
        rows,
        title="Shapes of trees, in % of sentences",
        header=[
            "Treebank",
            *["deg0", "deg1", "deg2", "deg3+", "gap0", "gap1", "gap2+", "nested", "root1", "root2+", "heads2+"],
        ],
    )


def _distribution(counts: Counter[int], total: int, values: range) -> list[float]:
    """Shares of each value in per cent; the last one takes what lies beyond."""
    shares = [counts[value] for value in values[:-1]]
    shares.append(sum(count for value, count in counts.items() if value >= values[-1]))
    return [100 * share / total if total else 0.0 for share in shares]
