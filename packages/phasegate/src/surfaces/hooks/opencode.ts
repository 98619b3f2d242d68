import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import type { HookAnswer, HookEvent, WrittenCall } from '../../runtime/ports.ts';
import { type ClientAdapter, type HookFault, isFault, objectIn, placeIn, textIn } from './adapter.ts';
import { patch } from './patch.ts';
import { cardText, denialText, goOnText } from './texts.ts';
import {
  byName,
  listing,
  meaningIn,
  onPath,
  serverTool,
  shell,
  type ToolMeaning,
  type ToolMeanings,
  talks,
  toolOf,
} from './tools.ts';

/** opencode, by our plugin: it sends what its hooks are given, and throws where the answer is no. */
export const opencode: ClientAdapter = {
  client: 'opencode',
  read: readOpencode,
  answer: answerOpencode,
  deny: (reason) => ({ decision: 'deny', reason }),
};

const EVENTS: Readonly<Record<string, HookEvent['event']>> = {
  'session.created': 'session_start',
  'session.compacted': 'compacted',
  'session.idle': 'stop',
  'session.deleted': 'session_end',
  'chat.message': 'prompt',
  'tool.execute.before': 'before_tool',
  'tool.execute.after': 'after_tool',
};

function readOpencode(payload: JsonObject): HookEvent | HookFault {
  const place = placeIn(payload, { session: ['sessionID'], cwd: ['cwd', 'directory'] });
  if (isFault(place)) return place;
  const name = textIn(payload, 'hook_event_name');
  if (name === undefined) return { fault: 'the event has no `hook_event_name`' };
  const parent = textIn(payload, 'parentID');
  const said = EVENTS[name] ?? 'other';
  // A subagent has a session of its own, and comes back when it is done.
  const event = said === 'stop' && parent !== undefined ? 'subagent_stop' : said;
  const base = {
    client: 'opencode' as const,
    event,
    ...place,
    ...(parent === undefined ? {} : { parent }),
    ...(own(payload, 'last') === true ? { isLast: true } : {}),
    ...writtenIn(payload),
  };
  if (event !== 'before_tool' && event !== 'after_tool') return base;
  const called = textIn(payload, 'tool');
  if (called === undefined) return { fault: 'the event names no tool' };
  const input = objectIn(payload, 'args');
  if (input === undefined) return { fault: `the call of \`${called}\` has no input` };
  const callId = textIn(payload, 'callID') ?? null;
  const meaning = meaningIn(OPENCODE_TOOLS, called) ?? ofServerNamed(called);
  const tool = toolOf({ name: called, callId, input, rewrites: true }, meaning);
  if (event === 'before_tool') return { ...base, tool };
  return { ...base, tool, report: { ok: true, output: own(payload, 'output') ?? null } };
}

/** It has no transcript of its own to read: the plugin tells which calls it has seen the end of. */
function writtenIn(payload: JsonObject): Pick<HookEvent, 'written'> {
  const told = own(payload, 'calls');
  if (!Array.isArray(told)) return {};
  const calls = (told as readonly Json[]).filter(isJsonObject).flatMap((call): readonly WrittenCall[] => {
    const [id, name, at] = [textIn(call, 'callID'), textIn(call, 'tool'), textIn(call, 'at')];
    return id === undefined || name === undefined ? [] : [{ id, name, at: at ?? null }];
  });
  return { written: async () => ({ isSubagent: false, isWhole: false, calls }) };
}

/** A tool of an MCP server is called `SERVER_TOOL`. */
function ofServerNamed(name: string): ToolMeaning | 'own' | undefined {
  const [, server, tool] = /^([A-Za-z0-9-]+)_(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : serverTool(server, tool);
}

const PATHS = ['filePath', 'path', 'file_path'];

/** The tools of opencode by name. */
const OPENCODE_TOOLS: ToolMeanings = {
  bash: shell('command'),
  read: onPath('read_files', PATHS),
  list: onPath('list_files', ['path'], '.'),
  glob: listing(['path']),
  grep: onPath('grep', ['path'], '.'),
  write: onPath('write_files', PATHS),
  edit: onPath('edit_file', PATHS),
  multiedit: onPath('edit_file', PATHS),
  patch: patch('patchText', 'patch'),
  apply_patch: patch('patchText', 'patch'),
  webfetch: byName('fetch'),
  websearch: byName('fetch'),
  codesearch: byName('fetch'),
  task: byName('spawn_agent'),
  todowrite: talks,
  todoread: talks,
  question: talks,
  skill: talks,
  plan_enter: talks,
  plan_exit: talks,
  // What it makes of a call it could not read: it only says so.
  invalid: talks,
};

function answerOpencode(answer: HookAnswer): JsonObject {
  switch (answer.kind) {
    case 'none':
    case 'tools':
      return {};
    case 'changed':
      return { args: answer.input };
    case 'deny':
      return { decision: 'deny', reason: denialText(answer) };
    case 'card':
      return { context: cardText(answer) };
    case 'go_on':
      return { go_on: goOnText(answer) };
    case 'block':
      return { decision: 'deny', reason: `[phasegate] ${answer.reason}` };
  }
}
