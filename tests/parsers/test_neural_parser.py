"""The neural parser: what it alone can do."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import crossarc
from crossarc.cli import crossarc as commands
from crossarc.core import CrossarcError, Sentence
from crossarc.ilp.rule_file import RuleFile
from crossarc.models import ModelError, read_model, write_model
from crossarc.parsers import NeuralConfig, ParseOptions, load, train
from crossarc.pipeline import Pipeline
from crossarc.scorers.neural.transformer import read_pretrained
from crossarc.scorers.neural.vectors import piece_vectors
from encoders import write_encoder
from trained import DEV, SMALL, TEST, TRAIN, trained

pytestmark = pytest.mark.slow


def bare(sentences):
    return [Sentence.of(sentence.form) for sentence in sentences]


def test_tags_come_with_the_trees():
    model = Pipeline(trained("neural, own tags"))
    found = list(model.trees(bare(TEST)))
    words = sum(map(len, TEST))
    for column in ("upos", "feats"):
        right = sum(
            a == b
            for s, t in zip(TEST, found, strict=True)
            for a, b in zip(getattr(s, column), getattr(t, column), strict=True)
        )
        assert right > 0.8 * words
    assert [tree.heads.tolist() for tree in found] == [t.heads.tolist() for t in model.parser.trees(bare(TEST))]


def test_given_tags_are_kept():
    given = [sentence.with_columns(upos=["X"] * len(sentence)) for sentence in bare(TEST[:3])]
    assert all(set(tree.upos) == {"X"} for tree in Pipeline(trained("neural, own tags")).trees(given))


def test_words_are_encoded_once_for_tags_and_trees(monkeypatch):
    parser = trained("neural, own tags")
    calls = []
    encode = type(parser.network).encode

    def counted(self, sentences):
        calls.append(len(sentences))
        return encode(self, sentences)

    monkeypatch.setattr(type(parser.network), "encode", counted)
    list(Pipeline(parser).trees(bare(TEST[:10])))
    assert calls == [10]


def test_it_parses_without_torch(tmp_path):
    path, text, parsed = tmp_path / "my.crossarc", tmp_path / "in.conllu", tmp_path / "out.conllu"
    trained("neural").save(path)
    crossarc.write(TEST[:5], text)
    program = "import sys; sys.modules['torch'] = None; from crossarc.cli import main; main()"
    command = [sys.executable, "-c", program, "parse", "-m", path, text]
    parsed.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    expected = [tree.head for tree in trained("neural").trees(TEST[:5])]
    assert [tree.head for tree in crossarc.read(parsed)] == expected


def test_training_without_torch_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "crossarc.parsers.neural.learning", raising=False)
    with pytest.raises(CrossarcError, match=r"needs torch: pip install '\.\[neural\]'"):
        train(TRAIN, NeuralConfig(**SMALL))


def test_one_byte_for_each_weight(tmp_path):
    parser = trained("neural")
    write_model(tmp_path / "small", {"parser": parser}, quantize=True)
    parser.save(tmp_path / "large")
    assert (tmp_path / "small").stat().st_size < 0.5 * (tmp_path / "large").stat().st_size
    heads = [np.concatenate([tree.heads for tree in own.trees(TEST)]) for own in (parser, load(tmp_path / "small"))]
    assert (heads[0] == heads[1]).mean() > 0.95


@pytest.mark.parametrize("name", ["arc.form", "encoder.embed.word.weight", "encoder.lstm.0.rightward.state"])
@pytest.mark.parametrize("change", [lambda w: w[:-1], lambda w: w.astype(np.float64), lambda w: w * np.nan, None])
def test_weights_that_do_not_fit_are_refused(tmp_path, name, change):
    trained("neural").save(tmp_path / "my.crossarc")
    contents = read_model(tmp_path / "my.crossarc").components["parser"]
    if change is None:
        del contents.tensors[name]
    else:
        contents.tensors[name] = change(contents.tensors[name])
    write_model(tmp_path / "changed", {"parser": contents})
    with pytest.raises(ModelError, match=f"changed: .*{name}"):
        load(tmp_path / "changed")


def test_words_without_a_head_are_summed_over():
    """With half of the heads it still learns more than with none of them."""
    pytest.importorskip("torch").set_num_threads(1)
    rng = np.random.default_rng(1)

    def without(sentence, share):
        hidden = rng.random(len(sentence)) < share
        columns = {name: np.where(hidden, "_", getattr(sentence, name)).tolist() for name in ("head", "deprel")}
        return sentence.with_columns(**columns)

    config = replace(trained("neural").config, epochs=10)
    parser = train([without(sentence, 0.5) for sentence in TRAIN], config, dev=DEV)
    assert parser.dev.uas > 0.6
    assert "_" not in parser.labels


@pytest.mark.parametrize(("what", "tags"), [("encoder", "own"), ("encoder", "gold"), ("vectors", "own")])
def test_what_was_pretrained_is_part_of_the_model(tmp_path, what, tags):
    pytest.importorskip("torch").set_num_threads(1)
    folder = tmp_path / "encoder"
    folder.mkdir()
    config = replace(trained("neural").config, tags=tags, epochs=2, **{what: str(write_encoder(folder))})
    parser = train(TRAIN[:30], config, dev=DEV)
    parser.save(tmp_path / "my.crossarc")
    for file in folder.iterdir():
        file.unlink()
    assert list(load(tmp_path / "my.crossarc").trees(TEST)) == list(parser.trees(TEST))


def test_vectors_stay_as_they_are(tmp_path):
    """But for their scale and their directions; pieces that are no word of the treebank have theirs, too."""
    pytest.importorskip("torch").set_num_threads(1)
    own = read_pretrained(write_encoder(tmp_path))
    config = replace(trained("neural").config, vectors=str(tmp_path), epochs=1)
    parser = train(TRAIN[:30], config)
    table = parser.network.weights["encoder.embed.piece.weight"][-len(own.pieces.pieces) :]
    expected = piece_vectors(own, config.embedding_size)
    np.testing.assert_allclose(table / table.std(), expected / expected.std(), atol=1e-5)
    with pytest.raises(CrossarcError, match="--encoder or --vectors, not both"):
        train(TRAIN[:30], replace(config, encoder=str(tmp_path)))


def test_principal_components_keep_most_of_the_distances(tmp_path):
    own = read_pretrained(write_encoder(tmp_path))
    embeddings = own.weights["embeddings.word_embeddings.weight"][: len(own.pieces.pieces)]
    whole = piece_vectors(own, embeddings.shape[1] + 3)
    assert not whole[:, embeddings.shape[1] :].any()
    np.testing.assert_allclose(whole @ whole.T, _gram(embeddings), atol=1e-4)
    assert (piece_vectors(own, 3) == whole[:, :3]).all()


def _gram(embeddings):
    centred = embeddings - embeddings.mean(axis=0)
    return centred @ centred.T


def test_from_the_command_line_to_raw_text(tmp_path):
    pytest.importorskip("torch").set_num_threads(1)
    crossarc.write(TRAIN, tmp_path / "train.conllu")
    crossarc.write(DEV, tmp_path / "dev.conllu")
    model = tmp_path / "my.crossarc"
    sizes = [f"--{name.replace('_', '-')}={value}" for name, value in {**SMALL, "epochs": 1}.items()]
    arguments = [str(tmp_path / "train.conllu"), "--dev", str(tmp_path / "dev.conllu"), "-m", str(model), *sizes]
    result = CliRunner().invoke(
        commands, ["train", *arguments, "--system=neural", "--with=segmenter,tagger,lemmatizer"]
    )
    assert result.exit_code == 0, result.output
    assert "UPOS" in result.stderr
    pipeline = crossarc.load(model)
    assert pipeline.tagger is None
    assert pipeline.parser.config.tags == "own"
    (sentence,) = pipeline(" ".join(TEST[0].form[:4]))
    assert "_" not in (*sentence.upos, *sentence.lemma, *sentence.head)


def test_rules_are_for_its_scores_too():
    parser, short = trained("neural"), [sentence for sentence in TEST if len(sentence) < 12]
    label = Counter(label for tree in parser.trees(short) for label in tree.deprel).most_common(1)[0][0]

    def solved(text):
        return list(parser.parse(short, ParseOptions(rules=RuleFile(text, "rules"), exact=True, time_limit=600)))

    for parsed, tree in zip(solved(f"at most 50 {label} per head"), parser.trees(short), strict=True):
        assert parsed.status == "optimal"
        assert parsed.sentence.head == tree.head
        assert parsed.score == pytest.approx(next(parser.parse([tree])).score, abs=1e-3)
    for parsed in solved(f"at most 1 {label} per head"):
        heads = [head for head, own in zip(parsed.sentence.head, parsed.sentence.deprel, strict=True) if own == label]
        assert len(set(heads)) == len(heads)
