import {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  PhasegateError,
} from '@phasegate/core';
import { jsonFault } from '@phasegate/core/model';
import { HOOK_FOLDER, type Placed, SCOPE_HEADER, type SettingsFile } from './settingsFile.ts';

/** What of a JSON file is ours. */
export interface JsonParts {
  readonly path: string;
  /** Whether what is ours holds a key. */
  readonly secret?: boolean;
  /** Keys that the file must have; a value that is there stays. */
  readonly base?: JsonObject;
  /** One entry for each event, in the list that `hooks` has for it. */
  readonly hooks?: (placed: Placed) => Readonly<Record<string, JsonObject>>;
  /** Our MCP server, under the name `phasegate`. */
  readonly server?: { readonly key: string; value(placed: Placed): Json };
  /** One entry of ours in a list. */
  readonly entry?: { readonly key: string; readonly value: string };
}

/** A file of settings in JSON. Comments would be lost, so a file that has some is refused and left as it is. */
export function jsonFile(parts: JsonParts): SettingsFile {
  const { path, base = {}, hooks, server, entry, secret = false } = parts;
  return {
    path,
    secret,
    add(text, placed) {
      const found = text === null || text.trim() === '' ? {} : parsed(path, text);
      const value: Record<string, Json> = { ...base, ...withoutOurs(path, found) };
      if (hooks !== undefined) value.hooks = withEntries(path, own(value, 'hooks'), hooks(placed));
      if (server !== undefined) {
        const servers = own(value, server.key) ?? {};
        if (!isJsonObject(servers)) throw wrong(path, `\`${server.key}\` is not an object`);
        // An entry of our name that is not ours is the user's own.
        value[server.key] = { phasegate: server.value(placed), ...servers };
      }
      if (entry !== undefined) {
        const list = own(value, entry.key) ?? [];
        if (!Array.isArray(list)) throw wrong(path, `\`${entry.key}\` is not a list`);
        value[entry.key] = [...list, entry.value];
      }
      const written = textOf(value, text);
      return text !== null && canonicalJson(value) === canonicalJson(found) ? text : written;
    },
    remove(text) {
      const found = parsed(path, text);
      const left = withoutOurs(path, found);
      const isOnlyBase = Object.entries(left).every(
        ([name, value]) => JSON.stringify(own(base, name)) === JSON.stringify(value),
      );
      if (isOnlyBase) return null;
      return canonicalJson(left) === canonicalJson(found) ? text : textOf(left, text);
    },
  };

  function withoutOurs(file: string, found: JsonObject): JsonObject {
    const left: Record<string, Json> = { ...found };
    const lists = own(found, 'hooks');
    if (hooks !== undefined && lists !== undefined) {
      if (!isJsonObject(lists)) throw wrong(file, '`hooks` is not an object');
      const kept = Object.entries(lists).flatMap(([event, list]): [string, Json][] => {
        if (!Array.isArray(list)) return [[event, list]];
        const others = list.filter((entry) => !isOurs(entry));
        return others.length === 0 && list.length > 0 ? [] : [[event, others]];
      });
      if (kept.length === 0 && Object.keys(lists).length > 0) delete left.hooks;
      else left.hooks = Object.fromEntries(kept);
    }
    const list = entry === undefined ? undefined : own(found, entry.key);
    if (entry !== undefined && Array.isArray(list) && list.includes(entry.value)) {
      const others = list.filter((one) => one !== entry.value);
      if (others.length === 0) delete left[entry.key];
      else left[entry.key] = others;
    }
    const servers = server === undefined ? undefined : own(found, server.key);
    if (server !== undefined && isJsonObject(servers) && isOurServer(own(servers, 'phasegate'))) {
      const { phasegate: _ours, ...others } = servers;
      if (Object.keys(others).length === 0) delete left[server.key];
      else left[server.key] = others;
    }
    return left;
  }
}

/** The JSON object of a file, or a fault with its place. */
export function parsed(path: string, text: string): JsonObject {
  const fault = jsonFault(text.replace(/^\ufeff/u, ' '));
  if (fault !== null) {
    const before = text.slice(0, fault.offset).split('\n');
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    const comment = /^\s*\/[/*]/.test(text.slice(Math.max(fault.offset - 1, 0)));
    throw wrong(
      path,
      comment
        ? `${place}: a comment, which would be lost if anything were added to the file`
        : `${place}: ${fault.message}`,
    );
  }
  const value = JSON.parse(text.replace(/^\ufeff/u, '')) as Json;
  if (!isJsonObject(value)) throw wrong(path, 'it is not a JSON object');
  return value;
}

/** How a JSON text is indented. */
export function indentOf(text: string): string | number {
  return /^\{\r?\n([\t ]+)"/.exec(text)?.[1] ?? 2;
}

/** Whether an entry runs a program of ours or asks our server, wherever in it. */
function isOurs(entry: Json): boolean {
  const text = JSON.stringify(entry);
  return text.includes(`/${HOOK_FOLDER}/`) || text.includes(`"${SCOPE_HEADER}"`);
}

/** As every version has written it, in any client's words. */
function isOurServer(entry: Json | undefined): boolean {
  if (!isJsonObject(entry)) return false;
  const { command, args = [] } = entry;
  const words = [...(Array.isArray(command) ? command : [command]), ...(Array.isArray(args) ? args : [])];
  return ['phasegate mcp', 'npx phasegate mcp'].includes(words.join(' '));
}

function withEntries(
  path: string,
  found: Json | undefined,
  ours: Readonly<Record<string, JsonObject>>,
): JsonObject {
  const lists: Record<string, Json> = { ...(isJsonObject(found) ? found : {}) };
  for (const [event, entry] of Object.entries(ours)) {
    const list = own(lists, event) ?? [];
    if (!Array.isArray(list)) throw wrong(path, `\`hooks.${event}\` is not a list`);
    lists[event] = [...list, entry];
  }
  return lists;
}

function wrong(path: string, message: string): PhasegateError {
  return new PhasegateError('config_invalid', `\`${path}\`: ${message}`, {
    hint: 'correct the file, then run `phasegate init` again; nothing was written',
  });
}

/** As the file was indented before. */
function textOf(value: JsonObject, before: string | null): string {
  return `${JSON.stringify(value, null, indentOf(before ?? ''))}\n`;
}
