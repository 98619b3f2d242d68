import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { isFarTooDeep } from '../../limits/jsonDepth.ts';
import type { HookClient, WrittenCall } from '../../runtime/ports.ts';
import { CODEX_TOOLS } from './codex.ts';
import { COPILOT_TOOLS } from './copilot.ts';
import { GEMINI_TOOLS } from './gemini.ts';
import { meaningIn, talks } from './tools.ts';

/**
 * The calls in a client's transcript; null where it cannot be read, or nobody knows how. Its path is the client's word:
 * only a plain file is read, in pieces, one at a time for each session and few in all, so that nobody else is kept
 * waiting by it.
 */
export async function callsIn(
  client: HookClient,
  file: string,
  session = '',
): Promise<readonly WrittenCall[] | null> {
  const reader = READERS[client];
  if (reader === undefined) return null;
  const key = `${client}/${session}`;
  const queue = queues.get(key) ?? { last: Promise.resolve(), waiting: 0 };
  const isNew = queue.waiting === 0;
  if (queue.waiting >= MOST_WAITING || (isNew && queues.size >= MOST_SESSIONS)) throw new Error(BUSY);
  queues.set(key, queue);
  queue.waiting += 1;
  const calls = queue.last.then(() => read(file, reader()));
  queue.last = calls;
  try {
    return await calls;
  } finally {
    queue.waiting -= 1;
    if (queue.waiting === 0) queues.delete(key);
  }
}

/** Readings of each session, of which one is under way. */
const queues = new Map<string, { last: Promise<unknown>; waiting: number }>();
const MOST_WAITING = 8;
const MOST_SESSIONS = 16;
const BUSY = 'too many transcripts are being read';

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
/** In characters; results of tools with pictures are the longest lines there are. */
const LONGEST_LINE = 16 * 1024 * 1024;

/** Takes the lines of a transcript one by one. */
interface Reader {
  take(line: JsonObject): void;
  calls(): readonly WrittenCall[];
}

/** Puts lines together from pieces; throws at one that nobody would write. The last line may be in the middle of being written. */
function createLines(take: (line: JsonObject) => void) {
  const decoder = new StringDecoder('utf8');
  let begun: string[] = [];
  let size = 0;
  function whole(line: string): void {
    if (isFarTooDeep(Buffer.from(line))) throw new Error('a line is nested too deeply');
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
      size += first.length;
      for (const next of others) {
        whole(begun.join(''));
        begun = [next];
        size = next.length;
      }
      if (size > LONGEST_LINE) throw new Error('a line is too long');
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

/** Codex: every call that may act; of those it can tell no hook of, or of which it has none, nothing is known. */
function codex(): Reader {
  const made: WrittenCall[] = [];
  /** By the id of a call, what came of it. */
  const results = new Map<string, Json | undefined>();
  return {
    take(line) {
      const item = own(line, 'payload');
      if (own(line, 'type') !== 'response_item' || !isJsonObject(item)) return;
      const { type: kind, call_id: id, name = kind } = item;
      if (typeof kind !== 'string' || typeof id !== 'string' || typeof name !== 'string') return;
      if (kind.endsWith('_call_output')) results.set(id, own(item, 'output'));
      if (!CALLS.has(kind) || CODEX_UNTOLD.has(name) || isTalk('codex', name)) return;
      const at = own(line, 'timestamp');
      made.push({ id, name, at: typeof at === 'string' ? at : null });
    },
    // What begins with its answer may be before its hook; of a tool that there is not, no hook is asked.
    calls: () =>
      made.filter(
        ({ id, name }) =>
          ACTING.has(name) || (results.has(id) && results.get(id) !== `unsupported call: ${name}`),
      ),
  };
}

const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'local_shell_call']);

/** Compared as soon as they are written down. */
const ACTING: ReadonlySet<string> = new Set([
  'shell',
  'local_shell',
  'local_shell_call',
  'shell_command',
  'exec_command',
  'write_stdin',
  'apply_patch',
]);

/** These only look, or tell agents something; and `exec` is made of calls that are told under ids of their own. */
const CODEX_UNTOLD: ReadonlySet<string> = new Set([
  'exec',
  'followup_task',
  'get_goal',
  'interrupt_agent',
  'list_agents',
  'list_mcp_resource_templates',
  'list_mcp_resources',
  'read_mcp_resource',
  'resume_agent',
  'send_input',
  'send_message',
  'view_image',
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
function isTalk(client: keyof typeof TOOLS, name: string): boolean {
  return meaningIn(TOOLS[client], name) === talks;
}

const TOOLS = { codex: CODEX_TOOLS, gemini: GEMINI_TOOLS, copilot: COPILOT_TOOLS };

const READERS: Readonly<Partial<Record<HookClient, () => Reader>>> = { claude, codex, gemini, copilot };
