import { randomUUID } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, own } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { CLIENTS, clientSettings } from './clientSettings.ts';
import { hookProgramOf, type PlannedFile } from './installSettings.ts';
import { programSum, readIn, removeFolders, removeIn, writeIn } from './ownFiles.ts';
import { HOOK_FOLDER, type SettingsFile } from './settingsFile.ts';
import { type RecordedFile, sumOf } from './settingsRecord.ts';
import { userScript } from './userScript.ts';

/** A project whose clients are held in all of its folders, and of what that is made. */
export interface UserInstalling {
  readonly root: string;
  readonly stateDir: string;
  readonly home: string;
  readonly version: string;
  /** `cat`, by its absolute path. */
  readonly cat: string;
  /** Names of the clients of this project. */
  readonly clients: readonly string[];
}

/** What was written into the settings of the user. */
export interface UserRecord {
  /** The version that wrote it. */
  readonly phasegate: string;
  readonly home: string;
  readonly projects: readonly UserProject[];
  readonly files: readonly RecordedFile[];
  /** SHA-256 of each client's program. */
  readonly programs: Readonly<Record<string, string>>;
  readonly cat: string;
}

/** One project of the user's. */
export interface UserProject {
  readonly root: string;
  readonly stateDir: string;
  readonly clients: readonly string[];
}

/** The clients that read hooks of the folder they are started in alone, so that only the user's own hold below it. */
export const USER_CLIENTS: readonly string[] = CLIENTS.filter(({ userFile }) => userFile !== undefined).map(
  ({ name }) => name,
);

/** The record for all projects of the user; null where there is none, or it cannot be read. */
export function readUserRecord(stateDir: string): UserRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folderFor(stateDir), FILE), 'utf8'));
    const sound =
      isJsonObject(value) &&
      ['phasegate', 'home', 'cat'].every((name) => typeof own(value, name) === 'string') &&
      ['projects', 'files'].every((name) => Array.isArray(own(value, name))) &&
      isJsonObject(own(value, 'programs'));
    return sound ? (value as unknown as UserRecord) : null;
  } catch {
    return null;
  }
}

/** What every file of the user's would be. Throws `config_invalid` where one cannot be added to. */
export function planUserSettings({ home, stateDir, clients }: UserInstalling): readonly PlannedFile[] {
  return clients.flatMap((client) => {
    const file = clientSettings(client)?.userFile;
    if (file === undefined) return [];
    const before = readIn(home, file.path);
    return [{ client, path: file.path, before, after: file.add(before, placedFor(stateDir, client)) }];
  });
}

/** Writes it, with the programs and the record; all of it, or nothing. */
export function applyUserSettings(installing: UserInstalling, plan: readonly PlannedFile[]): () => void {
  const { root, stateDir, home, version, cat } = installing;
  const last = readUserRecord(stateDir);
  const others = last?.projects.filter((project) => project.root !== root) ?? [];
  const clients = installing.clients.filter((name) => USER_CLIENTS.includes(name));
  const undoing: (() => void)[] = [];
  const undo = () => {
    for (const step of undoing.toReversed()) step();
    undoing.length = 0;
  };
  try {
    undoing.push(() => (last === null ? drop(stateDir) : write(stateDir, last)));
    const files = plan.map(({ client, path, before, after }): RecordedFile => {
      const made = before === after ? [] : writeIn(home, path, after ?? '');
      undoing.push(() => putBack(home, { path, before, made }));
      const earlier = last?.files.find((file) => file.path === path);
      const isAsWritten = before !== null && earlier !== undefined && sumOf(before) === earlier.after;
      const without = before === null ? null : (fileOf(client)?.remove(before) ?? null);
      const sum = sumOf(after ?? '');
      return {
        client,
        path,
        after: sum,
        before: isAsWritten ? earlier.before : without,
        made: before === null ? made : (earlier?.made ?? made),
      };
    });
    const kept = last?.files.filter((file) => !files.some(({ path }) => path === file.path)) ?? [];
    const projects = [...others, { root, stateDir, clients }];
    write(stateDir, { phasegate: version, home, projects, files: [...kept, ...files], programs: {}, cat });
    return undo;
  } catch (error) {
    undo();
    throw error;
  }
}

/** What the user's files would be without a project: only after the last one they change. */
export function planUserRemoval(root: string, stateDir: string): readonly PlannedFile[] {
  const record = readUserRecord(stateDir);
  if (record === null || record.projects.some((project) => project.root !== root)) return [];
  return record.files.flatMap(({ client, path, after: sum, before: first }): PlannedFile[] => {
    const before = readIn(record.home, path);
    if (before === null) return [];
    const after = sumOf(before) === sum ? first : (fileOf(client)?.remove(before) ?? null);
    return [{ client, path, before, after }];
  });
}

/** Takes a project out, and with the last one everything. */
export function removeUserSettings(root: string, stateDir: string, plan: readonly PlannedFile[]): void {
  const record = readUserRecord(stateDir);
  if (record === null) return;
  const projects = record.projects.filter((project) => project.root !== root);
  if (projects.length > 0) {
    write(stateDir, { ...record, projects });
    return;
  }
  for (const { path, before, after } of plan) {
    if (after === null) removeIn(record.home, path);
    else if (after !== before) writeIn(record.home, path, after);
  }
  removeFolders(
    record.home,
    record.files.flatMap(({ made }) => made),
  );
  drop(stateDir);
}

/** The user's own hooks for a client of a project, and what is wrong with them. */
export interface ExaminedUser {
  /** The project's own folder. */
  readonly root: string;
  readonly problems: readonly string[];
}

/** Compares what was written for a client of a project into the user's settings; null where nothing was. */
export function examineUser(client: string, stateDir: string): ExaminedUser | null {
  const record = readUserRecord(stateDir);
  const project = record?.projects.find((one) => one.stateDir === stateDir && one.clients.includes(client));
  if (record === null || project === undefined) return null;
  const recorded = record.files.find((file) => file.client === client);
  const program = programFor(stateDir, client);
  const found = lstatSync(program, { throwIfNoEntry: false });
  const isOurs = found?.isFile() === true && programSum(program) === own(record.programs, client);
  const problems = [
    ...(isOurs && (found.mode & 0o777) === 0o500
      ? []
      : [`its hook program ${program} is not as it was written`]),
    ...(recorded === undefined ? [] : fileProblems(record, recorded, stateDir)),
  ];
  return { root: project.root, problems };
}

const FILE = 'user.json';

function fileProblems(
  { home }: UserRecord,
  { client, path }: RecordedFile,
  stateDir: string,
): readonly string[] {
  try {
    const text = readIn(home, path);
    if (text === null) return [`\`~/${path}\` is gone`];
    const ours = fileOf(client)?.add(text, placedFor(stateDir, client));
    return ours === text ? [] : [`the hooks in \`~/${path}\` are not as they were written`];
  } catch (error) {
    return [reasonOf(error)];
  }
}

function fileOf(client: string): SettingsFile | undefined {
  return clientSettings(client)?.userFile;
}

/** Beside the states of all projects. */
function folderFor(stateDir: string): string {
  return join(dirname(stateDir), HOOK_FOLDER);
}

function programFor(stateDir: string, client: string): string {
  return join(folderFor(stateDir), client);
}

function placedFor(stateDir: string, client: string) {
  return { hook: programFor(stateDir, client), mcp: { command: '', args: [] } };
}

/** The programs of all projects, and the record of it. */
function write(stateDir: string, record: UserRecord): void {
  const folder = folderFor(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const programs: Record<string, string> = {};
  for (const client of new Set(record.files.map((file) => file.client))) {
    const projects = record.projects
      .filter(({ clients }) => clients.includes(client))
      .map((project) => ({ root: project.root, hook: hookProgramOf(project.stateDir, client) }));
    const text = userScript({ version: record.phasegate, cat: record.cat, projects });
    replace(join(folder, client), text, 0o500);
    programs[client] = sumOf(text);
  }
  replace(join(folder, FILE), `${JSON.stringify({ ...record, programs }, null, 2)}\n`, 0o600);
}

function replace(file: string, text: string, mode: number): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { flag: 'wx', mode });
  chmodSync(draft, mode);
  renameSync(draft, file);
}

function drop(stateDir: string): void {
  rmSync(folderFor(stateDir), { recursive: true, force: true });
}

function putBack(
  home: string,
  {
    path,
    before,
    made,
  }: { readonly path: string; readonly before: string | null; readonly made: readonly string[] },
): void {
  if (before !== null) writeIn(home, path, before);
  else removeIn(home, path);
  removeFolders(home, made);
}
