"""The network without torch is the one that torch trained; its parts do what they say."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from crossarc.core import CrossarcError, Sentence
from crossarc.scorers.neural.lstm import DIRECTIONS, LstmSizes, Packing
from crossarc.scorers.neural.network import Network, Sizes, distance_bins
from crossarc.scorers.neural.one_thread import on_one_thread
from crossarc.scorers.neural.transformer import TransformerSizes, groups_of_runs, read_pretrained
from crossarc.scorers.neural.vectors import piece_vectors
from crossarc.scorers.neural.vocabulary import NOTHING, Vocabulary
from crossarc.scorers.neural.wordpieces import WordPieces
from crossarc.testing import random_treebank
from encoders import MINILM, PIECES, write_encoder

SENTENCES = [*random_treebank(7, seed=3), Sentence.of(["one"]), Sentence.of([])]
TAGS = {"upos": 5, "feats": 3}


def test_values_that_are_rare_are_unknown():
    vocabulary = Vocabulary.of([Sentence.of(["the", "The", "the", "cat"])], ["word", "affix"])
    rows = vocabulary.inputs([Sentence.of(["the", "dog"])]).rows
    assert vocabulary.values["form"] == ("the",)
    assert rows["word"][2, 0] == vocabulary.unknown["form"]
    assert rows["word"][1, 0] == vocabulary.unknown["form"] + 1
    assert set(rows["word"][:, 2].tolist()) == {NOTHING}  # no lemmas
    assert {"t", "th", "the"} <= set(vocabulary.values["prefix"])


def test_a_vocabulary_is_what_its_values_are():
    vocabulary = Vocabulary.of(SENTENCES, ["word", "affix", "tag"], lemmas=True)
    again = Vocabulary(json.loads(json.dumps(vocabulary.values)))
    assert again.sizes == vocabulary.sizes
    for group, rows in vocabulary.inputs(SENTENCES).rows.items():
        assert (again.inputs(SENTENCES).rows[group] == rows).all()
        assert rows.max() < vocabulary.sizes[group]


def test_steps_have_the_nodes_of_all_sentences_that_are_so_long():
    packing = Packing.of(np.array([0, 2, 5, 6]))
    assert packing.counts == [3, 2, 1]
    assert packing.nodes.tolist() == [2, 0, 5, 3, 1, 4]


def test_distances_are_signed_and_limited():
    bins = distance_bins(40)
    assert bins[3, 5] == bins[7, 9] != bins[5, 3]
    assert bins[1, 30] == bins[1, 39]
    assert len({*bins[0].tolist()}) == 1
    assert bins[0, 1] not in bins[1:]


@pytest.fixture(scope="module")
def torch():
    found = pytest.importorskip("torch", reason="the neural scorer is trained with torch")
    found.set_num_threads(1)
    found.manual_seed(5)
    return found


@pytest.fixture(params=["from scratch", "with vectors", "pretrained"])
def network(request, torch, tmp_path):
    from crossarc.scorers.neural.torch_network import TorchLstm, TorchNetwork, TorchStacked, TorchTransformer

    own = read_pretrained(write_encoder(tmp_path))
    pieces = own.pieces if request.param == "with vectors" else None
    vocabulary = Vocabulary.of(SENTENCES, ["word", "affix", "tag"], lemmas=True, pieces=pieces)
    if request.param != "pretrained":
        vectors = None if pieces is None else piece_vectors(own, 6)
        encoder = TorchLstm(LstmSizes(vocabulary.sizes, 6, 5, 2), vocabulary, 0.3, 0.2, vectors)
    else:
        pretrained = TorchTransformer(own, 0.1)
        sizes = LstmSizes(vocabulary.sizes, 6, 5, 1, pretrained.sizes.states)
        encoder = TorchStacked(pretrained, TorchLstm(sizes, vocabulary, 0.3, 0.2))
    network = TorchNetwork(encoder, Sizes(encoder.sizes.states, 7, 4, 3, TAGS), 0.3)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
            if ".embed." in name:
                parameter[NOTHING] = 0.0  # is not learnt
    return network.eval()


@pytest.mark.slow
def test_it_is_the_network_that_was_trained(network, torch):
    """Every score, of every kind, by either encoder."""
    alone = network.exported()
    inputs = network.encoder.inputs(SENTENCES)
    encoded = alone.encode(SENTENCES)
    words = np.arange(len(encoded.states))
    heads = np.random.default_rng(1).permutation(words)
    with torch.no_grad():
        states = network.encoder.encode(inputs)
        arcs = network.arc_scores(states, inputs.starts.tolist())
        labels = network.label_scores(states, torch.from_numpy(heads), torch.from_numpy(words))
        tags = network.tag_scores(states)
    assert np.abs(encoded.states - states.numpy()).max() < 1e-4
    for own, of_torch in zip(alone.arc_scores(encoded), arcs.numpy(), strict=True):
        assert np.abs(own - of_torch[: len(own), : len(own)]).max() < 1e-4
    assert np.abs(alone.label_scores(encoded, heads, words) - labels.numpy()).max() < 1e-4
    for column, scores in alone.tag_scores(encoded).items():
        assert np.abs(scores - tags[column].numpy()).max() < 1e-4


@pytest.mark.slow
def test_sentences_are_scored_the_same_in_any_company(network):
    alone = network.exported()
    together = alone.arc_scores(alone.encode(SENTENCES))
    for sentence, scores in zip(SENTENCES, together, strict=True):
        (own,) = alone.arc_scores(alone.encode([sentence]))
        assert np.abs(own - scores).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("leftward", [0, 1])
def test_gradients_of_the_lstm_are_those_of_torch(torch, leftward):
    from torch.nn.utils.rnn import PackedSequence

    from crossarc.scorers.neural.torch_network import Lstm

    counts = Packing.of(np.array([0, 3, 8, 12])).counts
    ours, theirs = Lstm(5, 4), torch.nn.LSTM(5, 4, bidirectional=True)
    end = "_reverse" if leftward else ""
    with torch.no_grad():
        for name, own in (("weight_ih", ours.input), ("weight_hh", ours.state), ("bias_ih", ours.bias)):
            getattr(theirs, f"{name}_l0{end}").copy_(own)
        getattr(theirs, f"bias_hh_l0{end}").zero_()
    inputs = [torch.randn(12, 5).requires_grad_()]
    inputs.append(inputs[0].detach().clone().requires_grad_())
    weights = torch.randn(12, 4)
    found = ours(inputs[0], counts, leftward)
    expected = theirs(PackedSequence(inputs[1], torch.tensor(counts)))[0].data[:, 4 * leftward :][:, :4]
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    assert torch.allclose(found, expected, atol=1e-6)
    assert torch.allclose(inputs[0].grad, inputs[1].grad, atol=1e-5)
    assert torch.allclose(ours.state.grad, getattr(theirs, f"weight_hh_l0{end}").grad, atol=1e-5)
    assert torch.allclose(ours.bias.grad, getattr(theirs, f"bias_ih_l0{end}").grad, atol=1e-5)
    assert len(DIRECTIONS) == 2


def test_words_are_cut_into_pieces():
    pieces = WordPieces(PIECES, lowercase=True)

    def cut(word):
        return [PIECES[i] for i in pieces.cut(word)]

    assert cut("Seen") == ["see", "##n"]
    assert cut("Sé") == ["s", "##e"]  # without its accent
    assert cut("ÿ漢") == ["y", "[UNK]"]
    assert cut("a.b") == ["a", ".", "b"]
    assert cut("") == cut("x" * 101) == ["[UNK]"]
    with pytest.raises(CrossarcError, match=r"\[CLS\]"):
        WordPieces(["a"], lowercase=True)


def test_long_sentences_are_encoded_in_runs():
    pieces = WordPieces(PIECES, lowercase=True).inputs([Sentence.of(["a"] * 9), Sentence.of([])], 6)
    assert np.diff(pieces.runs).tolist() == [6, 6, 3, 2]
    assert [PIECES[i] for i in pieces.ids[pieces.first[1:10]]] == ["a"] * 9
    assert pieces.starts.tolist() == [0, 10, 11]
    covered = np.concatenate([group.pieces for group in groups_of_runs(pieces.runs, at_once=7)])
    assert sorted(covered.tolist()) == list(range(len(pieces.ids)))


@pytest.mark.skipif(find_spec("tokenizers") is None or find_spec(MINILM) is None, reason="no tokenizers, or no MiniLM")
def test_pieces_are_those_of_the_library():
    from tokenizers import Tokenizer

    pretrained = read_pretrained(MINILM)
    library = Tokenizer.from_file(f"{find_spec(MINILM).submodule_search_locations[0]}/model/tokenizer.json")
    library.no_padding()
    library.no_truncation()
    words = ["Hearing", "don't", "中文abc", "a\u200bb", "\x07", "İstanbul", "ﬁne", "e\u0301", "a\u00a0b", "£5", "½"]
    words += ["x" * 120, "𝒳y", "\ue000"]
    words += [word for sentence in random_treebank(30, seed=2) for word in sentence.form]
    for word in words:
        expected = library.encode(word, add_special_tokens=False).ids or [pretrained.pieces.cut("")[0]]
        assert list(pretrained.pieces.cut(word)) == expected


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("config.json", None, "no such file"),
        ("config.json", "{", "not an encoder"),
        ("config.json", '{"model_type": "gpt2"}', "model_type is gpt2"),
        ("tokenizer.json", '{"model": {"type": "BPE"}}', "of another kind"),
        ("model.safetensors", "nothing", "not an encoder"),
    ],
)
def test_what_is_no_encoder_is_refused(tmp_path, name, content, problem):
    folder = write_encoder(tmp_path)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(CrossarcError, match=problem):
        read_pretrained(folder)


def test_an_encoder_is_a_folder_or_a_package():
    with pytest.raises(CrossarcError, match="neither a folder nor an installed package"):
        read_pretrained("no-such-package")
    with pytest.raises(CrossarcError, match="neither a folder nor an installed package"):
        read_pretrained("json")


def test_sizes_that_make_no_encoder():
    sizes = TransformerSizes(10, 8, 1, 3, 8, 16, 2, 1e-12)
    with pytest.raises(CrossarcError, match="multiple"):
        sizes.check(10)
    with pytest.raises(CrossarcError, match="too few"):
        sizes._replace(num_attention_heads=2).check(11)
    with pytest.raises(CrossarcError, match="too large"):
        sizes._replace(hidden_size=1 << 40).check(10)
    assert math.prod(sizes.shapes["embeddings.word_embeddings.weight"]) == 80


def test_networks_multiply_on_one_thread():
    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    assert before
    assert on_one_thread(threads)() == [1] * len(before)
    assert threads() == before
    for name in ("encode", "arc_scores", "label_scores", "tag_scores"):
        assert getattr(Network, name).__code__ is on_one_thread(threads).__code__
