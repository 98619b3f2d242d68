import { type Json, own } from '@phasegate/core';
import type { Receipt, ToolAnswer } from '#wire';
import type { AgentCalls } from './agentCalls.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';

/** The contract's tools by name. Each is judged like any other tool call; a refusal and a failure are thrown. */
export interface FileCalls {
  /** The whole text of a file. One that is too large to be given whole is thrown as `too_large`, never cut. */
  readFile(path: string): Promise<string>;
  /** Writes a whole file, with the folders it needs. */
  writeFile(path: string, content: string): Promise<Receipt | null>;
  /** Puts one text in the place of another, which must stand in the file exactly, and once unless all are meant. */
  editFile(path: string, edit: Edit): Promise<Receipt | null>;
  /** What is in the workspace: all of it, or what is narrowed down to. */
  listFiles(options?: ListOptions): Promise<FileList>;
  /** Lines that hold a text, or match a regular expression. */
  grep(pattern: string, options?: GrepOptions): Promise<GrepResult>;
  /** Runs a command line. One that ends with another code than 0, or was killed, is an answer and not an error. */
  runCommand(command: string, options?: CommandOptions): Promise<CommandResult>;
}

/** One text in the place of another. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly replace_all?: boolean;
}

/** What to list. */
export interface ListOptions {
  readonly path?: string;
  readonly glob?: string;
  /** Levels of folders. */
  readonly depth?: number;
  readonly limit?: number;
}

/** What is in the workspace. */
export interface FileList {
  readonly entries: readonly { readonly path: string; readonly kind: string }[];
  /** True where there is more. */
  readonly truncated: boolean;
}

/** Where to look, and how. */
export interface GrepOptions {
  readonly regex?: boolean;
  readonly ignore_case?: boolean;
  readonly path?: string;
  readonly glob?: string;
  readonly limit?: number;
}

/** Lines that were found. */
export interface GrepResult {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  /** Files that are not text, or too large. */
  readonly skipped: readonly string[];
  readonly truncated: boolean;
}

/** How to run a command. */
export interface CommandOptions {
  /** Folder, relative to the workspace. */
  readonly cwd?: string;
  readonly timeout_ms?: number;
}

/** What came of a command. */
export interface CommandResult {
  /** True where it ended with code 0. */
  readonly ok: boolean;
  /** Null where it was killed. */
  readonly exit_code: number | null;
  /** The end of what it printed. */
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly receipt: Receipt | null;
}

/** The contract's tools, as calls of `useTool`. */
export function createFileCalls({ useTool }: Pick<AgentCalls, 'useTool'>): FileCalls {
  return {
    async readFile(path) {
      const output = outputOf(await useTool('read_files', { path, max_bytes: LARGEST_READ }));
      if (own(output, 'truncated') === true) {
        const message = `\`${path}\` is too large to be read whole`;
        throw new PhasegateClientError('too_large', message, { nextAction: READ_IN_PARTS });
      }
      return String(own(output, 'content') ?? '');
    },
    async writeFile(path, content) {
      return receiptOf(await useTool('write_files', { path, content }));
    },
    async editFile(path, edit) {
      return receiptOf(await useTool('edit_file', { path, ...edit }));
    },
    async listFiles(options = {}) {
      return outputOf(await useTool('list_files', { ...options })) as unknown as FileList;
    },
    async grep(pattern, options = {}) {
      return outputOf(await useTool('grep', { pattern, ...options })) as unknown as GrepResult;
    },
    async runCommand(command, options = {}) {
      const answer = await useTool('bash', { command, ...options });
      const { result, receipt } = answer;
      // Without output there was no command to speak of, only a reason why it was not run.
      const output = own(result.output, 'stdout') === undefined ? outputOf(answer) : result.output;
      return {
        ok: result.ok,
        exit_code: result.exit_code ?? null,
        stdout: String(own(output, 'stdout') ?? ''),
        stderr: String(own(output, 'stderr') ?? ''),
        truncated: own(output, 'truncated') === true,
        receipt,
      };
    },
  };
}

/** The most the server gives of one file. */
const LARGEST_READ = 1_048_576;
const READ_IN_PARTS = "use `useTool('read_files', { path, offset, limit })`";

function receiptOf(answer: ToolAnswer): Receipt | null {
  outputOf(answer);
  return answer.receipt;
}

/** What a tool gave; throws what it says went wrong. */
function outputOf({ result }: ToolAnswer): Json {
  if (result.ok) return result.output;
  const code = String(own(result.output, 'error') ?? 'tool_failed');
  const message = String(own(result.output, 'message') ?? 'the tool did not succeed');
  throw new PhasegateClientError(code, message);
}
