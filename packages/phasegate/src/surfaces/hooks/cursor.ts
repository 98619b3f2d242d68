import { type Json, type JsonObject, own } from '@phasegate/core';
import type { HookAnswer, HookEvent, HookTool } from '../../runtime/ports.ts';
import { type ClientAdapter, type HookFault, isFault, objectIn, placeIn, textIn } from './adapter.ts';
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

/** Cursor, by its documentation: it was not run. */
export const cursor: ClientAdapter = {
  client: 'cursor',
  read: readCursor,
  answer: answerCursor,
  deny: (reason) => ({
    permission: 'deny',
    agent_message: reason,
    user_message: reason,
  }),
};

const EVENTS: Readonly<Record<string, HookEvent['event']>> = {
  sessionstart: 'session_start',
  beforesubmitprompt: 'prompt',
  userpromptsubmit: 'prompt',
  pretooluse: 'before_tool',
  beforeshellexecution: 'before_tool',
  beforemcpexecution: 'before_tool',
  beforereadfile: 'before_tool',
  posttooluse: 'after_tool',
  posttoolusefailure: 'after_tool',
  stop: 'stop',
  subagentstart: 'subagent_start',
  subagentstop: 'subagent_stop',
  sessionend: 'session_end',
};

function readCursor(payload: JsonObject): HookEvent | HookFault {
  const roots = own(payload, 'workspace_roots');
  const [root] = Array.isArray(roots) ? (roots as readonly Json[]) : [];
  const placed: JsonObject = typeof root === 'string' ? { ...payload, root } : payload;
  const place = placeIn(placed, { session: ['conversation_id', 'session_id'], cwd: ['cwd', 'root'] });
  if (isFault(place)) return place;
  const name = textIn(payload, 'hook_event_name');
  if (name === undefined) return { fault: 'the event has no `hook_event_name`' };
  const event = EVENTS[name.toLowerCase()] ?? 'other';
  const transcript = textIn(payload, 'transcript_path');
  const base = {
    client: 'cursor' as const,
    event,
    ...place,
    ...(transcript === undefined ? {} : { transcript }),
  };
  if (event !== 'before_tool' && event !== 'after_tool') return base;
  const tool = toolIn(payload, name.toLowerCase());
  if (isFault(tool)) return tool;
  if (event === 'before_tool') return { ...base, tool };
  const output = own(payload, 'tool_output') ?? own(payload, 'error_message') ?? null;
  return { ...base, tool, report: { ok: name.toLowerCase() === 'posttooluse', output } };
}

function toolIn(payload: JsonObject, event: string): HookTool | HookFault {
  const callId = textIn(payload, 'tool_use_id') ?? null;
  // These say what is about to happen in fields of the event itself.
  if (event === 'beforeshellexecution')
    return toolOf({ name: 'Shell', callId, input: payload, rewrites: false }, shell('command'));
  if (event === 'beforereadfile')
    return toolOf(
      { name: 'Read', callId, input: payload, rewrites: false },
      onPath('read_files', ['file_path']),
    );
  const name = textIn(payload, 'tool_name');
  if (name === undefined) return { fault: 'the event names no tool' };
  const input = objectIn(payload, 'tool_input');
  if (input === undefined) return { fault: `the call of \`${name}\` has no input` };
  if (event === 'beforemcpexecution')
    return toolOf({ name: `MCP:${name}`, callId, input, rewrites: false }, ofServer(payload, name));
  const meaning = name.startsWith('MCP:') ? ofServer(payload, name.slice(4)) : meaningIn(CURSOR_TOOLS, name);
  return toolOf({ name, callId, input, rewrites: true }, meaning);
}

/** Its events name no server; the program or address of one is told where there is one. */
function ofServer(payload: JsonObject, tool: string): ToolMeaning | 'own' {
  const from = textIn(payload, 'command', 'url');
  const isOurs = from === undefined || /(?:^|[/\\\s"'])phasegate(?:\.js)?(?:$|[\s"'])/.test(from);
  return serverTool(isOurs ? 'phasegate' : 'cursor', tool);
}

const PATHS = ['file_path', 'path', 'target_file', 'filePath'];

/** The tools of Cursor by name. */
const CURSOR_TOOLS: ToolMeanings = {
  Shell: shell('command'),
  Read: onPath('read_files', PATHS),
  Write: onPath('write_files', PATHS),
  Delete: onPath('write_files', PATHS),
  Edit: onPath('edit_file', PATHS),
  StrReplace: onPath('edit_file', PATHS),
  EditNotebook: onPath('edit_file', ['notebook_path', 'target_notebook', ...PATHS]),
  Grep: onPath('grep', ['path'], '.'),
  Glob: listing(['path', 'target_directory']),
  LS: onPath('list_files', ['path', 'target_directory'], '.'),
  WebFetch: byName('fetch'),
  WebSearch: byName('fetch'),
  Task: byName('spawn_agent'),
  TodoWrite: talks,
  AskQuestion: talks,
};

function answerCursor(answer: HookAnswer, event: HookEvent): JsonObject {
  switch (answer.kind) {
    case 'none':
    case 'tools':
      return {};
    case 'changed':
      return { permission: 'allow', updated_input: answer.input };
    case 'deny': {
      const reason = denialText(answer);
      return { permission: 'deny', agent_message: reason, user_message: reason };
    }
    case 'card':
      return event.event === 'session_start' ? { additional_context: cardText(answer) } : {};
    case 'go_on':
      return { followup_message: goOnText(answer) };
    case 'block':
      return { continue: false, user_message: `[phasegate] ${answer.reason}` };
  }
}
