import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { HOOK_SWITCHES, isSwitchedOff } from '../files/hookSwitches.ts';
import { NotRegular, readRegular } from '../files/readRegular.ts';
import { clientSettings } from './clientSettings.ts';
import { hookProgramOf, placedIn, settingsFileOf } from './installSettings.ts';
import { parsed } from './jsonFile.ts';
import { LARGEST_SETTINGS, programSum, readIn } from './ownFiles.ts';
import { readRecord, type SettingsRecord, sumOf } from './settingsRecord.ts';
import { examineUser } from './userSettings.ts';

/** What is wrong with the settings of one client, or nothing. */
export interface ExaminedClient {
  readonly client: string;
  readonly title: string;
  /** Each would let the client run without its hooks, or not as they were written. */
  readonly problems: readonly string[];
  /** Where it must be started to run them. */
  readonly holdsIn: 'this folder' | 'this folder or one below it';
}

/** In place of a version: settings that another one wrote hold too. */
export const SETTINGS_OF_ANY_VERSION = '*';

/** Where to look. */
export interface Examining {
  readonly root: string;
  readonly stateDir: string;
  /** The home of the user, whose own settings count too; undefined where nobody knows it. */
  readonly home: string | undefined;
  readonly version: string;
}

/** Compares what was written for each client with what is there; empty where none was set up. */
export function examineSettings(examining: Examining): readonly ExaminedClient[] {
  const record = readRecord(examining.stateDir);
  return (record?.clients ?? []).map((client) => ({
    client,
    title: clientSettings(client)?.title ?? client,
    problems: record === null ? [] : Object.values(problemsOf(client, record, examining)).flat(),
    holdsIn: isHeldBelow(client, examining.stateDir) ? 'this folder or one below it' : 'this folder',
  }));
}

/** What is wrong with the settings of one client, by whose they are; null where none were written for it. */
export function examineClient(client: string, examining: Examining): ExaminedProblems | null {
  const record = readRecord(examining.stateDir);
  return record?.clients.includes(client) === true ? problemsOf(client, record, examining) : null;
}

/** Problems of settings, each said once. */
export interface ExaminedProblems {
  /** In what was written, and beside it in the project. */
  readonly ours: readonly string[];
  /** In the user's own settings. */
  readonly others: readonly string[];
}

/** Some clients look for hooks in the folders around theirs; of the others only those run that are the user's own. */
function isHeldBelow(client: string, stateDir: string): boolean {
  return client === 'codex' || client === 'opencode' || examineUser(client, stateDir) !== null;
}

function problemsOf(client: string, record: SettingsRecord, examining: Examining): ExaminedProblems {
  const { root, stateDir, version, home } = examining;
  const user = examineUser(client, stateDir);
  // A worktree has what is committed; where that is nothing, the user's own hooks hold there.
  const mayLack = user !== null && user.problems.length === 0 && user.root !== root;
  const ours = [
    ...(version === SETTINGS_OF_ANY_VERSION || record.phasegate === version
      ? []
      : [`written by version ${record.phasegate}, and this is ${version}`]),
    ...programProblems(client, record, stateDir),
    ...record.files
      .filter((file) => file.client === client)
      .filter(({ path }) => !mayLack || existsSync(join(root, path)))
      .flatMap(({ path, after }) => fileProblems({ root, stateDir, client, path, after, record })),
    ...(user?.problems ?? []),
    ...switchProblems(client, { root }),
    ...(client === 'claude' ? claudeProblems(CLAUDE_FILES.map((path) => [path, join(root, path)])) : []),
  ];
  const claudes = home === undefined ? null : join(home, CLAUDE_FILES[0]);
  const others = [
    ...(home === undefined ? [] : switchProblems(client, { home })),
    ...(client === 'claude' && claudes !== null ? claudeProblems([[claudes, claudes]]) : []),
  ];
  return { ours: [...new Set(ours)], others: [...new Set(others)].filter((one) => !ours.includes(one)) };
}

const CLAUDE_FILES = ['.claude/settings.json', '.claude/settings.local.json'] as const;

function programProblems(client: string, { programs }: SettingsRecord, stateDir: string): readonly string[] {
  const file = hookProgramOf(stateDir, client);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return [`its hook program ${file} is gone`];
  if (programSum(file) !== own(programs, client))
    return [`its hook program ${file} is not as it was written`];
  return (found.mode & 0o777) === 0o500 ? [] : [`its hook program ${file} has another mode than 0500`];
}

interface Looked {
  readonly root: string;
  readonly stateDir: string;
  readonly client: string;
  readonly path: string;
  readonly after: string;
  readonly record: SettingsRecord;
}

function fileProblems({ root, stateDir, client, path, after, record }: Looked): readonly string[] {
  try {
    const text = readIn(root, path);
    if (text === null) return [`\`${path}\` is gone`];
    if (sumOf(text) === after) return [];
    // What else is in it is the user's; ours must still be what would be written.
    const ours = settingsFileOf(client, path)?.add(text, placedIn(stateDir, client, record));
    return ours === text ? [] : [`the hooks in \`${path}\` are not as they were written`];
  } catch (error) {
    return [reasonOf(error)];
  }
}

const READING = { most: LARGEST_SETTINGS, links: 'follow' } as const;

/** What switches a client's hooks off, in the project or the home folder. */
function switchProblems(
  client: string,
  at: { readonly root: string } | { readonly home: string },
): readonly string[] {
  const known = HOOK_SWITCHES[client];
  if (known === undefined) return [];
  const places =
    'root' in at
      ? known.project.map((path) => [path, join(at.root, path)] as const)
      : known.home.map((path) => [join(at.home, path), join(at.home, path)] as const);
  return places.flatMap(([name, file]) => {
    if (!existsSync(file)) return [];
    try {
      const isOff = isSwitchedOff(file, readRegular(file, READING).toString('utf8'), known);
      return isOff ? [`\`${name}\`: \`${known.keys.join('.')}\` switches all hooks off`] : [];
    } catch (error) {
      return [unreadable(name, error)];
    }
  });
}

/** Claude Code reads several files, drops each that has one thing wrong in it, and says nothing. */
function claudeProblems(places: readonly (readonly [name: string, file: string])[]): readonly string[] {
  return places.flatMap(([name, file]) => {
    if (!existsSync(file)) return [];
    try {
      const settings = parsed(name, readRegular(file, READING).toString('utf8'));
      return ignoredBecause(settings).map((why) => `\`${name}\`: ${why}`);
    } catch (error) {
      return [unreadable(name, error)];
    }
  });
}

/** Why a file cannot be read, with its name. */
function unreadable(file: string, error: unknown): string {
  return error instanceof NotRegular ? `\`${file}\` ${reasonOf(error)}` : reasonOf(error);
}

function ignoredBecause(settings: JsonObject): readonly string[] {
  const problems: string[] = [];
  for (const key of ['permissions', 'env', 'hooks']) {
    const value = own(settings, key);
    if (value !== undefined && !isJsonObject(value))
      problems.push(`\`${key}\` is not an object, so Claude Code ignores the whole file`);
  }
  const hooks = own(settings, 'hooks');
  for (const [event, groups] of isJsonObject(hooks) ? Object.entries(hooks) : [])
    for (const group of Array.isArray(groups) ? groups : [])
      problems.push(...handlerProblems(event, isJsonObject(group) ? group : {}));
  return problems;
}

function handlerProblems(event: string, group: JsonObject): readonly string[] {
  const handlers = own(group, 'hooks');
  return (Array.isArray(handlers) ? handlers : []).flatMap((handler) => {
    const [type, failure] = [own(handler, 'type'), own(handler, 'onFailure')];
    const at = `a hook of \`${event}\``;
    if (typeof type !== 'string' || !HOOK_TYPES.includes(type))
      return [`${at} has a type that Claude Code does not know, so it ignores the whole file`];
    if (type === 'command' && typeof own(handler, 'command') !== 'string')
      return [`${at} has no command, so Claude Code ignores the whole file`];
    if (failure !== undefined && failure !== 'block' && failure !== 'allow')
      return [`${at} has an \`onFailure\` that Claude Code does not know, so it ignores the whole file`];
    return [];
  });
}

const HOOK_TYPES = ['command', 'http', 'mcp_tool', 'prompt', 'agent'];
