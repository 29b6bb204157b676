// Starts `gate lsp` and leaves the rest to the protocol: diagnostics, code lenses and hovers are the server's.

import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, ServerOptions, TransportKind } from "vscode-languageclient/node";
import { commandLine, DOCUMENTS, MISSING } from "./server";

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const settings = workspace.getConfiguration("gate");
  const wanted = {
    command: settings.get<string>("command", "gate"),
    arguments: settings.get<string[]>("arguments", []),
  };
  const server: ServerOptions = {
    ...commandLine(wanted, workspace.isTrusted),
    transport: TransportKind.stdio,
  };
  client = new LanguageClient("gate", "gate", server, { documentSelector: DOCUMENTS });
  try {
    await client.start();
  } catch {
    void window.showErrorMessage(MISSING);
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("gate.restart", async () => {
      await stop();
      await start();
    }),
    workspace.onDidGrantWorkspaceTrust(async () => {
      await stop();
      await start();
    }),
  );
  await start();
}

export function deactivate(): Promise<void> {
  return stop();
}
