import { randomUUID } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';

/** The file in which Claude Code finds the MCP servers of a project. */
export const MCP_FILE = '.mcp.json';

/** What became of the file. */
export interface AttachedClient {
  readonly change: 'created' | 'changed' | 'kept';
  /** Why Phasegate is not in it, with what to do; null where it is. */
  readonly problem: string | null;
  /** Puts back what was there. */
  undo(): Promise<void>;
}

/**
 * Names Phasegate's tools in the file, for Claude Code to find them without being told. Other servers, and whatever else
 * is in it, stay as they are; an entry of our name is the user's own.
 */
export async function attachClient(root: string): Promise<AttachedClient> {
  const entry = await serverEntry(root);
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
    await writeFile(file, textOf({ mcpServers: { phasegate: entry } }, 2), { flag: 'wx' });
    return { change: 'created', problem: null, undo: () => rm(file, { force: true }) };
  }
  const text = found.isFile() ? await readFile(file, 'utf8') : '';
  const value = found.isFile() ? jsonOf(text) : undefined;
  const servers = isJsonObject(value) ? (own(value, 'mcpServers') ?? {}) : undefined;
  if (!isJsonObject(value) || !isJsonObject(servers)) {
    return left('is not a file that can be added to', entry);
  }
  if (own(servers, 'phasegate') !== undefined) {
    return { change: 'kept', problem: null, undo: async () => undefined };
  }
  const added = { ...value, mcpServers: { ...servers, phasegate: entry } };
  await replace(file, textOf(added, indentOf(text)));
  return { change: 'changed', problem: null, undo: () => replace(file, text) };
}

function left(why: string, entry: JsonObject): AttachedClient {
  const todo = `write \`"phasegate": ${JSON.stringify(entry)}\` under its \`mcpServers\``;
  return { change: 'kept', problem: `\`${MCP_FILE}\` ${why}: ${todo}`, undo: async () => undefined };
}

/** Where the command is installed in the project, no other is meant. */
async function serverEntry(root: string): Promise<JsonObject> {
  const inProject = await lstat(join(root, 'node_modules/phasegate')).catch(() => undefined);
  return inProject === undefined
    ? { command: 'phasegate', args: ['mcp'] }
    : { command: 'npx', args: ['phasegate', 'mcp'] };
}

/** A client drops the whole file where half of it is missing: it is there as it was, or as it is to be. */
async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** As the file was written before. */
function indentOf(text: string): string | number {
  return /^\{\r?\n([\t ]+)"/.exec(text)?.[1] ?? 2;
}

function textOf(value: JsonObject, indent: string | number): string {
  return `${JSON.stringify(value, null, indent)}\n`;
}
