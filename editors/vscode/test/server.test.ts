// The command line of the extension, and a real `gate lsp` driven through it by VS Code's own protocol library.

import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  CodeLensRequest,
  DidOpenTextDocumentNotification,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  PublishDiagnosticsParams,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { commandLine, DOCUMENTS } from "../src/server";

const wanted = { command: process.env.GATE_COMMAND ?? "gate", arguments: [] };

test("settings of a folder that nobody trusts choose nothing", () => {
  const evil = { command: "./evil", arguments: ["--x"] };
  assert.deepEqual(commandLine(evil, false), { command: "gate", args: ["lsp"] });
  assert.deepEqual(commandLine(evil, true), { command: "./evil", args: ["lsp", "--x"] });
  assert.ok(DOCUMENTS.every((one) => one.scheme === "file"));
});

test("a file that is opened gets its findings, its lens and a hover", { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gate-vscode-"));
  const file = join(folder, "run.py");
  const text = "import subprocess\n\ndef run(name):\n    subprocess.run(name, shell=True)\n    eval(name)\n";
  writeFileSync(file, text);
  const { command, args } = commandLine(wanted, true);
  const server = spawn(command, [...args, "--stdio"], {
    cwd: folder, // with the argument that VS Code's client library adds
    stdio: ["pipe", "pipe", "inherit"],
  });
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const found = new Promise<PublishDiagnosticsParams>((resolve) => {
    connection.onNotification(PublishDiagnosticsNotification.type, (told) => {
      if (told.diagnostics.length) resolve(told);
    });
  });
  connection.listen();
  try {
    const uri = pathToFileURL(file).toString();
    const can = await connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: pathToFileURL(folder).toString(),
      workspaceFolders: null,
      capabilities: { textDocument: { publishDiagnostics: {}, codeLens: {}, hover: {} } },
    });
    assert.ok(can.capabilities.codeLensProvider);
    await connection.sendNotification(InitializedNotification.type, {});
    const textDocument = { uri, languageId: "python", version: 1, text };
    await connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
    const told = await found;
    assert.equal(told.uri, uri);
    const lines = told.diagnostics.map((one) => one.range.start.line);
    assert.ok(lines.includes(3) || lines.includes(4), JSON.stringify(told.diagnostics));
    const lenses = await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri } });
    assert.match(lenses?.[0]?.command?.title ?? "", /run this file in the sandbox/);
    const position = told.diagnostics[0]!.range.start;
    const hover = await connection.sendRequest(HoverRequest.type, { textDocument: { uri }, position });
    assert.ok(hover);
    await connection.sendRequest(ShutdownRequest.type);
    await connection.sendNotification(ExitNotification.type);
  } finally {
    connection.dispose();
    server.kill();
  }
});
