import { randomUUID } from 'node:crypto';
import { chmod, lstat, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson, isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { readRegular } from '../../../files/readRegular.ts';
import { indentOf } from '../../../settings/jsonFile.ts';
import { LARGEST_SETTINGS } from '../../../settings/ownFiles.ts';

/** The file in which Claude Code finds the MCP servers of a project. */
export const MCP_FILE = '.mcp.json';

/** What became of the file. */
export interface AttachedClient {
  readonly change: 'created' | 'changed' | 'kept';
  /** Why Phasegate is not in it, or not as it is written here, with what to do; null where it is. */
  readonly problem: string | null;
  /** What was written; null where nothing was. */
  readonly text: string | null;
  /** Puts back what was there. */
  undo(): Promise<void>;
}

/**
 * Names Phasegate's tools in the file, for Claude Code to find them without being told. Other servers, and whatever else
 * is in it, stay as they are; an entry of our name is the user's own. One that `changed` since the guard measured it is
 * not written to.
 */
export async function attachClient(root: string, { changed = false } = {}): Promise<AttachedClient> {
  const entry = await serverEntry(root);
  // What somebody planted must not become part of what is written, and accepted, here.
  if (changed) return kept(NOT_ACCEPTED);
  try {
    return await attach(join(root, MCP_FILE), entry);
  } catch {
    // The project works without it.
    return left('cannot be written', entry);
  }
}

async function attach(file: string, entry: JsonObject): Promise<AttachedClient> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) {
    const text = textOf({ mcpServers: { phasegate: entry } }, 2);
    await writeFile(file, text, { flag: 'wx' });
    return { change: 'created', problem: null, text, undo: () => rm(file, { force: true }) };
  }
  const text = found.isFile() ? await readText(file) : '';
  const value = found.isFile() ? jsonOf(text) : undefined;
  const servers = isJsonObject(value) ? (own(value, 'mcpServers') ?? {}) : undefined;
  if (!isJsonObject(value) || !isJsonObject(servers)) {
    return left('is not a file that can be added to', entry);
  }
  const named = own(servers, 'phasegate');
  if (named !== undefined) return kept(isOurs(named) ? null : otherEntry(named, entry));
  const added = textOf({ ...value, mcpServers: { ...servers, phasegate: entry } }, indentOf(text));
  const mode = found.mode & 0o777;
  await replace(file, added, mode);
  return { change: 'changed', problem: null, text: added, undo: () => replace(file, text, mode) };
}

/** What the file starts under our name, where that is not what we would; null where it is, or names nothing so. */
export async function foreignEntry(root: string): Promise<string | null> {
  const file = join(root, MCP_FILE);
  const found = await lstat(file).catch(() => undefined);
  const value = found?.isFile() ? jsonOf(await readText(file).catch(() => '')) : undefined;
  const named = own(own(value, 'mcpServers'), 'phasegate');
  return named === undefined || isOurs(named) ? null : otherEntry(named, await serverEntry(root));
}

const NOT_ACCEPTED = `\`${MCP_FILE}\` changed while no process of Phasegate was looking, and is left alone: look at it with \`phasegate trust --guarded\`, then run \`phasegate init\` again`;

function otherEntry(named: unknown, entry: JsonObject): string {
  const words = oneLine(JSON.stringify(named)).slice(0, MOST_QUOTED);
  return `the server \`phasegate\` in \`${MCP_FILE}\` is not the one that \`init\` writes, which is ${JSON.stringify(entry)}; it is kept: ${words}`;
}

const MOST_QUOTED = 300;

function kept(problem: string | null): AttachedClient {
  return { change: 'kept', problem, text: null, undo: async () => undefined };
}

function left(why: string, entry: JsonObject): AttachedClient {
  const todo = `write \`"phasegate": ${JSON.stringify(entry)}\` under its \`mcpServers\``;
  return kept(`\`${MCP_FILE}\` ${why}: ${todo}`);
}

/** How a client starts our tools. Where the command is installed in the project, no other is meant. */
export async function serverEntry(root: string): Promise<typeof INSTALLED> {
  const inProject = await lstat(join(root, 'node_modules/phasegate')).catch(() => undefined);
  return inProject === undefined ? INSTALLED : IN_PROJECT;
}

const INSTALLED: { readonly command: string; readonly args: readonly string[] } = {
  command: 'phasegate',
  args: ['mcp'],
};
const IN_PROJECT: typeof INSTALLED = { command: 'npx', args: ['phasegate', 'mcp'] };

function isOurs(entry: unknown): boolean {
  return [INSTALLED, IN_PROJECT].some((ours) => canonicalJson(ours) === canonicalJson(entry as Json));
}

/** A client drops the whole file where half of it is missing: it is there as it was, or as it is to be. */
async function replace(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    // Not by more than before, not even for a moment; the mask of the process may take away more.
    await writeFile(draft, text, { flag: 'wx', mode: mode & 0o700 });
    await chmod(draft, mode);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Through no link, and without waiting for the one who writes to a pipe that was put in its place. */
async function readText(file: string): Promise<string> {
  return readRegular(file, { most: LARGEST_SETTINGS, links: 'refuse' }).toString('utf8');
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function textOf(value: JsonObject, indent: string | number): string {
  return `${JSON.stringify(value, null, indent)}\n`;
}
