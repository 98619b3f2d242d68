import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import type { HookClient, WrittenCall } from '../../runtime/ports.ts';
import { COPILOT_TOOLS } from './copilot.ts';
import { GEMINI_TOOLS } from './gemini.ts';
import { meaningIn, talks } from './tools.ts';

/**
 * The calls in a client's transcript; null where it cannot be read, or nobody knows how. Its path is the client's word:
 * only a plain file is read, one at a time and in pieces, so that nobody else is kept waiting by it.
 */
export function callsIn(client: HookClient, file: string): Promise<readonly WrittenCall[] | null> {
  const reader = READERS[client];
  if (reader === undefined) return Promise.resolve(null);
  const calls = last.then(() => read(file, reader()));
  last = calls;
  return calls;
}

let last: Promise<unknown> = Promise.resolve();

async function read(file: string, reader: Reader): Promise<readonly WrittenCall[] | null> {
  let handle: FileHandle | undefined;
  try {
    // A pipe that nobody writes to would be waited for, and with a few of them everything else.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (!found.isFile() || found.size > LARGEST) return null;
    const buffer = Buffer.alloc(PIECE);
    const lines = createLines(reader.take);
    for (let at = 0; at < found.size; ) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(PIECE, found.size - at), at);
      if (bytesRead === 0) break;
      lines.add(buffer.subarray(0, bytesRead));
      at += bytesRead;
      await setImmediate();
    }
    lines.end();
    return reader.calls();
  } catch {
    return null;
  } finally {
    await handle?.close();
  }
}

const PIECE = 256 * 1024;

/** Whether a client writes down what we can read. */
export function isRead(client: HookClient): boolean {
  return READERS[client] !== undefined;
}

const LARGEST = 256 * 1024 * 1024;

/** Takes the lines of a transcript one by one. */
interface Reader {
  take(line: JsonObject): void;
  calls(): readonly WrittenCall[];
}

/** Puts lines together from pieces. The last line may be in the middle of being written. */
function createLines(take: (line: JsonObject) => void) {
  const decoder = new StringDecoder('utf8');
  let begun: string[] = [];
  function whole(line: string): void {
    try {
      const value = JSON.parse(line) as Json;
      if (isJsonObject(value)) take(value);
    } catch {
      // No line of a transcript.
    }
  }
  return {
    add(piece: Buffer) {
      const [first = '', ...others] = decoder.write(piece).split('\n');
      begun.push(first);
      for (const next of others) {
        whole(begun.join(''));
        begun = [next];
      }
    },
    end: () => whole(begun.join('')),
  };
}

/** Claude Code: a call is in a message of the assistant, its result in one of the user. */
function claude(): Reader {
  const made: WrittenCall[] = [];
  /** By the id of a call, whether it was carried out. */
  const results = new Map<string, boolean>();
  return {
    take(line) {
      const content = own(own(line, 'message'), 'content');
      const at = own(line, 'timestamp');
      for (const block of Array.isArray(content) ? (content as readonly Json[]).filter(isJsonObject) : []) {
        if (block.type === 'tool_result') results.set(String(block.tool_use_id), !isUnasked(block));
        if (block.type !== 'tool_use') continue;
        made.push({ id: String(block.id), name: String(block.name), at: typeof at === 'string' ? at : null });
      }
    },
    calls: () => made.filter(({ id }) => results.get(id) === true),
  };
}

/**
 * Its input was wrong, so nothing was carried out and no hook was asked. The client says so at the very beginning of an
 * error: further on, and in what went well, the words are those of a program.
 */
function isUnasked({ is_error, content }: JsonObject): boolean {
  return is_error === true && typeof content === 'string' && content.startsWith('<tool_use_error>');
}

/** Codex: what runs programs or writes files; other functions reach no hook. */
function codex(): Reader {
  const made: WrittenCall[] = [];
  return {
    take(line) {
      const item = own(line, 'payload');
      if (own(line, 'type') !== 'response_item' || !isJsonObject(item)) return;
      const [kind, id, name] = [item.type, own(item, 'call_id'), own(item, 'name')];
      if ((kind !== 'function_call' && kind !== 'custom_tool_call') || typeof id !== 'string') return;
      if (typeof name !== 'string' || !ACTING.has(name)) return;
      const at = own(line, 'timestamp');
      made.push({ id, name, at: typeof at === 'string' ? at : null });
    },
    calls: () => made,
  };
}

const ACTING: ReadonlySet<string> = new Set([
  'shell',
  'local_shell',
  'exec_command',
  'write_stdin',
  'apply_patch',
]);

/** Gemini CLI: messages are written again as they grow; a call is in them when it has ended. */
function gemini(): Reader {
  const made = new Map<string, WrittenCall>();
  return {
    take(line) {
      const calls = own(line, 'toolCalls');
      for (const call of Array.isArray(calls) ? (calls as readonly Json[]).filter(isJsonObject) : []) {
        const { id, name, args, timestamp } = call;
        // What failed was refused by a hook, or had an input that reached none.
        if (typeof id !== 'string' || typeof name !== 'string' || call.status !== 'success') continue;
        if (isTalk('gemini', name) || !isJsonObject(args)) continue;
        const at = typeof timestamp === 'string' ? timestamp : null;
        made.set(id, { id, name, input: args, at });
      }
    },
    calls: () => [...made.values()],
  };
}

/** Copilot CLI: a call is told when it begins, and whether it went well when it has ended. */
function copilot(): Reader {
  const begun = new Map<string, WrittenCall>();
  const made: WrittenCall[] = [];
  return {
    take(line) {
      const data = own(line, 'data');
      if (!isJsonObject(data) || typeof data.toolCallId !== 'string') return;
      const { toolCallId: id, toolName: name, arguments: input } = data;
      if (own(line, 'type') === 'tool.execution_start' && typeof name === 'string' && isJsonObject(input)) {
        const at = own(line, 'timestamp');
        if (!isTalk('copilot', name))
          begun.set(id, { id, name, input, at: typeof at === 'string' ? at : null });
      }
      const call = begun.get(id);
      if (own(line, 'type') !== 'tool.execution_complete' || data.success !== true || call === undefined)
        return;
      begun.delete(id);
      made.push(call);
    },
    calls: () => made,
  };
}

/** Whether a tool only talks, about which its client may not ask. */
function isTalk(client: 'gemini' | 'copilot', name: string): boolean {
  const tools = client === 'gemini' ? GEMINI_TOOLS : COPILOT_TOOLS;
  return meaningIn(tools, name) === talks;
}

const READERS: Readonly<Partial<Record<HookClient, () => Reader>>> = { claude, codex, gemini, copilot };
