"""crossarc validate"""

from __future__ import annotations

from typing import Any

import click

from crossarc.cli.common import FILES, files_in, json_option, print_json, progress_bar
from crossarc.cli.messages import log
from crossarc.core import InputError
from crossarc.io.streams import size_of_input
from crossarc.io.validate import problems_by_sentence


@click.command("validate")
@click.argument("files", nargs=-1, required=True, type=FILES)
@click.option("--single-root", is_flag=True, help="Also report sentences with more than one root.")
@json_option
def command(files: tuple[str, ...], single_root: bool, as_json: bool) -> None:
    """List every structural problem of treebank files, with file, line and sentence.

    Checks columns, ids, multiword tokens, empty nodes, UTF-8 and line ends; that the heads of each sentence form a
    tree; that DEPS is in order and points to nodes that exist; that no sent_id occurs twice. A directory stands for all
    treebanks in it. Exit code 1 if anything is found.
    """
    found: list[InputError] = []
    paths = files_in(files)
    for path in paths:
        with progress_bar(path, size_of_input(path), "" if as_json else "-") as advance:
            for size, problems in problems_by_sentence(path, single_root=single_root):
                advance(size, bool(size))
                found.extend(problems)
                if not as_json:
                    for problem in problems:
                        click.echo(str(problem))
    if as_json:
        print_json([_as_dict(problem) for problem in found])
    else:
        count = f"{len(found)} problem{'' if len(found) == 1 else 's'}" if found else "no problems"
        log.info("%s in %d file%s", count, len(paths), "" if len(paths) == 1 else "s")
    click.get_current_context().exit(1 if found else 0)


def _as_dict(problem: InputError) -> dict[str, Any]:
    place = problem.place
    return {"file": place.path, "line": place.line, "sent_id": place.sent_id, "problem": problem.message}
