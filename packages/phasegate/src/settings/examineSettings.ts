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
    problems: record === null ? [] : problemsOf(client, record, examining),
    holdsIn: isHeldBelow(client, examining.stateDir) ? 'this folder or one below it' : 'this folder',
  }));
}

/** Some clients look for hooks in the folders around theirs; of the others only those run that are the user's own. */
function isHeldBelow(client: string, stateDir: string): boolean {
  return client === 'codex' || client === 'opencode' || examineUser(client, stateDir) !== null;
}

function problemsOf(client: string, record: SettingsRecord, examining: Examining): readonly string[] {
  const { root, stateDir, version } = examining;
  const user = examineUser(client, stateDir);
  // A worktree has what is committed; where that is nothing, the user's own hooks hold there.
  const mayLack = user !== null && user.problems.length === 0 && user.root !== root;
  const problems = [
    ...(version === SETTINGS_OF_ANY_VERSION || record.phasegate === version
      ? []
      : [`written by version ${record.phasegate}, and this is ${version}`]),
    ...programProblems(client, record, stateDir),
    ...record.files
      .filter((file) => file.client === client)
      .filter(({ path }) => !mayLack || existsSync(join(root, path)))
      .flatMap(({ path, after }) => fileProblems({ root, stateDir, client, path, after, record })),
    ...(user?.problems ?? []),
    ...switchProblems(client, examining),
    ...(client === 'claude' ? claudeProblems(examining) : []),
  ];
  return [...new Set(problems)];
}

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
function switchProblems(client: string, { root, home }: Examining): readonly string[] {
  const known = HOOK_SWITCHES[client];
  if (known === undefined) return [];
  const places = [
    ...known.project.map((path) => [path, join(root, path)] as const),
    ...(home === undefined ? [] : known.home.map((path) => [join(home, path), join(home, path)] as const)),
  ];
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
function claudeProblems({ root, home }: Examining): readonly string[] {
  const places: readonly (readonly [string, string])[] = [
    [root, '.claude/settings.json'],
    [root, '.claude/settings.local.json'],
    ...(home === undefined ? [] : [[home, '.claude/settings.json'] as const]),
  ];
  return places.flatMap(([folder, path]) => {
    const file = folder === root ? path : join(folder, path);
    if (!existsSync(join(folder, path))) return [];
    try {
      const settings = parsed(file, readRegular(join(folder, path), READING).toString('utf8'));
      return ignoredBecause(settings).map((why) => `\`${file}\`: ${why}`);
    } catch (error) {
      return [unreadable(file, error)];
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
