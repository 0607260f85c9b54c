"""INCEpTION and ArboratorGrew, with requests of the form that they send."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from crossarc.core import CrossarcError, Sentence
from crossarc.io import read_string
from crossarc.server.app import make_app
from crossarc.server.handler import Handler
from crossarc.server.jobs import Limits, RequestError
from crossarc.server.registry import Registry
from crossarc.server.training import Trainer
from crossarc.server.worker import answer
from crossarc.trees import is_tree
from trained import TEST, TRAIN

pytestmark = [
    pytest.mark.slow,  # CI installs dkpro-cassis for the slow tests
    pytest.mark.filterwarnings("ignore:open_binary is deprecated"),  # in dkpro-cassis
]
LIMITS = Limits(size=4_000_000, length=60, seconds=60.0)
SENTENCES = [sentence for sentence in TEST if 4 <= len(sentence) <= 12][:4]


class Here:
    """A pool that does its work here and now."""

    def __init__(self, handler):
        self.handler = handler

    async def do(self, job):
        done = answer(self.handler, job)
        if isinstance(done, RequestError):
            raise done
        return done

    def stop(self):
        pass


@pytest.fixture(scope="module")
def handler(model_file):
    return Handler(str(model_file), LIMITS.length)


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    own = Trainer(tmp_path_factory.mktemp("trained"), LIMITS)
    yield own
    own.stop()


@pytest.fixture(scope="module")
def client(handler, trainer):
    app = make_app(Here(handler), Registry({"random": handler.description}), LIMITS, trainer=trainer)
    with TestClient(app, raise_server_exceptions=False, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="module")
def closed(handler):
    """A service that does not train."""
    app = make_app(Here(handler), Registry({"random": handler.description}), LIMITS)
    return TestClient(app, raise_server_exceptions=False, base_url="http://127.0.0.1")


# ---- INCEpTION -------------------------------------------------------------------------------------------------------

SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
LAYER = "de.tudarmstadt.ukp.dkpro.core.api.syntax.type.dependency.Dependency"
POS = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
METADATA = {
    "layer": LAYER,
    "feature": "DependencyType",
    "projectId": 1337,
    "anchoringMode": "tokens",
    "crossSentence": False,
}


def type_system():
    """That of DKPro, with the features that INCEpTION adds to the layer."""
    cassis = pytest.importorskip("cassis", reason="dkpro-cassis is not installed: pip install '.[inception]'")
    types = cassis.load_dkpro_core_typesystem()
    layer = types.get_type(LAYER)
    types.create_feature(layer, "inception_internal_predicted", "uima.cas.Boolean")
    types.create_feature(layer, "DependencyType_score", "uima.cas.Double")
    return types


def cas_of(sentences, arcs=True):
    """A document as INCEpTION has it: text, sentences, tokens with tags, arcs where there is a head."""
    cassis = pytest.importorskip("cassis", reason="dkpro-cassis is not installed: pip install '.[inception]'")
    types = type_system()
    cas = cassis.Cas(types)
    cas.sofa_string = "\n".join(" ".join(sentence.form) for sentence in sentences)
    position = 0
    for sentence in sentences:
        start, tokens = position, []
        for word in sentence:
            pos = types.get_type(POS)(begin=position, end=position + len(word.form), coarseValue=word.upos)
            token = types.get_type(f"{SEGMENTATION}.Token")(begin=position, end=position + len(word.form), pos=pos)
            tokens.append(token)
            cas.add_all([pos, token])
            position += len(word.form) + 1
        cas.add(types.get_type(f"{SEGMENTATION}.Sentence")(begin=start, end=position - 1))
        for word, head in zip(sentence, sentence.head, strict=True):
            if arcs and head != "_":
                own = tokens[word.id - 1]
                governor = own if head == "0" else tokens[int(head) - 1]
                cas.add(
                    types.get_type(LAYER)(
                        begin=own.begin, end=own.end, Governor=governor, Dependent=own, DependencyType=word.deprel
                    )
                )
    return cas


def document(cas):
    return {"xmi": cas.to_xmi(), "documentId": 42, "userId": "testuser"}


def predict(client, sentences, path="/predict", status=200, **metadata):
    wanted = {"metadata": METADATA | metadata, "document": document(cas_of(sentences))}
    reply = client.post(path, json={**wanted, "typeSystem": type_system().to_xml()})
    assert reply.status_code == status, reply.text
    return reply


def suggestions(reply):
    """Governor, dependent (by their beginnings), label and score of what was suggested; how many arcs there are."""
    import cassis

    cas = cassis.load_cas_from_xmi(reply.json()["document"], typesystem=type_system())
    arcs = list(cas.select(LAYER))
    new = [arc for arc in arcs if arc.inception_internal_predicted]
    return [(a.Governor.begin, a.Dependent.begin, a.DependencyType, a.DependencyType_score) for a in new], len(arcs)


def blank(sentence):
    return sentence.with_columns(head=["_"] * len(sentence), deprel=["_"] * len(sentence))


def test_every_token_gets_an_arc_with_its_probability(client, handler):
    bare = [Sentence.of(s.form, upos=s.upos) for s in SENTENCES]
    arcs, _ = suggestions(predict(client, list(map(blank, SENTENCES))))
    expected, offset = [], 0
    for tree in handler.pipeline.trees(bare):
        starts = [offset + sum(len(form) + 1 for form in tree.form[:i]) for i in range(len(tree))]
        expected += [
            (starts[(word.head or word).id - 1], starts[word.id - 1], word.deprel) for word in tree
        ]  # the root's arc is one to itself
        offset += sum(len(form) + 1 for form in tree.form)
    assert sorted(arc[:3] for arc in arcs) == sorted(expected)
    assert all(0 < score <= 1 for *_, score in arcs)


def test_accepted_arcs_are_constraints_and_not_suggested_again(client):
    sentence = next(s for s in SENTENCES if len(s) > 5)
    heads = [-1] * (len(sentence) + 1)
    heads[1] = next(h for h in (3, 4) if str(h) != sentence.head[0])
    accepted = sentence.with_tree(heads, ["_"] * (len(sentence) + 1))
    arcs, total = suggestions(predict(client, [accepted]))
    assert len(arcs) == len(sentence) - 1
    assert total == len(sentence)
    starts = [sum(len(form) + 1 for form in sentence.form[:i]) for i in range(len(sentence))]
    found = [-1, heads[1], *[0] * (len(sentence) - 1)]
    for governor, dependent, *_ in arcs:
        word, head = starts.index(dependent) + 1, starts.index(governor) + 1
        found[word] = 0 if word == head else head
    assert is_tree(found)


def test_arcs_that_allow_no_tree_are_no_obstacle(client):
    cycle = SENTENCES[0].with_tree([-1, 2, 1, *[-1] * (len(SENTENCES[0]) - 2)])
    arcs, _ = suggestions(predict(client, [cycle]))
    assert len(arcs) == len(cycle) - 2


def test_only_the_range_that_is_wanted(client):
    arcs, _ = suggestions(predict(client, list(map(blank, SENTENCES)), range={"begin": 0, "end": 3}))
    assert len(arcs) == len(SENTENCES[0])


def test_bad_requests_of_inception_are_one_line(client):
    bare = list(map(blank, SENTENCES))
    assert "no feature Governor" in predict(client, bare, status=400, layer=POS, feature="coarseValue").text
    assert "there is no model other" in predict(client, bare, path="/other/predict", status=404).text
    assert predict(client, bare, path="/random/predict")
    wanted = {"metadata": METADATA, "typeSystem": "<x/>"}
    for xmi in ("no xmi", "<a>", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'):
        reply = client.post("/predict", json={**wanted, "document": {"xmi": xmi}})
        assert reply.status_code == 400, reply.text
    assert client.post("/predict", json={}).status_code == 422


def test_training_must_be_allowed(closed):
    reply = closed.post("/train", json={"metadata": METADATA, "documents": [{"xmi": ""}], "typeSystem": ""})
    assert reply.status_code == 403
    assert "--training" in reply.text
    reply = post(closed, "/train/start", project_name="p", train_samples={})
    assert reply["status"] == "failure"
    assert "--training" in reply["error"]


def test_one_parser_is_trained_at_a_time(client, trainer, monkeypatch):
    monkeypatch.setattr(trainer, "_current", Future())
    monkeypatch.setitem(trainer._trainings, "7", trainer._current)
    wanted = {"metadata": METADATA, "documents": [document(cas_of(SENTENCES))], "typeSystem": type_system().to_xml()}
    assert client.post("/train", json=wanted).status_code == 429
    samples = {"one": conllu(SENTENCES)}
    assert post(client, "/train/start", project_name="other", train_samples=samples)["status"] == "failure"
    info = {"project_name": "other", "model_id": "1"}
    status = post(client, "/train/status", model_info=info, train_task_id="7")
    assert status == {"status": "success", "data": {"ready": False, "scores_best": None, "scores_history": None}}
    trainer._current.set_exception(CrossarcError("there is no tree to learn from"))
    status = post(client, "/train/status", model_info=info, train_task_id="7")
    assert status == {"status": "failure", "error": "there is no tree to learn from"}


def wait_for(done):
    end = time.monotonic() + 300  # a machine may be busy
    while not done():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_training_on_what_has_been_annotated(client, trainer):
    """Labels that only the annotator has are suggested after training; some words have no head yet."""
    renamed = [s.with_columns(deprel=[f"my-{label}" for label in s.deprel]) for s in TRAIN[:40]]
    partial = [s.with_columns(head=["_", *s.head[1:]], deprel=["_", *s.deprel[1:]]) for s in renamed]
    documents = [document(cas_of(partial[:20])), document(cas_of(partial[20:]))]
    wanted = {"metadata": METADATA, "documents": documents, "typeSystem": type_system().to_xml()}
    assert client.post("/train", json=wanted).status_code == 204
    wait_for(lambda: any(name.startswith("inception random 1337 testuser") for name in trainer.names()))
    arcs, _ = suggestions(predict(client, list(map(blank, SENTENCES))))
    assert {label[:3] for _, _, label, _ in arcs} == {"my-"}
    assert all(0 < score <= 1 for *_, score in arcs)
    others, _ = suggestions(predict(client, list(map(blank, SENTENCES)), projectId=7))
    assert not any(label.startswith("my-") for _, _, label, _ in others)


# ---- ArboratorGrew ---------------------------------------------------------------------------------------------------


def post(client, path, **data):
    reply = client.post(f"/parser/models{path}", json=data)
    assert reply.status_code == 200, reply.text
    return reply.json()


def parsed(client, info, samples, **settings):
    started = post(client, "/parse/start", model_info=info, to_parse_samples=samples, parsing_settings=settings)
    assert started["status"] == "success"
    status = {}

    def done():
        nonlocal status
        status = post(client, "/parse/status", parse_task_id=started["data"]["parse_task_id"])
        return status["status"] == "failure" or status["data"]["ready"]

    wait_for(done)
    return status


def conllu(sentences):
    return "".join(sentence.to_conllu() for sentence in sentences)


def test_models_are_trained_and_used(client, trainer):
    wait_for(lambda: trainer._current is None or trainer._current.done())
    samples = {"one": conllu(TRAIN[:30]), "two": conllu(TRAIN[30:60])}
    started = post(
        client, "/train/start", project_name="My project", train_samples=samples, max_epoch=3, base_model=None
    )
    info, number = started["data"]["model_info"], started["data"]["train_task_id"]
    assert info["project_name"] == "My project"
    wait_for(lambda: post(client, "/train/status", model_info=info, train_task_id=number)["data"]["ready"])
    status = post(client, "/train/status", model_info=info, train_task_id=number)["data"]
    assert status["model_info"] == info
    assert 0.2 < status["scores_best"]["LAS_epoch"] <= 1
    assert status["scores_best"]["training_diagnostics"]["data_description"] == {"n_train_sents": 54, "n_test_sents": 6}
    listed = client.get("/parser/models/list").json()
    assert [row["model_info"] for row in listed["data"]] == [{"project_name": "crossarc", "model_id": "random"}, info]
    status = parsed(client, info, {"three": conllu(map(blank, SENTENCES)), "four": conllu([blank(SENTENCES[0])])})
    assert status["data"]["model_info"] == info
    trees = list(read_string(status["data"]["parsed_samples"]["three"]))
    assert [tree.form for tree in trees] == [sentence.form for sentence in SENTENCES]
    assert all(is_tree(tree.heads) for tree in trees)
    reply = client.delete(f"/parser/models/list/{info['project_name']}/{info['model_id']}")
    assert reply.json()["status"] == "success"
    assert len(client.get("/parser/models/list").json()["data"]) == 1


def test_what_is_there_is_kept_if_wished(client):
    info = {"project_name": "crossarc", "model_id": "random"}
    sentence = next(s for s in SENTENCES if len(s) > 5)
    head = next(h for h in (3, 4) if str(h) != sentence.head[0])
    given = sentence.with_columns(
        head=[str(head), *["_"] * (len(sentence) - 1)],
        deprel=[sentence.deprel[-1], *["_"] * (len(sentence) - 1)],
        lemma=["mine"] * len(sentence),
    )
    wishes = dict.fromkeys(["keep_heads", "keep_deprels", "keep_lemmas"], "EXISTING")
    kept = parsed(client, info, {"a": conllu([given])}, **wishes)
    (tree,) = read_string(kept["data"]["parsed_samples"]["a"])
    assert (tree.head[0], tree.deprel[0], tree.lemma[0]) == (str(head), sentence.deprel[-1], "mine")
    free = parsed(client, info, {"a": conllu([given])})
    (tree,) = read_string(free["data"]["parsed_samples"]["a"])
    assert tree.lemma[0] == "_"


def test_bad_requests_of_arborator_are_failures(client):
    info = {"project_name": "crossarc", "model_id": "none"}
    assert parsed(client, info, {"a": conllu(SENTENCES)}) == {"status": "failure", "error": "there is no model none"}
    info["project_name"] = "../../etc"
    assert "there is no model" in parsed(client, info, {"a": conllu(SENTENCES)})["error"]
    served = {"project_name": "crossarc", "model_id": "random"}
    assert "input:1: " in parsed(client, served, {"a": "not a treebank\n"})["error"]
    assert post(client, "/parse/status", parse_task_id="7")["status"] == "failure"
    assert post(client, "/train/status", model_info=served, train_task_id="7")["status"] == "failure"


def test_names_are_never_paths(trainer):
    assert trainer._path("../a/b").parent == trainer.folder
    with pytest.raises(RequestError):
        trainer._path("x" * 500)
    with ThreadPoolExecutor(1) as thread, pytest.raises(RequestError):  # other tests may leave a loop running here
        thread.submit(lambda: asyncio.run(trainer.answer("nobody", None))).result()
