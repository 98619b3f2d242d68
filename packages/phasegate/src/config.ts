import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, type JsonObject, PhasegateError, type Problem } from '@phasegate/core';
import { reasonOf, systemReason } from '@phasegate/core/model';
import { faultsOf } from './config/faultsOf.ts';
import type { ParsedText } from './config/parseWithPlaces.ts';
import { NotRegular, readRegular } from './files/readRegular.ts';

export {
  findProjectRoot,
  isMarkedProject,
  projectRootsAbove,
  withFoldersAround,
} from './config/findProjectRoot.ts';
export { namesOfPath } from './config/namesOfPath.ts';
export { ownStateDir, stateDirFor, stateNameOf } from './config/stateDirFor.ts';
export {
  dropWorktreeRecord,
  readWorktreeRecord,
  requireNoState,
  worktreeRecordIn,
  writeWorktreeRecord,
} from './config/worktreeRecord.ts';
export { claimedMain, realpathOfExisting } from './config/worktrees.ts';

/** The settings of a project: data, never code. */
export interface Config {
  /** The file they came from, relative to the root; null where there is none. */
  readonly file: string | null;
  /** Further globs for workflows, relative to the root. */
  readonly workflows: readonly string[];
  /** Globs of documentation to index. */
  readonly docs: readonly string[];
  readonly port: number;
  /** URL of a database; null for the embedded one. */
  readonly database: string | null;
  /** Groups of tools by name. */
  readonly tools: Readonly<Record<string, readonly string[]>>;
  /** Settings of checks by name. */
  readonly checks: Readonly<Record<string, Json>>;
  /** Names of the clients that were set up. */
  readonly clients: readonly string[];
  /** MCP servers whose tools go through the gate as `mcp:NAME/TOOL`, by name. */
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** Regular expressions of what is masked like a key, beside what looks like one. */
  readonly secrets: readonly string[];
  /** Whether programs that Phasegate runs are in a sandbox, and what they see there beside the workspace. */
  readonly sandbox: SandboxConfig;
  /** Where a server keeps anchors of the audit outside; null where it keeps none. */
  readonly anchors: AnchorConfig | null;
}

/** A file from `/` or `~/`, or a git note, and how often: a time such as `1h`. */
export interface AnchorConfig {
  readonly file?: string;
  readonly git_note?: boolean;
  readonly every?: string;
}

/** `on`: every program is; `off`: those of workflows that ask for it. Places are folders from `/` or `~/`. */
export type SandboxConfig =
  | 'on'
  | 'off'
  | {
      readonly programs?: 'on' | 'off';
      readonly read?: readonly string[];
      readonly write?: readonly string[];
      /** What whole clients may reach; `host`, `*.domain` or `host:port`. */
      readonly hosts?: readonly string[];
      /** The most memory of each process, in MB; absent: as much as there is. */
      readonly memory?: number;
    };

/** An MCP server: a program to start, or a URL. Secrets of headers come from the environment, never from the file. */
export type ServerConfig =
  | {
      readonly command: readonly [string, ...string[]];
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly url: string;
      /** Header → name of the variable that holds its value. */
      readonly headers_from_env?: Readonly<Record<string, string>>;
    };

/** What the config of a project is called. */
export const CONFIG_FILES = ['phasegate.config.json', 'phasegate.config.yaml'] as const;
/** No config is larger. */
export const LARGEST_CONFIG = 1024 * 1024;
const DEFAULTS: Config = {
  file: null,
  workflows: [],
  docs: [],
  port: 8000,
  database: null,
  tools: {},
  checks: {},
  clients: [],
  servers: {},
  sandbox: 'off',
  secrets: [],
  anchors: null,
};

/** Reads the project's config; every problem is reported at once, with its place. */
export async function loadConfig(root: string): Promise<Config> {
  const [file, second] = CONFIG_FILES.filter((name) => exists(join(root, name)));
  if (file === undefined) return DEFAULTS;
  if (second !== undefined) {
    throw new PhasegateError('config_invalid', `both \`${file}\` and \`${second}\` are there`, {
      hint: 'keep one of them',
    });
  }
  const text = readText(root, file);
  return file.endsWith('.json') ? fromJson(text, file) : fromYaml(text, file);
}

async function fromJson(text: string, file: string): Promise<Config> {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    const message = `not JSON: ${(error as Error).message}`;
    const parsed = await parse(text);
    throw invalid(file, parsed.ok ? [{ line: 1, column: 1, code: 'syntax', message }] : parsed.problems);
  }
  if (faultsOf(value).length === 0) return configOf(value, file);
  // A parser that knows places is slow to load, so JSON pays for it only when something is wrong.
  throw invalid(file, placedFaults(await parse(text)));
}

async function fromYaml(text: string, file: string): Promise<Config> {
  // A config of comments means the defaults; it is not worth loading a parser for.
  if (text.split('\n').every((line) => /^\s*(?:#|$)/.test(line))) return { ...DEFAULTS, file };
  const parsed = await parse(text);
  const faults = placedFaults(parsed);
  if (!parsed.ok || faults.length > 0) throw invalid(file, faults);
  return configOf(parsed.value, file);
}

type PlacedFault = Pick<Problem, 'line' | 'column' | 'code' | 'message'>;

async function parse(text: string): Promise<ParsedText> {
  return (await import('./config/parseWithPlaces.ts')).parseWithPlaces(text);
}

function placedFaults(parsed: ParsedText): readonly PlacedFault[] {
  if (!parsed.ok) return parsed.problems;
  return faultsOf(parsed.value).map(({ path, code, message }) => ({
    ...parsed.placeOf(path),
    code,
    message,
  }));
}

// INVARIANT: called only with a value `faultsOf` found no fault in.
function configOf(value: Json, file: string): Config {
  return { ...DEFAULTS, ...((value ?? {}) as JsonObject), file };
}

function invalid(file: string, faults: readonly PlacedFault[]): PhasegateError {
  const problems = faults.map((fault): Problem => ({ file, severity: 'error', ...fault }));
  const [first] = problems;
  const place = first === undefined ? file : `${file}:${first.line}:${first.column}: ${first.message}`;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new PhasegateError('config_invalid', `${place}${more}`, {
    problems,
    hint: `correct \`${file}\` there, and run \`phasegate doctor\``,
  });
}

/** A pipe in the place of the config must not hold every command up, nor a device feed it without end. */
function readRegularFile(path: string, file: string): Buffer {
  try {
    return readRegular(path, { most: LARGEST_CONFIG, links: 'follow' });
  } catch (error) {
    if (!(error instanceof NotRegular)) throw error;
    const reason = error.code === 'too_large' ? 'is over the limit of 1 MB' : 'is not a file';
    throw new PhasegateError('config_invalid', `\`${file}\` ${reason}`, {
      hint: `put a config of JSON or YAML in its place, and run \`phasegate doctor\``,
    });
  }
}

function readText(root: string, file: string): string {
  const path = join(root, file);
  let bytes: Buffer;
  try {
    bytes = readRegularFile(path, file);
  } catch (cause) {
    if (cause instanceof PhasegateError) throw cause;
    const hint = systemReason(cause)?.hint;
    throw new PhasegateError('config_invalid', `\`${file}\` cannot be read: ${reasonOf(cause)}`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    });
  }
  if (bytes.includes(0))
    throw new PhasegateError('config_invalid', `\`${file}\` holds a NUL byte`, { hint: asText(file) });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new PhasegateError('config_invalid', `\`${file}\` is not UTF-8 text`, {
      cause,
      hint: asText(file),
    });
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function asText(file: string): string {
  return `save \`${file}\` as UTF-8 text, and run \`phasegate doctor\``;
}
