import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { oneLine, parseCommandLine } from '@phasegate/core/model';
import { AGENT_PRESETS, type AgentPreset, presetNamed } from '../../launch/presets.ts';
import type { Environment } from './environment.ts';
import { usageError } from './usage.ts';

/** What `--agent` names: a client we know how to start, or a command. */
export type NamedAgent =
  | { readonly preset: AgentPreset }
  | { readonly command: readonly [string, ...string[]] };

/** The names that `--agent` knows, for the help. */
export const PRESET_NAMES = AGENT_PRESETS.map(({ name }) => name).join(', ');

/** Reads what stands after `--agent`. */
export function namedAgent(line: string): NamedAgent {
  const preset = presetNamed(line.trim());
  if (preset !== undefined) return { preset };
  // To a shell, braces are more than letters; the place of the prompt is not for one.
  const parsed = parseCommandLine(line.replaceAll(PROMPT, (_, name) => `${MARK}${name}${MARK}`));
  const [words, more] = parsed.ok ? parsed.commands : [];
  const [file, ...rest] = (words ?? []).map((word) => word.replaceAll(MARKED, (_, name) => `{${name}}`));
  if (file !== undefined && more === undefined) return { command: [file, ...rest] };
  const why = parsed.ok ? 'it must be one command' : parsed.reason;
  throw usageError(
    `\`--agent ${line}\` cannot be used: ${why}`,
    'it is started without a shell; for more, `--agent "sh -c \'…\'"`',
  );
}

/** A client that reads its prompt from standard input has none to read in a terminal. */
export function demandNoTerminal({ name }: AgentPreset, adapter: string): void {
  if (adapter !== 'tmux') return;
  throw usageError(
    `\`--agent ${name}\` gets its prompt on standard input, which a terminal of tmux does not have`,
    'leave `--adapter tmux` out, or name a command that takes `{prompt}`',
  );
}

/** That the program of an agent is there, before anything is started or claimed for it. */
export function demandInstalled(
  agent: NamedAgent,
  { env, root }: { readonly env: Environment; readonly root: string },
): void {
  const program = 'preset' in agent ? agent.preset.name : agent.command[0];
  if (isThere(program, env, root)) return;
  if ('preset' in agent) {
    const { title, install } = agent.preset;
    throw usageError(
      `the agent \`${program}\` is not installed: there is no such program on the PATH`,
      `install ${title} with \`${install}\`, or name another with \`--agent\``,
    );
  }
  throw usageError(
    `the agent \`${oneLine(program)}\` is not installed: there is no such program${program.includes('/') ? '' : ' on the PATH'}`,
    `install it, or name a client that is known: ${PRESET_NAMES}`,
  );
}

/** As the system looks for it when the project's root is the working folder. */
function isThere(program: string, { PATH = '/usr/bin:/bin' }: Environment, root: string): boolean {
  const places = program.includes('/')
    ? [resolve(root, program)]
    : PATH.split(delimiter).map((folder) => join(resolve(root, folder), program));
  return places.some(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us: then it cannot be started from here either.
    return false;
  }
}

const PROMPT = /\{(prompt(?:_file)?)\}/g;
/** A character for private use: nobody types it. */
const MARK = '\uE000';
const MARKED = new RegExp(`${MARK}(\\w+)${MARK}`, 'g');
