"""The tables of the papers: `python benchmarks/papers.py mst05|mp06|ms07|n07|msx09|rc06 [--treebanks DIR] [--jobs 2]`.

Needs Crossarc and a folder of treebanks (../shared/treebanks). Trains what the tables of a paper need, on whole
training sets with gold tags; dev.conllu chooses the epoch, test.conllu is parsed. Writes docs/papers/PAPER.md: the
tables in the paper's form, its figures beside ours, and its claims with ours. Figures are kept in
docs/papers/PAPER.json as soon as a run is done, so that it goes on where it stopped (`--again` measures anew).

`--seeds 3` trains with several seeds; tables then have means. `--sentences 100 --epochs 1` tries it out: the page is
then written to .benchmarks/papers. `--only TEXT` makes only the runs whose names contain the text.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import paper_mp06
import paper_ms07
import paper_mst05
import paper_msx09
import paper_n07
import paper_rc06
from environment import ENVIRONMENTS, PROJECT
from kept import kept_figures
from paper_pages import Done, page
from paper_runs import Sample

PAPERS = {
    "mst05": paper_mst05.PAPER,
    "mp06": paper_mp06.PAPER,
    "ms07": paper_ms07.PAPER,
    "n07": paper_n07.PAPER,
    "msx09": paper_msx09.PAPER,
    "rc06": paper_rc06.PAPER,
}


def main() -> None:
    options = arguments()
    paper = PAPERS[options.paper]
    whole = options.sentences is None and options.epochs is None
    folder = PROJECT / "docs" / "papers" if whole else ENVIRONMENTS / "papers"
    folder.mkdir(parents=True, exist_ok=True)
    sample = Sample(options.treebanks, options.sentences, options.seeds, options.epochs)
    work = {name: own for name, own in paper.work(sample).items() if options.only in name}
    done = kept_figures(folder / f"{options.paper}.json", work, again=options.again, jobs=options.jobs)
    note = "" if whole else f" on {options.sentences or 'all'} sentences of each part, {options.epochs or 'all'} epochs"
    text = page(options.paper, paper, Done(done), note)
    (folder / f"{options.paper}.md").write_text(text, encoding="utf-8")
    print(folder / f"{options.paper}.md")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("--treebanks", type=Path, default=PROJECT.parent / "shared" / "treebanks", metavar="DIR")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", metavar="TEXT", help="runs whose names contain this")
    parser.add_argument("--sentences", type=int, help="of each part of a treebank; all by default")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--again", action="store_true", help="also what has figures")
    return parser.parse_args()


if __name__ == "__main__":
    main()
