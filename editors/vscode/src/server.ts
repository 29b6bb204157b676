// How the language server is started, and for what. No import of VS Code: tests use the same values.

export interface Wanted {
  readonly command: string;
  readonly arguments: readonly string[];
}

/** The command line; in a folder that nobody trusts, its settings choose nothing. */
export function commandLine(wanted: Wanted, trusted: boolean): { command: string; args: string[] } {
  if (!trusted) return { command: "gate", args: ["lsp"] };
  return { command: wanted.command || "gate", args: ["lsp", ...wanted.arguments] };
}

/** Documents that gate looks at; only files, since a sandbox runs files. */
export const DOCUMENTS = ["python", "javascript", "typescript", "shellscript"].map((language) => ({
  scheme: "file",
  language,
}));

/** Told where the server cannot be started. */
export const MISSING = "gate cannot be started. Install it (pip install 'gate-ci[lsp]'), or set gate.command.";
