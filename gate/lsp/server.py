"""The protocol, by pygls: diagnostics while typing, a code lens that runs the file, pages of rules on hover.

Imported only by `gate lsp`, where the extra is installed. Looks run in threads, one at a time; what somebody
types meanwhile starts the next one, half a second after the last key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from gate import __version__, api, crash_log
from gate.errors import GateError
from gate.lsp.looking import Ran, Remark, read_file, run_file
from gate.model.rule import Severity

RUN: Final = "gate.runFile"
QUIET: Final = 0.5
"""Seconds without a key before the file is read."""
_LEVEL: Final = {
    Severity.CRITICAL: lsp.DiagnosticSeverity.Error,
    Severity.HIGH: lsp.DiagnosticSeverity.Error,
    Severity.MEDIUM: lsp.DiagnosticSeverity.Warning,
    Severity.LOW: lsp.DiagnosticSeverity.Information,
    None: lsp.DiagnosticSeverity.Information,
}


class Desk:
    """The open files: what was read of them, what running them showed, and the look that is to come."""

    def __init__(self, server: LanguageServer, chosen: api.Chosen) -> None:
        self._server = server
        self._chosen = chosen
        self._coming: dict[str, asyncio.TimerHandle] = {}
        self._looks: set[asyncio.Task[None]] = set()
        self._turn: dict[str, int] = {}
        self._one = asyncio.Lock()
        self.read: dict[str, tuple[Remark, ...]] = {}
        self.ran: dict[str, tuple[Remark, ...]] = {}

    def changed(self, uri: str, *, after: float = QUIET) -> None:
        """Read the file soon. What a run showed was about another text."""
        self.ran.pop(uri, None)
        self.stop(uri)
        loop = asyncio.get_running_loop()
        self._coming[uri] = loop.call_later(after, self._start, uri, self._turn[uri])

    def stop(self, uri: str) -> None:
        """No look is to come. One that has begun ends by itself (it is a thread), and tells nothing."""
        self._turn[uri] = self._turn.get(uri, 0) + 1
        if timer := self._coming.pop(uri, None):
            timer.cancel()

    def _start(self, uri: str, turn: int) -> None:
        look = asyncio.get_running_loop().create_task(self._look(uri, turn))
        self._looks.add(look)  # the loop itself keeps no task alive
        look.add_done_callback(self._looks.discard)

    def closed(self, uri: str) -> None:
        """Forget a file."""
        self.stop(uri)
        self.read.pop(uri, None)
        self.ran.pop(uri, None)
        self._publish(uri, None)

    async def run(self, uri: str) -> str:
        """Run the file in a sandbox; what is said of it in one line."""
        path = to_fs_path(uri)
        if path is None:
            return "only files on this machine can be run"
        document = self._server.workspace.get_text_document(uri)
        version, text = document.version, document.source
        async with self._one:
            try:
                ran: Ran = await asyncio.to_thread(run_file, Path(path), text, self._chosen)
            except GateError as error:
                return f"{error.message}. {error.advice}".rstrip()
        if document.version == version:
            self.ran[uri] = ran.remarks
            self._publish(uri, version)
        return ran.said

    def at(self, uri: str, line: int) -> list[Remark]:
        """What is said of a line (from 1)."""
        return [r for r in self._all(uri) if r.line <= line <= r.end_line]

    async def _look(self, uri: str, turn: int) -> None:
        path = to_fs_path(uri)
        if path is None:
            return
        async with self._one:
            if turn != self._turn[uri]:  # somebody typed while another look went on
                return
            document = self._server.workspace.get_text_document(uri)
            version, text = document.version, document.source
            try:
                found = await asyncio.to_thread(read_file, Path(path), text, self._chosen)
            except GateError as error:
                self._log(f"{error.message}. {error.advice}".rstrip())
                return
            except Exception as error:  # noqa: BLE001 - a bug of ours must not end the server
                self._log(f"a bug in gate ({type(error).__name__}): {crash_log.write_log(error)}")
                return
        if turn == self._turn[uri]:
            self.read[uri] = found
            self._publish(uri, version)

    def _log(self, text: str) -> None:
        self._server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, text))

    def _all(self, uri: str) -> Sequence[Remark]:
        """A run's findings hold those of the static look, too."""
        return self.ran.get(uri) or self.read.get(uri, ())

    def _publish(self, uri: str, version: int | None) -> None:
        told = [_diagnostic(remark) for remark in self._all(uri)]
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, told, version))


def make_server(chosen: api.Chosen) -> LanguageServer:
    """The server with its features."""
    server = LanguageServer("gate", __version__)
    desk = Desk(server, chosen)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        desk.changed(params.text_document.uri, after=0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        desk.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        desk.closed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        command = lsp.Command("gate: run this file in the sandbox", RUN, arguments=[params.text_document.uri])
        return [lsp.CodeLens(_lines(1, 1), command)]

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        rules = [r.rule for r in desk.at(params.text_document.uri, params.position.line + 1) if r.rule]
        pages = [page for rule in dict.fromkeys(rules) if (page := _page(rule))]
        if not pages:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(pages)))

    @server.command(RUN)
    async def run(uri: str) -> str:
        said = await desk.run(uri)
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, f"gate: {said}"))
        return said

    return server


def _page(rule: str) -> str:
    """A rule as Markdown; empty for one that has no page (a scanner's own)."""
    try:
        found = api.explain(rule)
    except GateError:
        return ""
    meta = found.meta
    parts = [f"**{meta.id}: {meta.title}**", meta.help, f"*What to do:* {meta.remediation}", found.page]
    return "\n\n".join(part for part in parts if part)


def _diagnostic(remark: Remark) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        range=_lines(remark.line, remark.end_line),
        message=remark.message,
        severity=_LEVEL[remark.severity],
        code=remark.rule or None,
        code_description=lsp.CodeDescription(remark.page) if remark.page else None,
        source="gate",
    )


def _lines(first: int, last: int) -> lsp.Range:
    """Whole lines, from 1, both ends included; the protocol counts from 0."""
    return lsp.Range(lsp.Position(first - 1, 0), lsp.Position(last, 0))
