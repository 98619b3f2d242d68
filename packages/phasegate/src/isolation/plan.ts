import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';
import { isPrincipalName } from '@phasegate/core/contract';
import { reasonOf } from '@phasegate/core/model';

/** A user or a group, by name and number. */
export interface Named {
  readonly name: string;
  readonly id: number;
}

/** Who is who where the engine is isolated, as `phasegate isolate setup` wrote it down. */
export interface IsolationPlan {
  readonly name: string;
  /** Where it lies; everything of it is beside it. */
  readonly file: string;
  readonly workspace: string;
  /** Runs the server, and owns state, keys and audit. */
  readonly engine: Named;
  /** Runs checks, tools and functions. */
  readonly check: Named;
  /** Has the files of the workspace. */
  readonly group: Named;
  /** Users whose agents are served, each through a socket of its own. */
  readonly agents: readonly Named[];
  /** What setup made, and remove takes away. */
  readonly made: readonly string[];
}

/** The folders beside a plan. */
export function placesOf({ file }: Pick<IsolationPlan, 'file'>) {
  const folder = dirname(file);
  return {
    folder,
    state: join(folder, 'state'),
    home: join(folder, 'home'),
    command: join(folder, 'phasegate'),
    unit: join(folder, `phasegate-${basename(folder)}.service`),
    sockets: join(folder, 'sockets'),
    socketFolder: (user: string) => join(folder, 'sockets', user),
    socket: (user: string) => join(folder, 'sockets', user, 'socket'),
  };
}

/** The plan as it is written down. */
export function planText({ file: _, ...plan }: IsolationPlan): string {
  return `${JSON.stringify({ version: 1, ...plan }, null, 2)}\n`;
}

/** Reads a plan. Throws `file_unreadable` or `config_invalid`. */
export function readPlan(file: string): IsolationPlan {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PhasegateError('file_unreadable', `\`${file}\` cannot be read: ${reasonOf(cause)}`, {
      cause,
      hint: 'set it up with `phasegate isolate setup`',
    });
  }
  const plan = parsed(text);
  if (plan === null) {
    throw new PhasegateError('config_invalid', `\`${file}\` is not a plan of \`phasegate isolate setup\``, {
      hint: 'set it up again with `phasegate isolate setup`',
    });
  }
  return { ...plan, file };
}

function parsed(text: string): Omit<IsolationPlan, 'file'> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const [name, workspace, made] = [own(value, 'name'), own(value, 'workspace'), own(value, 'made')];
  const [engine, check, group] = ['engine', 'check', 'group'].map((key) => namedIn(own(value, key)));
  const listed = own(value, 'agents');
  const agents = Array.isArray(listed) ? listed.map((one: unknown) => namedIn(one)) : [];
  if (own(value, 'version') !== 1 || typeof name !== 'string' || typeof workspace !== 'string') return null;
  if (!engine || !check || !group || agents.length === 0 || !agents.every((one) => one !== null)) return null;
  if (!Array.isArray(made) || !made.every((word: unknown) => typeof word === 'string')) return null;
  return { name, workspace, engine, check, group, agents: agents as readonly Named[], made };
}

function namedIn(value: unknown): Named | null {
  if (!isJsonObject(value as Json)) return null;
  const [name, id] = [own(value, 'name'), own(value, 'id')];
  if (typeof name !== 'string' || !isPrincipalName(name) || basename(name) !== name) return null;
  return Number.isSafeInteger(id) && Number(id) > 0 ? { name, id: Number(id) } : null;
}
