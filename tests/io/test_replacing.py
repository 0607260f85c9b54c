"""Files are whole or as before: failures, full disks, two writers, what is left of killed ones."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys

import numpy as np
import pytest

import crossarc
from commands import assert_one_line_error
from crossarc.core import CrossarcError
from crossarc.io.lock import only_writer
from crossarc.io.replacing import file_replaced
from crossarc.io.streams import open_output
from crossarc.models import Contents, ModelError, write_model


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_failure_leaves_the_old_file_alone(tmp_path):
    target = tmp_path / "x"
    target.write_text("old")
    with pytest.raises(TypeError), open_output(target) as stream:
        stream.writelines([b"new", None])
    assert target.read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_mode_and_links_stay(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with file_replaced(tmp_path / "link") as draft:
        draft.unlink()  # as safetensors does
        draft.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    with file_replaced(tmp_path / "fresh"):
        pass
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_long_names_and_patterns_in_names(tmp_path):
    for name in ("n" * 250, "[a]*?.conllu"):
        with open_output(tmp_path / name) as stream:
            stream.write(b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_what_is_being_written_is_not_cleared_away(tmp_path):
    """By another writer of the same file; each of them is whole, and the last one stays."""
    target = tmp_path / "x"
    with file_replaced(target) as first:
        first.write_text("first")
        with file_replaced(target) as second:
            second.write_text("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first"
    assert names(tmp_path) == ["x"]


def test_what_was_left_is_cleared_away(tmp_path):
    (tmp_path / ".x.abc.part").mkdir()
    (tmp_path / ".x.abc.part" / "draft").write_text("half of it")
    (tmp_path / ".y.abc.part").mkdir()
    with open_output(tmp_path / "x"):
        pass
    assert names(tmp_path) == [".y.abc.part", "x"]


def test_a_place_that_is_not_there(tmp_path):
    with pytest.raises(CrossarcError, match=r"nowhere/x: no such file"), open_output(tmp_path / "nowhere" / "x"):
        pass
    with pytest.raises(ModelError, match=r"nowhere/x: no such file"):
        write_model(tmp_path / "nowhere" / "x", {})


def test_errors_of_other_files_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError), open_output(tmp_path / "x"):
        (tmp_path / "missing").read_text()


def test_one_writer_at_a_time(tmp_path):
    model = tmp_path / "x.crossarc"
    with only_writer(model):
        with pytest.raises(CrossarcError, match=r"x\.crossarc: another process is at work on it"), only_writer(model):
            pass
        assert names(tmp_path) == [".x.crossarc.lock"]
    assert names(tmp_path) == []
    with only_writer(model):
        pass


def small_files():
    """From now on files can have 20,000 bytes: as if the disk were full then."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def with_a_full_disk(*command):
    command = [sys.executable, *map(str, command)]
    return subprocess.run(command, capture_output=True, check=False, preexec_fn=small_files)


def test_a_full_disk_is_one_line_that_names_the_file(handmade, tmp_path):
    sentences = list(crossarc.read(handmade)) * 20
    crossarc.write(sentences, tmp_path / "in.conllu")
    for suffix in ("conllu", "conllx"):
        target = tmp_path / f"out.{suffix}"
        target.write_text("old")
        result = with_a_full_disk("-m", "crossarc", "convert", tmp_path / "in.conllu", "-o", target)
        assert_one_line_error(result, f"{target}: file too large")
        assert target.read_text() == "old"
    assert names(tmp_path) == ["in.conllu", "out.conllu", "out.conllx"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
def test_a_full_disk_behind_standard_output(handmade):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "crossarc", "convert", handmade]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert_one_line_error(result, "standard output: no space left on device")


def test_a_full_disk_leaves_the_old_model(tmp_path):
    target = tmp_path / "x.crossarc"
    write_model(target, {"parser": Contents({}, {"weights": np.arange(10.0)})})
    old = target.read_bytes()
    script = (
        "import sys, numpy as np\n"
        "from crossarc.models import Contents, write_model\n"
        "write_model(sys.argv[1], {'parser': Contents({}, {'weights': np.random.rand(10_000)})})\n"
    )
    result = with_a_full_disk("-c", script, target)
    assert f"ModelError: {target}: file too large" in result.stderr.decode()
    assert target.read_bytes() == old
    assert names(tmp_path) == ["x.crossarc"]
