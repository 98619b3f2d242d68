import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, clientSettings } from './clientSettings.ts';
import { type HookProgram, hookScript } from './hookScript.ts';
import { readIn, removeFolders, removeIn, writeIn } from './ownFiles.ts';
import {
  type ClientSettings,
  HOOK_FOLDER,
  type HttpDoor,
  type Placed,
  type SettingsFile,
} from './settingsFile.ts';
import { type RecordedFile, readRecord, type SettingsRecord, sumOf, writeRecord } from './settingsRecord.ts';

/** What is set up, and where. */
export interface Installing extends Omit<HookProgram, 'client'> {
  readonly stateDir: string;
  readonly clients: readonly ClientSettings[];
  readonly mcp: Placed['mcp'];
  /** Where clients that can are to ask by HTTP. */
  readonly http?: HttpDoor | undefined;
  readonly narrow?: boolean | undefined;
}

/** A file of settings and what it is to be. */
export interface PlannedFile {
  readonly client: string;
  readonly path: string;
  readonly before: string | null;
  /** Null where it is to be removed. */
  readonly after: string | null;
  /** Nothing of ours stays in it. */
  readonly dropped?: true;
}

/** What was written, and how to take that back at once. */
export interface AppliedSettings {
  readonly record: SettingsRecord | null;
  undo(): void;
}

/** The program that a client of a project runs as its hook. */
export function hookProgramOf(stateDir: string, client: string): string {
  return join(stateDir, HOOK_FOLDER, client);
}

/** What every file would be. Nothing is written; throws `config_invalid` where one cannot be added to. */
export function planSettings(installing: Installing): readonly PlannedFile[] {
  const { root, stateDir, clients, http } = installing;
  const others = clients.map(({ name }) => name);
  const plan = clients.flatMap(({ name, files }) =>
    files(others, http === undefined ? 'command' : 'http').map((file): PlannedFile => {
      const before = readIn(root, file.path);
      const after = file.add(before, placedIn(stateDir, name, installing));
      return { client: name, path: file.path, before, after };
    }),
  );
  // What was written into another file, when it was asked another way, goes.
  const record = readRecord(stateDir);
  const stale = record?.files.filter(
    ({ client, path }) =>
      others.includes(client) && WAYS.includes(path) && !plan.some((one) => one.path === path),
  );
  const gone = record === null ? [] : planRemoval(root, { ...record, files: stale ?? [] });
  return [...plan, ...gone.map((file) => ({ ...file, dropped: true as const }))];
}

/** Files of which one is written, by how a client asks. */
const WAYS = ['.claude/settings.json', '.claude/settings.local.json'];

/** Writes what was planned, with the hook programs and the record of it all; all of it, or nothing. */
export function applySettings(installing: Installing, plan: readonly PlannedFile[]): AppliedSettings {
  const { root, stateDir, clients, mcp, http, narrow, version } = installing;
  const last = readRecord(stateDir);
  const programs: Record<string, string> = {};
  const files: RecordedFile[] = [];
  const undoing: (() => void)[] = [];
  const undo = () => {
    for (const step of undoing.toReversed()) step();
    undoing.length = 0;
  };
  try {
    for (const { name } of clients) programs[name] = writeProgram(installing, name);
    for (const { path, before, after } of plan.filter(({ dropped }) => dropped)) {
      undoing.push(() => putBack(root, { path, before, made: [] }));
      if (after === null) removeIn(root, path);
      else if (after !== before) writeIn(root, path, after);
    }
    for (const { client, path, before, after, dropped } of plan) {
      if (after === null || dropped) continue;
      const file = settingsFileOf(client, path);
      const made = before === after ? [] : writeIn(root, path, after, file?.secret === true ? 0o700 : 0o777);
      undoing.push(() => putBack(root, { path, before, made }));
      // A client drops the whole of a file that it cannot read: what is there now must read as what was meant.
      if (readIn(root, path) !== after || file?.add(after, placedIn(stateDir, client, installing)) !== after)
        throw new Error(`\`${path}\` is not what was written to it`);
      files.push(recorded({ client, path, before, after, made }, last));
    }
    const kept = last?.files.filter((file) => !plan.some(({ path }) => path === file.path)) ?? [];
    const names = [...new Set([...(last?.clients ?? []), ...clients.map(({ name }) => name)])];
    const record: SettingsRecord = {
      phasegate: version,
      mcp,
      ...(http === undefined ? {} : { http }),
      ...(narrow === true ? { narrow } : {}),
      clients: names,
      files: [...kept, ...files],
      programs: { ...last?.programs, ...programs },
    };
    writeRecord(stateDir, record);
    undoing.push(() => writeRecord(stateDir, last));
    return { record, undo };
  } catch (error) {
    undo();
    throw error;
  }
}

/** What every file would be without ours. */
export function planRemoval(root: string, record: SettingsRecord): readonly PlannedFile[] {
  return record.files.flatMap((file): PlannedFile[] => {
    const before = readIn(root, file.path);
    if (before === null) return [];
    // As it was to the byte where nobody has touched it since; else only what is ours goes.
    const isAsWritten = sumOf(before) === file.after;
    const after = isAsWritten
      ? file.before
      : (settingsFileOf(file.client, file.path)?.remove(before) ?? null);
    return [{ client: file.client, path: file.path, before, after }];
  });
}

/** Takes everything back, with the programs and the record. */
export function removeSettings(root: string, stateDir: string, plan: readonly PlannedFile[]): void {
  const record = readRecord(stateDir);
  for (const { path, before, after } of plan) {
    if (after === null) removeIn(root, path);
    else if (after !== before) writeIn(root, path, after);
  }
  removeFolders(root, record?.files.flatMap(({ made }) => made) ?? []);
  rmSync(join(stateDir, HOOK_FOLDER), { recursive: true, force: true });
  writeRecord(stateDir, null);
}

/** The file of a client's settings by its path. */
export function settingsFileOf(client: string, path: string): SettingsFile | undefined {
  const settings = clientSettings(client);
  const all = (['command', 'http'] as const).flatMap((way) => settings?.files([], way) ?? []);
  return all.find((file) => file.path === path);
}

/** What a client's settings are written with. */
export function placedIn(
  stateDir: string,
  client: string,
  { mcp, http, narrow = false }: Pick<Installing, 'mcp' | 'http' | 'narrow'>,
): Placed {
  return { hook: hookProgramOf(stateDir, client), mcp, narrow, ...(http === undefined ? {} : { http }) };
}

/** Their names, in the order they are asked about. */
export const CLIENT_NAMES: readonly string[] = CLIENTS.map(({ name }) => name);

interface Written extends PlannedFile {
  readonly made: readonly string[];
}

function recorded({ client, path, before, after, made }: Written, last: SettingsRecord | null): RecordedFile {
  const earlier = last?.files.find((file) => file.path === path);
  const sum = sumOf(after ?? '');
  if (earlier === undefined) return { client, path, after: sum, before, made };
  const isAsWritten = before !== null && sumOf(before) === earlier.after;
  const without = before === null ? null : (settingsFileOf(client, path)?.remove(before) ?? null);
  return {
    client,
    path,
    after: sum,
    before: isAsWritten ? earlier.before : without,
    made: before === null ? made : earlier.made,
  };
}

function putBack(root: string, { path, before, made }: Pick<Written, 'path' | 'before' | 'made'>): void {
  if (before !== null) writeIn(root, path, before);
  else removeIn(root, path);
  removeFolders(root, made);
}

function writeProgram(installing: Installing, client: string): string {
  const { stateDir } = installing;
  const text = hookScript({ ...installing, client });
  const file = hookProgramOf(stateDir, client);
  mkdirSync(join(stateDir, HOOK_FOLDER), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { flag: 'wx', mode: 0o500 });
  chmodSync(draft, 0o500);
  renameSync(draft, file);
  return sumOf(text);
}
