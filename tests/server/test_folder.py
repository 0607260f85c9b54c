"""The folder of treebanks: what is saved is whole, and nobody else gets in or out."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from fastapi.testclient import TestClient

from crossarc.core import CrossarcError
from crossarc.server.access import Access
from crossarc.server.app import make_app
from crossarc.server.folder import Folder
from crossarc.server.jobs import Description, Limits, RequestError
from crossarc.server.registry import Registry

ROW = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
HOME = "http://127.0.0.1:8000"


class NoPool:
    def stop(self):
        pass


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "treebank"
    (folder / "part").mkdir(parents=True)
    (folder / "a.conllu").write_text(ROW)
    (folder / "part" / "b.conllu").write_text(ROW * 2)
    (folder / "notes.txt").write_text("mine")
    (folder / ".hidden.conllu").write_text(ROW)
    (tmp_path / "outside.conllu").write_text("secret")
    return folder


def client_of(folder, base=HOME, access=None):
    registry = Registry({"m": Description((), (), False, False, "")})
    return TestClient(make_app(NoPool(), registry, Limits(), access, folder=folder), base_url=base)


@pytest.fixture
def client(root):
    return client_of(Folder(root))


def test_files_are_listed_read_and_saved(client, root):
    assert [file["name"] for file in client.get("/api/folder").json()] == ["a.conllu", "part/b.conllu"]
    found = client.get("/api/folder/file", params={"name": "part/b.conllu"}).json()
    assert found["content"] == ROW * 2
    content = "\ufeff" + ROW.replace("a", "ä").replace("\n", "\r\n")
    (root / "part" / "b.conllu").chmod(0o640)
    request = {"name": "part/b.conllu", "content": content, "version": found["version"]}
    saved = client.put("/api/folder/file", json=request)
    assert saved.status_code == 200
    assert (root / "part" / "b.conllu").read_bytes() == content.encode()
    assert (root / "part" / "b.conllu").stat().st_mode & 0o777 == 0o640
    assert (root / "part" / "b.conllu~").read_text() == ROW * 2
    version = client.get("/api/folder/version", params={"name": "part/b.conllu"}).json()["version"]
    assert version == saved.json()["version"] != found["version"]
    assert sorted(path.name for path in (root / "part").iterdir()) == ["b.conllu", "b.conllu~"]


def test_a_file_that_has_changed_on_disk_is_not_overwritten(client, root):
    version = client.get("/api/folder/version", params={"name": "a.conllu"}).json()["version"]
    (root / "a.conllu").write_text(ROW * 3)
    reply = client.put("/api/folder/file", json={"name": "a.conllu", "content": ROW, "version": version})
    assert reply.status_code == 409
    assert "changed on disk" in reply.json()["error"]
    assert (root / "a.conllu").read_text() == ROW * 3


@pytest.mark.parametrize(
    "name",
    [
        "../outside.conllu",
        "part/../../outside.conllu",
        "/etc/passwd",
        "/etc/x.conllu",
        "..",
        "",
        ".",
        "a.conllu/",
        "//a.conllu",
        "part//b.conllu",
        "./a.conllu",
        "notes.txt",
        ".hidden.conllu",
        "..\\outside.conllu",
        "a.conllu\0.conllu",
        "no.conllu",
        "no/no.conllu",
        "part",
        "a.conllu/b.conllu",
        "%2e%2e/outside.conllu",
    ],
)
def test_no_name_leads_out(client, root, name):
    reply = client.get("/api/folder/file", params={"name": name})
    assert reply.status_code in (400, 404)
    assert "secret" not in reply.text
    reply = client.put("/api/folder/file", json={"name": name, "content": "x", "version": "x"})
    assert reply.status_code in (400, 404)
    assert (root.parent / "outside.conllu").read_text() == "secret"


def test_links_are_not_followed(client, root):
    (root / "link.conllu").symlink_to(root.parent / "outside.conllu")
    (root / "inside.conllu").symlink_to(root / "a.conllu")
    (root / "out").symlink_to(root.parent)
    assert [file["name"] for file in client.get("/api/folder").json()] == ["a.conllu", "part/b.conllu"]
    for name in ("link.conllu", "inside.conllu", "out/outside.conllu", "out/treebank/a.conllu"):
        assert client.get("/api/folder/file", params={"name": name}).status_code == 404
        assert client.put("/api/folder/file", json={"name": name, "content": "x", "version": "x"}).status_code == 404
    assert (root.parent / "outside.conllu").read_text() == "secret"
    # a link in the place of the backup is replaced, not written through
    (root / "a.conllu~").symlink_to(root.parent / "outside.conllu")
    folder = Folder(root)
    folder.write("a.conllu", "new", folder.version("a.conllu"))
    assert (root.parent / "outside.conllu").read_text() == "secret"
    assert (root / "a.conllu~").read_text() == ROW


def test_what_is_no_file_or_not_in_utf8(client, root):
    (root / "latin.conllu").write_bytes(b"\xe4")
    assert "not in UTF-8" in client.get("/api/folder/file", params={"name": "latin.conllu"}).json()["error"]
    os.mkfifo(root / "pipe.conllu")
    assert client.get("/api/folder/file", params={"name": "pipe.conllu"}).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Host": "evil.example"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages_read_and_change_nothing(client, root, headers):
    version = Folder(root).version("a.conllu")
    saving = {"name": "a.conllu", "content": "x", "version": version}
    replies = [
        client.get("/api/folder", headers=headers),
        client.get("/api/folder/file", params={"name": "a.conllu"}, headers=headers),
        client.put("/api/folder/file", json=saving, headers=headers),
    ]
    for reply in replies:
        assert reply.status_code == 403
        assert "access-control-allow-origin" not in reply.headers
        assert "root" not in reply.text
    assert (root / "a.conllu").read_text() == ROW


def test_a_form_of_another_page_saves_nothing(client, root):
    """What a form can send without asking (CSRF): no JSON, and it cannot be PUT."""
    body = '{"name": "a.conllu", "content": "x", "version": "x"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert client.post("/api/folder/file", content=body, headers={"Content-Type": kind}).status_code == 405
        assert client.put("/api/folder/file", content=body, headers={"Content-Type": kind}).status_code == 422
    allowed = client.options("/api/folder/file", headers={"Origin": "http://evil.example"})
    assert "access-control-allow-origin" not in allowed.headers


def test_behind_a_token(root):
    access = Access(frozenset({"treebank.example"}), token="word")
    client = client_of(Folder(root), "http://treebank.example", access)
    assert client.get("/api/folder").status_code == 401
    assert client.get("/api/folder", headers={"Authorization": "Bearer wrong"}).status_code == 401
    good = {"Authorization": "Bearer word"}
    assert len(client.get("/api/folder", headers=good).json()) == 2
    assert client.get("/api/folder", headers={**good, "Origin": "http://evil.example"}).status_code == 403


def test_there_is_no_folder_unless_it_is_asked_for(root):
    assert client_of(None).get("/api/folder").status_code == 404
    with pytest.raises(CrossarcError, match="no such folder"):
        Folder(root / "missing")


def test_a_save_that_fails_leaves_everything_as_it_was(root, monkeypatch):
    folder = Folder(root)
    version = folder.version("a.conllu")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(RequestError, match="No space left"):
        folder.write("a.conllu", "x", version)
    assert (root / "a.conllu").read_text() == ROW
    assert sorted(path.name for path in root.iterdir()) == [".hidden.conllu", "a.conllu", "notes.txt", "part"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--folder", ".", "--host", "0.0.0.0", "--token", ""], "give a --token"),
        (["--folder", "missing"], "no such folder"),
    ],
)
def test_the_command_refuses(options, message, tmp_path):
    command = [sys.executable, "-m", "crossarc", "serve", *options, "--port", "0"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
