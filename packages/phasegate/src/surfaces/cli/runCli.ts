import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { PhasegateError } from '@phasegate/core';
import { didYouMean } from '@phasegate/core/model';
import type { OpenProject, Project, RemoteProject } from '../../runtime/ports.ts';
import type { CliCommand, CommandEntry, Invocation, Machine, Server } from './command.ts';
import { COMMANDS } from './commandTable.ts';
import { demandProject } from './demandProject.ts';
import type { Environment } from './environment.ts';
import { type MaybeTerminal, makeOutput, type Output, type Straight } from './output.ts';
import { paintFor, wantsColour } from './paint.ts';
import { parseArguments, splitCommand } from './parseArguments.ts';
import { takePassphrases } from './passphrase.ts';
import { makePrompts } from './prompts.ts';
import { serverFor } from './serverFor.ts';
import { usageError } from './usage.ts';
import { VERSION, VERSION_WORDS } from './version.ts';

/** All the command line needs of the world. */
export interface CliRequest {
  /** The words after the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly stdin: Readable;
  readonly stdout: MaybeTerminal;
  /** Writes a result without the stream; absent where stdout may be a terminal, or is a stream alone. */
  readonly straight?: Straight | undefined;
  readonly stderr: MaybeTerminal;
  /** That stderr is no terminal, where that is known without its stream. */
  readonly besideIsPlain?: boolean;
  /** Whether someone can be asked: stdin and stderr are terminals. */
  readonly isTty: boolean;
  openProject(options: {
    readonly projectDir?: string;
    /** For a command that needs no project, or makes one. */
    readonly anywhere?: boolean;
    readonly env: Environment;
  }): Promise<Project>;
  /** Reaches a project over its server; absent where none can be reached from here. */
  openRemote?(options: {
    readonly url: string;
    readonly env: Environment;
    readonly insecureHttp: boolean;
  }): Promise<RemoteProject>;
  /** Absent where this is not a process of its own. */
  readonly machine?: Machine;
}

/** Runs one command line and gives its exit code; resolves when all output is written, and never rejects. */
export async function runCli(request: CliRequest): Promise<number> {
  const { argv, env, straight } = request;
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined);
  const terminal = straight === undefined && request.stdout.isTTY === true;
  const paint = paintFor(wantsColour(env, terminal, words.includes('--no-color')));
  const json = words.includes('--json');
  const out = makeOutput({
    get stdout() {
      return request.stdout;
    },
    straight,
    stderr: () => request.stderr,
    besideIsPlain: request.besideIsPlain,
    json,
    paint,
    terminal,
    env,
    attended: () => request.isTty,
  });
  try {
    return await dispatch(request, out);
  } catch (error) {
    // When even the failure cannot be written (a full disk), the exit code still says it.
    return await report(error, out, env).catch(() => 1 as const);
  }
}

async function report(error: unknown, out: Output, env: Environment): Promise<number> {
  const { reportFailure } = await import('./failure.ts');
  return reportFailure(error, out, env);
}

async function dispatch(request: CliRequest, out: Output): Promise<number> {
  const { name, rest } = splitCommand(request.argv);
  if (name === undefined) return withoutCommand(rest, out);
  if (name === 'version') return withoutCommand(['--version'], out);
  if (name === 'help') return help(rest, out);
  const entry = findCommand(name);
  const command = await entry.load();
  const args = parseArguments(rest, command, { name, run: request.env.PHASEGATE_RUN });
  if (args.flag('help')) return printHelp(entry, command, out);
  const server = serverFor({ name, command, args, env: request.env });
  await takePassphrases(args, () => request.stdin);
  const invocation = invocationOf({ request, server, ...placesOf(command) }, args, out);
  try {
    return await command.run(invocation);
  } catch (error) {
    throw namingCommand(error, name);
  } finally {
    await invocation.close();
  }
}

/** A hint that is about any command names the one that was typed. */
function namingCommand(error: unknown, name: string): unknown {
  if (!(error instanceof PhasegateError) || error.hint?.includes(' COMMAND run-') !== true) return error;
  const hint = error.hint.replace(' COMMAND run-', ` ${name} run-`);
  return new PhasegateError(error.code, error.message, { hint, cause: error });
}

/** What was asked of a command, and where. */
interface Called extends Pick<Invocation, 'server'> {
  /** Its streams are made when they are first looked at, so it is never copied. */
  readonly request: CliRequest;
  readonly anywhere: boolean;
  readonly setsUp: boolean;
  /** The project's folder, where the command itself has found another. */
  readonly folder?: string;
}

function placesOf({ anywhere, setsUp }: CliCommand): Pick<Called, 'anywhere' | 'setsUp'> {
  return { anywhere: anywhere === true, setsUp: setsUp === true };
}

function invocationOf(called: Called, args: Invocation['args'], out: Output): Invocation {
  const { request, server, anywhere, setsUp } = called;
  const { env, openProject } = request;
  const projectDir = called.folder ?? args.text('project');
  const elsewhere: Invocation[] = [];
  let project: Promise<Project> | undefined;
  let opened: Promise<OpenProject> | undefined;
  let remote: Promise<RemoteProject> | undefined;
  const find = async () => {
    if (projectDir !== undefined) demandFolder(projectDir);
    project ??= openProject({
      env,
      anywhere: anywhere || setsUp,
      ...(projectDir === undefined ? {} : { projectDir }),
    }).then(async (found) => {
      for (const note of found.notes ?? []) await out.log(note);
      return anywhere ? found : demandProject(found);
    });
    return project;
  };
  const open = () => {
    opened ??= find().then((found) => found.open());
    return opened;
  };
  const overServer = async ({ url, from }: Server) => {
    if (request.openRemote === undefined)
      throw usageError(`the server of \`${from}\` cannot be used from here`);
    const insecureHttp = args.flag('insecure-http') || env.PHASEGATE_INSECURE_HTTP === '1';
    remote ??= request.openRemote({ url, env, insecureHttp });
    return remote;
  };
  return {
    args,
    env,
    get stdin() {
      return request.stdin;
    },
    out,
    get prompts() {
      return request.isTty ? makePrompts(request.stdin, request.stderr) : null;
    },
    machine: request.machine ?? null,
    project: find,
    open,
    server,
    reach: () => (server === null ? open() : overServer(server)),
    declaredParams: async (workflow) => {
      if (server !== null) return (await overServer(server)).declaredParams(workflow);
      return (await (await find()).catalog.load(workflow)).workflow.params;
    },
    at(folder) {
      const there = invocationOf({ request, server, anywhere, setsUp, folder }, args, out);
      elsewhere.push(there);
      return there;
    },
    close: async () => {
      for (const there of elsewhere.splice(0)) await there.close();
      const last = opened;
      const away = remote;
      project = undefined;
      opened = undefined;
      remote = undefined;
      // A store that never opened has nothing to close, and its fault is already on its way to the caller.
      const store = await last?.catch(() => undefined);
      await store?.close();
      await (await away?.catch(() => undefined))?.close();
    },
  };
}

/** An empty project is a fine thing to be told about; a mistyped one is not empty. */
function demandFolder(path: string): void {
  if (!isFolder(path))
    throw usageError(`\`--project\`: \`${path}\` is not a folder`, 'name the folder of a project');
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

async function withoutCommand(words: readonly string[], out: Output): Promise<number> {
  if (words.some((word) => VERSION_WORDS.includes(word))) {
    await out.result({ version: VERSION }, () => VERSION);
    return 0;
  }
  const asked = words.includes('--help') || words.includes('-h');
  const unknown = words.find((word) => !['--json', '--no-color', '--help', '-h'].includes(word));
  if (!asked && unknown !== undefined) {
    const known = ['--json', '--no-color', '--help', '--version', '--project', '--url'];
    const option = unknown.replace(/=.*/s, '');
    throw usageError(`\`phasegate\` has no option \`${option}\`${didYouMean(option, known)}`, SEE_HELP);
  }
  const { overview } = await import('./help.ts');
  if (asked) {
    const commands = COMMANDS.map(({ name, summary }) => ({ name, summary }));
    await out.result({ commands }, () => overview(out.paint));
    return 0;
  }
  if (out.json) throw usageError('no command is given', SEE_HELP);
  await out.log(overview(out.paint));
  return 2;
}

async function help(words: readonly string[], out: Output): Promise<number> {
  const name = words.find((word) => !word.startsWith('-'));
  if (name === undefined) return withoutCommand(['--help'], out);
  const entry = findCommand(name);
  return printHelp(entry, await entry.load(), out);
}

async function printHelp(entry: CommandEntry, command: CliCommand, out: Output): Promise<number> {
  const { commandHelp } = await import('./help.ts');
  const { usage, examples } = command;
  await out.result({ name: entry.name, summary: entry.summary, usage, examples }, () =>
    commandHelp(entry, command, out.paint),
  );
  return 0;
}

const SEE_HELP = 'see `phasegate --help`';

function findCommand(name: string): CommandEntry {
  const entry = COMMANDS.find((candidate) => candidate.name === name);
  if (entry !== undefined) return entry;
  const names = COMMANDS.map((candidate) => candidate.name);
  throw usageError(`there is no command \`${name}\`${didYouMean(name, names)}`, SEE_HELP);
}
