import { type JsonObject, own, type ToolUse } from '@phasegate/core';
import type { HookAnswer, HookEvent } from '../../runtime/ports.ts';
import { type ClientAdapter, type HookFault, isFault, objectIn, placeIn, textIn } from './adapter.ts';
import { cardText, denialText, goOnText } from './texts.ts';
import {
  byName,
  isUnreadable,
  listing,
  mcpTool,
  meaningIn,
  OWN_TOOLS,
  onPath,
  onPaths,
  serverTool,
  shell,
  type ToolMeaning,
  type ToolMeanings,
  talks,
  toolOf,
} from './tools.ts';

/** Gemini CLI: its own events, and calls without an id. */
export const gemini: ClientAdapter = {
  client: 'gemini',
  read: readGemini,
  answer: answerGemini,
  deny: (reason) => ({ decision: 'deny', reason }),
};

const EVENTS: Readonly<Record<string, HookEvent['event']>> = {
  SessionStart: 'session_start',
  BeforeAgent: 'prompt',
  BeforeTool: 'before_tool',
  AfterTool: 'after_tool',
  BeforeToolSelection: 'tool_selection',
  AfterAgent: 'stop',
  SessionEnd: 'session_end',
};

function readGemini(payload: JsonObject): HookEvent | HookFault {
  const place = placeIn(payload, { session: ['session_id'], cwd: ['cwd'] });
  if (isFault(place)) return place;
  const name = textIn(payload, 'hook_event_name');
  if (name === undefined) return { fault: 'the event has no `hook_event_name`' };
  const event = EVENTS[name] ?? 'other';
  const [transcript, source] = [
    textIn(payload, 'transcript_path'),
    textIn(payload, 'source', 'trigger', 'reason'),
  ];
  const base = {
    client: 'gemini' as const,
    event,
    ...place,
    ...(transcript === undefined ? {} : { transcript }),
    ...(source === undefined ? {} : { source }),
  };
  if (event !== 'before_tool' && event !== 'after_tool') return base;
  const called = textIn(payload, 'tool_name');
  const input = objectIn(payload, 'tool_input');
  if (called === undefined) return { fault: 'the event names no tool' };
  if (input === undefined) return { fault: `the call of \`${called}\` has no input` };
  const meaning = meaningIn(GEMINI_TOOLS, called) ?? serverToolIn(payload, called);
  const tool = toolOf({ name: called, callId: null, input, rewrites: true }, meaning);
  if (event === 'before_tool') return { ...base, tool };
  const response = objectIn(payload, 'tool_response') ?? {};
  const failed = own(response, 'error') ?? null;
  return { ...base, tool, report: { ok: failed === null, output: own(response, 'llmContent') ?? null } };
}

/** The client says which server a tool is of; its name alone cannot, where names have underscores. */
function serverToolIn(payload: JsonObject, name: string): ToolMeaning | 'own' | undefined {
  const context = objectIn(payload, 'mcp_context');
  const [server, tool] =
    context === undefined ? [] : [textIn(context, 'server_name'), textIn(context, 'tool_name')];
  if (server !== undefined && tool !== undefined) return serverTool(server, tool);
  const [, first, rest] = /^mcp_([A-Za-z0-9-]+)_(.+)$/.exec(name) ?? [];
  return mcpTool(name) ?? (first === undefined || rest === undefined ? undefined : serverTool(first, rest));
}

const PATHS = ['file_path', 'absolute_path', 'path'];
const FOLDERS = ['dir_path', 'path'];

/** The tools of Gemini CLI by name. */
export const GEMINI_TOOLS: ToolMeanings = {
  run_shell_command: shell('command'),
  read_file: onPath('read_files', PATHS),
  read_many_files: onPaths('read_files', ['paths', 'include']),
  list_directory: onPath('list_files', FOLDERS, '.'),
  glob: listing(FOLDERS),
  search_file_content: onPath('grep', FOLDERS, '.'),
  grep_search: onPath('grep', FOLDERS, '.'),
  write_file: onPath('write_files', PATHS),
  replace: onPath('edit_file', PATHS),
  web_fetch: byName('fetch'),
  google_web_search: byName('fetch'),
  invoke_agent: agentNamed,
  delegate_to_agent: byName('spawn_agent'),
  codebase_investigator: byName('spawn_agent'),
  generalist: byName('spawn_agent'),
  write_todos: talks,
  ask_user: talks,
  activate_skill: talks,
  get_internal_docs: talks,
  enter_plan_mode: talks,
  exit_plan_mode: talks,
  complete_task: talks,
  update_topic: talks,
};

/**
 * A subagent by its name; its own calls are then judged like any other of its session. The client's own agents work in
 * the same process. Any other may be one that is defined to run elsewhere, which is told the prompt over the network.
 */
function agentNamed(input: JsonObject): readonly ToolUse[] | null {
  const name = textIn(input, 'agent_name');
  if (name === undefined) return null;
  const spawned = { tool: 'spawn_agent', input: {} };
  return OWN_AGENTS.has(name) ? [spawned] : [spawned, { tool: 'fetch', input: {} }];
}

const OWN_AGENTS: ReadonlySet<string> = new Set(['generalist', 'codebase_investigator', 'cli_help']);

/** What its tools, and Phasegate's own, are called, of those that may be used. */
function namesOf(mayUse: (tool: string) => boolean): readonly string[] {
  const own = [...OWN_TOOLS].map((tool) => `mcp_phasegate_${tool}`);
  const usable = Object.entries(GEMINI_TOOLS).filter(([, meaning]) => {
    const uses = meaning(SAMPLE);
    if (uses === null || isUnreadable(uses)) return false;
    return uses === 'talks' || uses.every(({ tool }) => mayUse(tool));
  });
  return [...usable.map(([name]) => name), ...own];
}

/** An input that any of its tools would take. */
const SAMPLE = {
  agent_name: 'generalist',
  command: 'true',
  file_path: 'a',
  path: 'a',
  dir_path: 'a',
  paths: ['a'],
};

function answerGemini(answer: HookAnswer, event: HookEvent): JsonObject {
  switch (answer.kind) {
    case 'none':
      return {};
    case 'tools':
      // The list counts in this mode alone: the model then calls one of them, until it is not its turn any more.
      return {
        hookSpecificOutput: {
          hookEventName: 'BeforeToolSelection',
          toolConfig: { mode: 'ANY', allowedFunctionNames: namesOf(answer.mayUse) },
        },
      };
    case 'changed':
      return { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: answer.input } };
    case 'deny':
      return { decision: 'deny', reason: denialText(answer) };
    case 'go_on':
      return { decision: 'deny', reason: goOnText(answer) };
    case 'block':
      return { decision: 'deny', reason: `[phasegate] ${answer.reason}` };
    case 'card': {
      // A conversation is summed up before any prompt, and nobody is told. What stays as it is begins with the newest
      // prompt, so the whole card is there; a session begins with a prompt as well.
      const isPrompt = event.event === 'prompt';
      const hookEventName = isPrompt ? 'BeforeAgent' : 'SessionStart';
      const additionalContext = cardText({ ...answer, whole: isPrompt });
      return { hookSpecificOutput: { hookEventName, additionalContext } };
    }
  }
}
