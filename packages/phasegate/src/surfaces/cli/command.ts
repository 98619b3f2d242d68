import type { Readable } from 'node:stream';
import type { Phasegate } from '@phasegate/core';
import type { Catalog, OpenProject, Project, Standards } from '../../runtime/ports.ts';
import type { Environment } from './environment.ts';
import type { Output } from './output.ts';
import type { Prompts } from './prompts.ts';

/** 0 done, 1 refused or failed, 2 wrong usage or invalid definition. */
export type ExitCode = 0 | 1 | 2;

/** What one command is: how it is called, and what it does. Its name and summary stand in the command table. */
export interface CliCommand {
  /** How it is called, without `phasegate`; one line for each form. */
  readonly usage: readonly string[];
  /** More than the summary says, where there is more to say. */
  readonly details?: string;
  readonly examples: readonly string[];
  readonly options: OptionSpecs;
  /** Names of the words it takes, as in the usage: `RUN`, `[FILE]`, `[PATH…]`. */
  readonly positionals: readonly string[];
  run(invocation: Invocation): Promise<ExitCode>;
}

/** The options of a command by their long name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** One option. A `flag` takes no value, a `text` one, `texts` one at each of its uses. */
export interface OptionSpec {
  readonly type: 'flag' | 'text' | 'texts';
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly summary: string;
}

/** The parsed words after the command's name. */
export interface Arguments {
  readonly positionals: readonly string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
}

/** One call of a command, with all it may use. */
export interface Invocation {
  readonly args: Arguments;
  readonly env: Environment;
  readonly stdin: Readable;
  readonly out: Output;
  /** Null where nobody can be asked: no terminal. */
  readonly prompts: Prompts | null;
  /** The project, found once. */
  project(): Promise<Project>;
  /** The project with its store open; closed when the command ends. */
  open(): Promise<OpenProject>;
  /** Serves MCP on the process's own stdin and stdout; null where they are not the process's own. */
  readonly serveMcp: ServeMcp | null;
  /** Closes the store and forgets the project, so that the next call finds it anew. */
  close(): Promise<void>;
}

/** Serves one MCP client until it goes away. Given by `main.ts`: surfaces do not know each other. */
export type ServeMcp = (serving: {
  readonly phasegate: Phasegate;
  readonly catalog: Catalog;
  readonly standards: Standards;
  readonly version: string;
  readonly run: string | undefined;
  log(text: string): void;
}) => Promise<void>;
