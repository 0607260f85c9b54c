"""The service without processes: what it answers to requests, good and bad."""

from __future__ import annotations

import email.mime.multipart
import email.mime.nonmultipart
import email.policy
import json
import logging
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from crossarc.core import Sentence
from crossarc.io.blocks import Block
from crossarc.io.conllu import format_sentence, parse_block
from crossarc.server.app import make_app
from crossarc.server.handler import Handler
from crossarc.server.jobs import Limits, Parse, RequestError
from crossarc.server.registry import Registry
from crossarc.server.worker import answer
from crossarc.trees import is_tree
from trained import TEST, trained

# kernels of parsers, of several kinds
pytestmark = pytest.mark.slow

LIMITS = Limits(size=200_000, length=40, seconds=20.0, k=8)


class Here:
    """A pool that does its work here and now."""

    def __init__(self, handlers):
        self.handlers = handlers

    async def do(self, job):
        done = answer(self.handlers[job.model], job)
        if isinstance(done, RequestError):
            raise done
        return done


@pytest.fixture(scope="module")
def handler(model_file):
    return Handler(str(model_file), LIMITS.length)


@pytest.fixture(scope="module")
def client(handler):
    registry = Registry({"random-order-1": handler.description, "other": handler.description})
    app = make_app(Here({"random-order-1": handler, "other": handler}), registry, LIMITS)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


def without_trees(sentences):
    blank = [sentence.with_columns(head=["_"] * len(sentence), deprel=["_"] * len(sentence)) for sentence in sentences]
    return "".join(map(format_sentence, blank))


def read(text):
    return [parse_block(Block(block.encode(), "", 1)) for block in text.removesuffix("\n\n").split("\n\n")]


SENTENCES = [sentence for sentence in TEST if 4 <= len(sentence) <= 12][:6]
TEXT = without_trees(SENTENCES)
ONE = without_trees(SENTENCES[:1])


# ---- our own interface ----------------------------------------------------------------------------------------------


def parse(client, status=200, **request):
    reply = client.post("/api/parse", json={"format": "conllu", **request})
    assert reply.status_code == status, reply.text
    return reply.json()


def heads(sentence):
    return [[arc["head"] for arc in tree["arcs"]] for tree in sentence["trees"]]


def test_trees_are_those_of_the_parser(client, handler):
    reply = parse(client, text=TEXT)
    assert reply["model"] == "random-order-1"
    expected = list(handler.parser.trees(read(TEXT)))
    assert [tree["conllu"] for sentence in reply["sentences"] for tree in sentence["trees"]] == list(
        map(format_sentence, expected)
    )
    for sentence, tree in zip(reply["sentences"], expected, strict=True):
        assert heads(sentence) == [list(map(int, tree.head))]
        assert [word["form"] for word in sentence["words"]] == list(tree.form)
        assert sentence["entropy"] >= 0
        for arc, likely in zip(sentence["trees"][0]["arcs"], sentence["heads"], strict=True):
            assert 0 < arc["probability"] <= 1
            assert dict(likely).get(arc["head"], 0) == pytest.approx(arc["probability"]) or arc["probability"] < 0.25
            assert sum(share for _, share in likely) <= 1.000001


def test_arcs_that_come_with_a_sentence_are_judged(client, handler):
    """As crossarc suspicious does it; whether heads make trees does not matter, but each word must have one."""
    cycle = SENTENCES[1].with_columns(head=["2", "1", *SENTENCES[1].head[2:]])
    given = [SENTENCES[0], cycle, read(ONE)[0]]
    reply = parse(client, text="".join(map(format_sentence, given)), judge=True)["sentences"]
    assert reply[2]["given"] is None
    for sentence, judged in zip(reply, handler.parser.judge(given[:2]), strict=False):
        for arc, head, label in zip(sentence["given"], judged.heads[1:], judged.labels[1:], strict=True):
            assert arc["probability"] == pytest.approx(head, rel=1e-4)
            assert arc["labelled"] == pytest.approx(head * label, rel=1e-4)
    assert parse(client, text=format_sentence(SENTENCES[0]))["sentences"][0]["given"] is None


def test_arcs_have_the_probability_of_arc_and_label(client):
    for sentence in parse(client, text=TEXT)["sentences"]:
        for arc in sentence["trees"][0]["arcs"]:
            assert arc["labelled"] == pytest.approx(arc["probability"] * dict(arc["labels"])[arc["label"]], rel=1e-4)


def test_k_best_are_distinct_and_sorted(client):
    for sentence in parse(client, text=TEXT, k=6)["sentences"]:
        assert 1 < len(sentence["trees"]) <= 6
        assert len({tuple(tree) for tree in heads(sentence)}) == len(sentence["trees"])
        scores = [tree["score"] for tree in sentence["trees"]]
        assert scores == sorted(scores, reverse=True)
        assert 0 < sum(tree["probability"] for tree in sentence["trees"]) <= 1.000001
        assert all(is_tree([-1, *tree]) for tree in heads(sentence))


def test_what_is_required_is_there_and_what_is_forbidden_is_not(client, handler):
    first = parse(client, text=TEXT)["sentences"]
    constraints = []
    for number, sentence in enumerate(first, 1):
        best = heads(sentence)[0]
        constraints.append({"sentence": number, "word": 1, "not_heads": [best[0]]})
        constraints.append({"sentence": number, "word": 3, "head": 2, "label": handler.parser.labels[0]})
    for k in (1, 3):
        for before, sentence in zip(
            first, parse(client, text=TEXT, k=k, constraints=constraints)["sentences"], strict=True
        ):
            for tree in sentence["trees"]:
                assert tree["arcs"][2]["head"] == 2
                assert tree["arcs"][2]["label"] == handler.parser.labels[0]
                assert tree["arcs"][2]["probability"] == pytest.approx(1.0)
                assert tree["arcs"][0]["head"] != heads(before)[0][0]


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({"word": 99, "head": 1}, "a constraint on word 99"),
        ({"word": 1, "head": 99}, "99 cannot be the head"),
        ({"word": 1, "head": 1}, "1 cannot be the head"),
        ({"word": 1, "label": "nonsense"}, "no label 'nonsense'"),
        ({"word": 1, "label": ""}, "no label ''"),
        ({"word": 1, "not_labels": [""]}, "no label ''"),
        ({"sentence": 7, "word": 1, "head": 2}, "sentence 7 of 1"),
    ],
)
def test_constraints_that_make_no_sense(client, constraint, message):
    assert message in parse(client, 400, text=ONE, constraints=[constraint])["error"]


def test_constraints_without_a_tree(client):
    cycle = [{"word": 1, "head": 2}, {"word": 2, "head": 1}]
    assert "cycle" in parse(client, 400, text=ONE, constraints=cycle)["error"]


def test_broken_conllu_is_an_error_with_its_line(client):
    broken = TEXT + TEXT.replace("\t_\n", "\n", 1)
    reply = parse(client, 400, text=broken)
    assert reply["line"] == TEXT.count("\n") + 1 + len(SENTENCES[0].comments)
    assert "9 columns" in reply["error"]


def test_line_ends_marks_and_blank_lines_do_not_matter(client):
    expected = parse(client, text=TEXT)
    for text in (
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        TEXT.rstrip("\n"),
        "\n\n" + TEXT.replace("\n\n", "\n\n\n"),
    ):
        assert parse(client, text=text) == expected


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n"])
def test_no_sentences_of_no_text(client, text):
    assert parse(client, text=text)["sentences"] == []


def test_any_script(client):
    forms = ["Давно", "木曜日🎉", "א\u2028ב"]
    text = format_sentence(Sentence.of(forms, upos=["X"] * 3))
    (sentence,) = parse(client, text=text)["sentences"]
    assert [word["form"] for word in sentence["words"]] == forms
    half = json.dumps({"format": "conllu", "text": text}).replace("\\ud83c", "", 1)  # of a surrogate pair
    reply = client.post("/api/parse", content=half, headers={"Content-Type": "application/json"})
    assert reply.json()["sentences"][0]["words"][1]["form"] == "木曜日?"


def test_multiword_tokens(client):
    text = (
        "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\tde\t_\tX\t_\t_\t_\t_\t_\t_\n2\tel\t_\tX\t_\t_\t_\t_\t_\t_\n"
        "2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tmar\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
    )
    (sentence,) = parse(client, text=text)["sentences"]
    assert sentence["tokens"] == [{"first": 1, "last": 2, "form": "del"}]
    assert sentence["text"] == "delmar"
    assert "1-2\tdel" in sentence["trees"][0]["conllu"]


def conllu_of_length(n):
    return "".join(f"{i}\tx\t_\tX\t_\t_\t_\t_\t_\t_\n" for i in range(1, n + 1)) + "\n"


def test_limits(client):
    assert len(parse(client, text=conllu_of_length(40))["sentences"][0]["words"]) == 40
    reply = parse(client, 400, text=ONE + conllu_of_length(41))
    assert "41 words; a sentence may have at most 40" in reply["error"]
    assert reply["line"] == ONE.count("\n") + 1
    assert "at most 40" in parse(client, 400, text=conllu_of_length(4_000))["error"]
    nodes = "".join(f"0.{i}\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" for i in range(1, 100))
    assert "at most 40" in parse(client, 400, text=nodes + conllu_of_length(1))["error"]
    assert "at most 8" in parse(client, 400, text=ONE, k=9)["error"]
    assert "200,000 bytes" in parse(client, 413, text="x" * 200_001)["error"]

    def pieces():  # a request that does not say how long it is
        for _ in range(300):
            yield b" " * 1000

    reply = client.post("/api/parse", content=pieces(), headers={"Content-Type": "application/json"})
    assert reply.status_code == 413


def test_too_much_work_is_refused(model_file):
    """Words, the number of trees and the length of sentences count together."""
    handler = Handler(str(model_file), 1000, max_words=3000)
    for length, k, number in [(30, 1, 100), (30, 8, 12), (400, 3, 1)]:
        handler._check_work([Sentence.of(["x"] * length)] * number, k)
        with pytest.raises(RequestError, match="at most 3,000 are allowed") as refused:
            handler._check_work([Sentence.of(["x"] * length)] * (number + 1), k)
        assert refused.value.status == 413


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({}, "text"),
        ({"text": 5}, "text"),
        ({"text": "", "k": 0}, "k"),
        ({"text": "", "file": "x"}, "there is no field 'file'"),
    ],
)
def test_requests_of_another_form(client, request_, error):
    reply = client.post("/api/parse", json=request_)
    assert reply.status_code == 422
    assert reply.json()["error"].startswith(error)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000, b""])
def test_no_json_at_all(client, body):
    reply = client.post("/api/parse", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422)
    assert reply.json()["error"]


def test_text_needs_a_tokenizer(client):
    assert "no tokenizer" in parse(client, 400, text="Some text.", format="text")["error"]


def test_names_of_models(client):
    assert parse(client, text=ONE, model="other")["model"] == "other"
    assert parse(client, text=ONE, model="random")["model"] == "random-order-1"
    for name in ("nonsense", "../random-order-1", "/etc/passwd"):
        assert "no model" in parse(client, 404, text=ONE, model=name)["error"]


def test_models(client, handler):
    reply = client.get("/api/models").json()
    assert reply["default"] == "random-order-1"
    assert reply["models"][0] == {
        "name": "random-order-1",
        "steps": ["parser"],
        "labels": list(handler.parser.labels),
        "probabilities": True,
        "k_best": True,
        "acknowledgement": "",
        "language": "",
    }
    assert reply["folder"] is False
    assert reply["limits"] == {"size": 200_000, "length": 40, "seconds": 20.0, "k": 8}


def test_it_describes_itself(client):
    description = client.get("/api/openapi.json").json()
    assert set(description["paths"]) >= {
        "/api/models",
        "/api/parse",
        "/api/learn",
        "/api/folder",
        "/api/folder/file",
        "/api/folder/version",
        "/models",
        "/process",
        "/predict",
    }
    reply = parse(client, text=ONE, k=2)
    schema = description["components"]["schemas"]
    assert set(reply) == set(schema["ParseReply"]["properties"])
    assert set(reply["sentences"][0]) == set(schema["ParsedSentence"]["properties"])
    assert set(reply["sentences"][0]["trees"][0]) == set(schema["Tree"]["properties"])
    assert set(reply["sentences"][0]["trees"][0]["arcs"][0]) == set(schema["Arc"]["properties"])


def test_models_without_probabilities(model_file):
    handler = Handler(str(model_file), 40)
    handler.pipeline = replace(handler.pipeline, parser=replace(handler.parser, calibration=None))
    (sentence,) = handler.parse(Parse("m", ONE, "conllu", 2))
    assert sentence["entropy"] is sentence["heads"] is sentence["trees"][0]["probability"] is None
    assert len(sentence["trees"]) == 2
    assert not handler.description.probabilities


def test_models_of_other_systems_have_one_tree(tmp_path):
    trained("covington").save(tmp_path / "covington.crossarc")
    handler = Handler(str(tmp_path / "covington.crossarc"), 40)
    handler.warm_up()
    assert not handler.description.k_best
    (sentence,) = handler.parse(Parse("m", ONE, "conllu"))
    assert sentence["entropy"] is sentence["trees"][0]["probability"] is None
    assert sentence["trees"][0]["conllu"] == parsed(handler, ONE)
    with pytest.raises(RequestError, match="k must be 1"):
        handler.parse(Parse("m", ONE, "conllu", 2))


def test_a_failure_is_no_secret_of_the_server_for_clients(client, handler, monkeypatch, caplog):
    def fail(job):
        raise RuntimeError("secret/path")

    monkeypatch.setattr(handler, "parse", fail)
    with caplog.at_level(logging.ERROR):
        reply = client.post("/api/parse", json={"text": ONE, "format": "conllu"})
    assert reply.status_code == 500
    assert "secret" not in reply.text
    assert "Traceback" not in reply.text
    assert "secret/path" in caplog.text


# ---- the interface of UDPipe ----------------------------------------------------------------------------------------


def parsed(handler, text=TEXT):
    return "".join(map(format_sentence, handler.parser.trees(read(text))))


def multipart(fields):
    """A form as clients in plain Python make it, with CR LF at the end of all lines."""
    message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
    for name, value in fields.items():
        part = email.mime.nonmultipart.MIMENonMultipart("text", "plain")
        part.add_header("Content-Disposition", f'form-data; name="{name}"')
        part.add_header("Content-Transfer-Encoding", "8bit")
        part.set_payload(value, charset="utf-8")
        message.attach(part)
    body = message.as_bytes().split(b"\r\n\r\n", 1)[1]
    return {"content": body, "headers": {"Content-Type": message["Content-Type"]}}


WAYS = {
    "in the URL": lambda client, fields: client.get("/process", params=fields),
    "in the URL of a POST": lambda client, fields: client.post("/process", params=fields),
    "urlencoded": lambda client, fields: client.post("/process", data=fields),
    "multipart": lambda client, fields: client.post("/process", files={k: (None, v) for k, v in fields.items()}),
    "multipart with CR LF": lambda client, fields: client.post("/process", **multipart(fields)),
    "as a file": lambda client, fields: client.post(
        "/process",
        data={name: value for name, value in fields.items() if name != "data"},
        files={"data": ("x.conllu", fields["data"].encode(), "text/plain")},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_process(client, handler, way):
    reply = WAYS[way](client, {"data": TEXT, "parser": "", "model": "random-order-1"})
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/json"
    assert reply.json() == {"model": "random-order-1", "acknowledgements": [], "result": parsed(handler)}


def test_the_presence_of_a_step_switches_it_on(client, handler):
    assert client.post("/process", data={"data": TEXT}).json()["result"] == TEXT
    assert client.post("/process", data={"data": TEXT, "parser": "none"}).json()["result"] == TEXT
    assert client.get("/process", params={"data": TEXT, "parser": ""}).json()["result"] == parsed(handler)
    for step in ("tokenizer", "tagger"):
        reply = client.post("/process", data={"data": TEXT, step: ""})
        assert reply.status_code == 400
        assert reply.text == f"The required model does not contain a {step}!\n"


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({"input": "horizontal", "data": "a  b\u00a0c d\n\n e\n"}, "a b\u00a0c d\ne\n"),
        ({"input": "vertical", "data": "a\tX\nb\u00a0c\nd\n\n\ne"}, "a b\u00a0c d\ne\n"),
    ],
)
def test_formats(client, fields, result):
    def output(name):
        return client.post("/process", data={**fields, "output": name}).json()["result"]

    assert output("horizontal") == result
    assert output("vertical") == "a\nb c\nd\n\ne\n\n"
    assert output("plaintext") == "a b c d\ne\n"
    assert output("conllu").startswith("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb c\t_")


@pytest.mark.parametrize("data", ["", "\n"])
def test_process_no_data(client, data):
    assert client.get("/process", params={"data": data, "parser": ""}).json()["result"] == ""


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({}, 400, "Required argument 'data' is missing."),
        ({"data": TEXT, "model": "nonsense"}, 400, "Requested model 'nonsense' does not exist."),
        ({"data": TEXT, "model": "../../etc/passwd"}, 400, "Requested model '../../etc/passwd' does not exist."),
        ({"data": TEXT, "input": "xml"}, 400, "Unknown input format 'xml'."),
        ({"data": TEXT, "output": "xml"}, 400, "Unknown output format 'xml'."),
        ({"data": "1\tx\n\n"}, 400, "Cannot read input data: line 1: 2 columns instead of 10"),
        ({"data": "a " * 41, "input": "horizontal"}, 400, "sentence 1: 41 words; a sentence may have at most 40"),
        ({"data": "x" * 200_001}, 413, "a request may have at most 200,000 bytes"),
    ],
)
def test_process_errors_are_text(client, fields, status, message):
    reply = client.post("/process", data=fields)
    assert (reply.status_code, reply.text) == (status, f"{message}\n")
    assert reply.headers["content-type"].startswith("text/plain")


def test_bodies_that_are_no_forms(client):
    reply = client.post("/process", json={"data": TEXT})
    assert (reply.status_code, reply.text) == (400, "Unsupported payload Content-Type 'application/json'.\n")
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/process", content=b"no form", headers=form).status_code == 400
    many = {f"field{i}": "" for i in range(1000)}
    assert client.post("/process", data=many).status_code == 400
    bad = client.post("/process", files={"data": ("x", b"\xff\xfe")})
    assert (bad.status_code, bad.text) == (400, "The parameter 'data' is not in UTF-8.\n")


def test_udpipe_models(client):
    for reply in (client.get("/models"), client.post("/models")):
        assert reply.json() == {
            "models": {"random-order-1": ["parser"], "other": ["parser"]},
            "default_model": "random-order-1",
        }


# ---- raw text -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reader(text_model_file):
    """An handler for raw text."""
    return Handler(str(text_model_file), LIMITS.length)


@pytest.fixture(scope="module")
def text_client(reader):
    registry = Registry({"random-text": reader.description})
    app = make_app(Here({"random-text": reader}), registry, LIMITS)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


RAW = " ".join(" ".join(sentence.form[:-1]) + sentence.form[-1] for sentence in SENTENCES)


def test_text_in_trees_out(text_client, reader):
    expected = list(map(format_sentence, reader.pipeline(RAW)))
    assert [
        sentence["trees"][0]["conllu"] for sentence in parse(text_client, text=RAW, format="text")["sentences"]
    ] == expected
    for data in (RAW, "\ufeff" + RAW):
        reply = text_client.post("/process", data={"data": data, "tokenizer": "", "tagger": "", "parser": ""})
        assert reply.json() == {
            "model": "random-text",
            "acknowledgements": ["The makers of random trees, CC0"],
            "result": "".join(expected),
        }
    assert text_client.get("/models").json()["models"] == {"random-text": ["tokenizer", "tagger", "parser"]}


def test_no_sentences_of_blank_text(text_client):
    assert parse(text_client, text=" \n\n ", format="text")["sentences"] == []


def process(client, **fields):
    reply = client.post("/process", data=fields)
    assert reply.status_code == 200, reply.text
    return read(reply.json()["result"])


def test_each_step_does_only_its_own(text_client):
    segmented = process(text_client, data=RAW, tokenizer="")
    assert {value for sentence in segmented for value in sentence.upos + sentence.head} == {"_"}
    assert segmented == process(text_client, data=RAW, input="generic_tokenizer")
    tagged = process(text_client, data=RAW, tokenizer="", tagger="")
    assert "_" not in tagged[0].upos
    assert set(tagged[0].head) == {"_"}
    parsed_alone = process(text_client, data=RAW, tokenizer="", parser="")
    assert set(parsed_alone[0].upos) == {"_"}
    assert parsed_alone[0].head == process(text_client, data=RAW, tokenizer="", tagger="", parser="")[0].head


def test_given_tags_stay_unless_a_tagger_is_asked_for(text_client):
    given = format_sentence(SENTENCES[0].with_columns(upos=["X"] * len(SENTENCES[0])))
    assert set(process(text_client, data=given, parser="")[0].upos) == {"X"}
    assert set(process(text_client, data=given, tagger="")[0].upos) != {"X"}
    (sentence,) = parse(text_client, text=given)["sentences"]
    assert {word["upos"] for word in sentence["words"]} == {"X"}


def test_presegmented_text_has_a_sentence_on_each_line(text_client):
    two = f"{' '.join(SENTENCES[0].form)} {' '.join(SENTENCES[1].form)}"
    found = process(text_client, data=f"{two}\n\n{' '.join(SENTENCES[2].form)}\n", tokenizer="presegmented", parser="")
    assert [sentence.form for sentence in found] == [SENTENCES[0].form + SENTENCES[1].form, SENTENCES[2].form]
    assert all(is_tree(sentence.heads) for sentence in found)
    assert found[0].metadata("text") == two


def test_sentences_of_text_may_be_too_long(text_client):
    error = parse(text_client, 400, text="word " * 500, format="text")["error"]
    assert "a sentence may have at most 40" in error


# ---- the page and everything else -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), [("PUT", "/process"), ("DELETE", "/models"), ("GET", "/api/parse")])
def test_other_methods(client, method, path):
    reply = client.request(method, path)
    assert reply.status_code == 405
    assert reply.headers["content-type"].startswith("application/json" if path.startswith("/api") else "text/plain")


@pytest.mark.parametrize("path", ["/nothing", "/page/nothing.js", "/page/../app.py", "/page/%2e%2e/app.py", "/docs"])
def test_nothing_else_is_there(client, path):
    assert client.get(path).status_code == 404


def test_the_page_takes_nothing_from_other_hosts(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "http" not in page.text
    for name in ("page.js", "page.css", "drawing.css", "icon.svg"):
        file = client.get(f"/page/{name}")
        assert file.status_code == 200
        assert not {"https:", "http:"} & set(file.text.replace("http://www.w3.org/", "").split("//")[:-1])


@pytest.mark.parametrize("path", ["/", "/models", "/api/models", "/nothing", "/process"])
def test_browsers_are_told_to_be_strict(client, path):
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_models_are_found_by_their_language(handler):
    english = handler.description._replace(language="English")
    registry = Registry({"danish-ddt": handler.description._replace(language="Danish"), "en": english})
    names = {name: registry.find(name) for name in ("", "danish", "danish-ddt", "en", "english", "klingon")}
    assert names == {
        "": "danish-ddt",
        "danish": "danish-ddt",
        "danish-ddt": "danish-ddt",
        "en": "en",
        "english": "en",
        "klingon": None,
    }
