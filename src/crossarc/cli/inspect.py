"""crossarc inspect"""

from __future__ import annotations

import re
from typing import Any

import click

from crossarc.cli.common import FILES, input_option, json_option, load_with, print_json, print_table, read_for
from crossarc.core import CrossarcError, Sentence
from crossarc.models import describe_model
from crossarc.parsers import Capability
from crossarc.parsers.config import Config, Setting, settings
from crossarc.parsers.registry import KNOWN, check_header
from crossarc.pipeline import Pipeline
from crossarc.pipeline.chunks import Input

_TOP = 5  # templates that are shown on each side
_ARC = re.compile(r"([0-9]{1,9}),([0-9]{1,9})")


@click.command("inspect")
@click.argument("model", type=click.Path())
@click.option(
    "--explain",
    "file",
    type=FILES,
    metavar="FILE",
    help="Parse a sentence of FILE, a treebank or raw text, and say for each arc which templates spoke for and against "
    "it.",
)
@click.option("--sentence", metavar="SENT_ID", help="Which sentence of FILE; the first by default.")
@click.option("--arc", metavar="HEAD,WORD", help="Explain this arc only, whether the tree has it or not.")
@click.option("--top", type=click.IntRange(1), help="Templates on each side.  [default: 5]")
@input_option
@json_option
def command(
    model: str,
    file: str | None,
    sentence: str | None,
    arc: str | None,
    top: int | None,
    read_as: Input | None,
    as_json: bool,
) -> None:
    """What is in MODEL: its system, options, size, scores; with --explain, why it chose the arcs of a tree."""
    if file is not None:
        pipeline = load_with(Capability.EXPLANATIONS, model)
        _explain(pipeline, _find(pipeline, file, sentence, read_as), arc, top or _TOP, as_json)
        return
    of_explanations = {"--sentence": sentence, "--arc": arc, "--top": top, "--input": read_as}
    if given := [name for name, value in of_explanations.items() if value is not None]:
        raise click.UsageError(f"{given[0]} has no effect here: only with --explain")
    found = describe_model(model)
    if as_json:
        print_json(found)
        return
    header = found["components"].get("parser")
    if header is None:
        raise CrossarcError(f"{model}: the state of an interrupted training; crossarc train --resume goes on with it")
    check_header(header, model)
    rows: dict[str, object] = {
        "system": header["system"],
        "components": ", ".join(found["components"]),
        "size": f"{found['bytes'] / 1e6:.1f} MB",
        "made": f"{found['created']}, by Crossarc {found['version']}",
        "treebank": f"{found['about'].get('treebank', 'unknown')} (checksum {header['treebank']})",
    }
    if header["dev"]:
        rows["dev scores"] = f"UAS {100 * header['dev']['uas']:.2f}  LAS {100 * header['dev']['las']:.2f}"
    rows |= _settings(header)
    for name, inner in _inner_headers(header).items():
        rows |= {name: inner["system"], **{f"{name}'s {own}": v for own, v in _settings(inner).items()}}
    if "coverage" in header:
        rows["arcs lifted"] = "{lifted:,} of {arcs:,}, of which labels lead back to {restored:,}".format(
            **header["coverage"]
        )
    rows["label set"] = f"{len(header['labels'])}: {' '.join(header['labels'])}"
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:{width}}  {value}")


def _inner_headers(header: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Those of the parsers inside of this one, by what they are to it."""
    members = {f"member {i}": own for i, own in enumerate(header.get("members", ()), 1)}
    return {name: header[name] for name in ("parser", "guide") if name in header} | members


def _settings(header: dict[str, Any]) -> dict[str, str]:
    """The configuration, without what had no effect with these options."""
    kind: Any = KNOWN[header["system"]].config
    config: Config = kind(**header["config"])
    idle = config.without_effect()
    return {
        setting.name.replace("_", " "): _text(setting, getattr(config, setting.name))
        for setting in settings(kind)
        if setting.name not in idle
    }


def _text(setting: Setting, value: Any) -> str:
    if value is None:
        return setting.default_text or "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _find(pipeline: Pipeline, file: str, sent_id: str | None, read_as: Input | None) -> Sentence:
    for sentence in read_for(pipeline, file, read_as):
        if sent_id is None or sentence.sent_id == sent_id:
            return sentence
    raise CrossarcError(f"{file}: no sentence {sent_id}")


def _explain(pipeline: Pipeline, sentence: Sentence, arc: str | None, top: int, as_json: bool) -> None:
    parser = pipeline.parser
    (sentence,) = pipeline.annotate([sentence])
    parsed = parser.parse_sentence(sentence)
    arcs = [_arc(arc, len(parsed))] if arc else [(int(h), m) for m, h in enumerate(parsed.heads) if m]
    found: list[dict[str, Any]] = []
    for head, word in arcs:
        reasons = parser.explain(parsed, head, word)
        total = sum(reason.weight for reason in reasons)
        found.append({"head": head, "word": word, "score": total, "reasons": [r._asdict() for r in reasons]})
        if not as_json:
            name = "root" if head == 0 else f"{head} {parsed[head].form}"
            shown = [r for r in reasons[:top] if r.weight > 0] + [r for r in reasons[-top:] if r.weight < 0]
            print_table(
                [(f"[{r.part}] {r.template}", f"{r.weight:+.3f}") for r in shown],
                header=("template", "weight"),
                title=f"{name} -> {word} {parsed[word].form}: {total:+.3f}",
            )
    if as_json:
        print_json(found)


def _arc(text: str, n: int) -> tuple[int, int]:
    match = _ARC.fullmatch(text)
    head, word = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (head <= n and 1 <= word <= n and head != word):
        raise click.BadParameter(f"{text!r} is not an arc HEAD,WORD of a sentence of {n} words", param_hint="--arc")
    return head, word
