import { type JsonObject, own } from '@phasegate/core';
import type { HookAnswer, HookEvent } from '../../runtime/ports.ts';
import { type ClientAdapter, type HookFault, isFault, objectIn, placeIn, textIn } from './adapter.ts';
import { answerClaude, CLAUDE_TOOLS, readClaude } from './claude.ts';
import { patch } from './patch.ts';
import { cardText, denialText, goOnText } from './texts.ts';
import {
  byName,
  listing,
  mcpTool,
  meaningIn,
  onPath,
  powerShell,
  serverTool,
  shell,
  type ToolMeaning,
  type ToolMeanings,
  talks,
  toolOf,
} from './tools.ts';

/** Copilot: in its own words, or by Claude Code's settings in Claude Code's. */
export const copilot: ClientAdapter = {
  client: 'copilot',
  read(payload) {
    if (own(payload, 'hook_event_name') === undefined) return asSubagent(readCopilot(payload), payload);
    const read = readClaude(payload, { client: 'copilot', tools: IN_CLAUDE_WORDS });
    const event = asCompacting(asSubagent(read, payload), payload);
    return isFault(event) ? event : { ...event, ...reportIn(event, payload), dialect: CLAUDE_WORDS };
  },
  answer: (answer, event) =>
    event.dialect === CLAUDE_WORDS ? answerClaude(answer, event) : answerCopilot(answer),
  // Understood in both: each takes what it knows.
  deny: (reason) => ({
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
    decision: 'block',
    reason,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }),
};

const CLAUDE_WORDS = 'claude';

/** A subagent has a session of its own that names the one it was started by; it stops when it is done. */
function asSubagent(event: HookEvent | HookFault, payload: JsonObject): HookEvent | HookFault {
  const agentId = textIn(payload, 'agentId', 'agent_id');
  const parent = textIn(payload, 'parentAgentId', 'parent_agent_id');
  if (isFault(event) || parent === undefined || agentId !== event.sessionId) return event;
  return { ...event, agentId, parent, event: event.event === 'stop' ? 'subagent_stop' : event.event };
}

/** It takes no words where it sums up; Claude Code begins its session anew then. */
function asCompacting(event: HookEvent | HookFault, payload: JsonObject): HookEvent | HookFault {
  const isDue = !isFault(event) && own(payload, 'hook_event_name') === 'PreCompact';
  return isDue ? { ...event, event: 'compacting' } : event;
}

/** What came of a call has names of its own in Claude Code's words. */
function reportIn({ event }: HookEvent, payload: JsonObject): Pick<HookEvent, 'report'> {
  const result = objectIn(payload, 'tool_result');
  if (event !== 'after_tool' || result === undefined) return {};
  const ok = textIn(result, 'result_type') !== 'failure' && own(payload, 'error') === undefined;
  return { report: { ok, output: own(result, 'text_result_for_llm') ?? null } };
}

function readCopilot(payload: JsonObject): HookEvent | HookFault {
  const place = placeIn(payload, { session: ['sessionId'], cwd: ['cwd'] });
  if (isFault(place)) return place;
  const event = eventOf(payload);
  const [transcript, source] = [textIn(payload, 'transcriptPath'), textIn(payload, 'source', 'reason')];
  const base = {
    client: 'copilot' as const,
    event,
    ...place,
    ...(transcript === undefined ? {} : { transcript }),
    ...(source === undefined ? {} : { source }),
  };
  if (event !== 'before_tool' && event !== 'after_tool') return base;
  const name = textIn(payload, 'toolName') ?? '';
  const input = objectIn(payload, 'toolArgs');
  if (name === '') return { fault: 'the event names no tool' };
  if (input === undefined) return { fault: `the call of \`${name}\` has no input` };
  const callId = textIn(payload, 'toolCallId') ?? null;
  const meaning = meaningIn(COPILOT_TOOLS, name) ?? ofServerNamed(name);
  const tool = toolOf({ name, callId, input, rewrites: true }, meaning);
  if (event === 'before_tool') return { ...base, tool };
  const result = objectIn(payload, 'toolResult') ?? {};
  const ok = textIn(result, 'resultType') !== 'failure' && own(payload, 'error') === undefined;
  return { ...base, tool, report: { ok, output: own(result, 'textResultForLlm') ?? null } };
}

/** Its own words do not name the event: each has fields that no other has. */
function eventOf(payload: JsonObject): HookEvent['event'] {
  const named = textIn(payload, 'hookEventName');
  if (named !== undefined) return NAMED[named.toLowerCase()] ?? 'other';
  const has = (name: string) => own(payload, name) !== undefined;
  if (has('toolName')) return has('toolResult') || has('error') ? 'after_tool' : 'before_tool';
  // Whatever speaks of a tool is about one, also where its name is missing.
  if (has('toolArgs')) return 'before_tool';
  if (has('agentName')) return has('stopReason') ? 'subagent_stop' : 'subagent_start';
  if (has('stopReason')) return 'stop';
  if (has('trigger')) return 'compacting';
  if (has('source') || has('initialPrompt')) return 'session_start';
  if (has('prompt')) return 'prompt';
  return has('reason') ? 'session_end' : 'other';
}

const NAMED: Readonly<Record<string, HookEvent['event']>> = {
  pretooluse: 'before_tool',
  posttooluse: 'after_tool',
  posttoolusefailure: 'after_tool',
  sessionstart: 'session_start',
  sessionend: 'session_end',
  userpromptsubmitted: 'prompt',
  userpromptsubmit: 'prompt',
  agentstop: 'stop',
  stop: 'stop',
  subagentstart: 'subagent_start',
  subagentstop: 'subagent_stop',
  precompact: 'compacting',
};

/** A tool of an MCP server is called `SERVER-TOOL`. */
function ofServerNamed(name: string): ToolMeaning | 'own' | undefined {
  const [, server, tool] = /^(.+)-([^-]+)$/.exec(name) ?? [];
  return mcpTool(name) ?? (server === undefined || tool === undefined ? undefined : serverTool(server, tool));
}

const PATHS = ['path', 'file_path', 'filePath'];

/** The tools of Copilot by name. */
export const COPILOT_TOOLS: ToolMeanings = {
  bash: shell('command'),
  powershell: powerShell('command'),
  write_bash: shell('input'),
  write_powershell: powerShell('input'),
  view: onPath('read_files', PATHS),
  create: onPath('write_files', PATHS),
  edit: onPath('edit_file', PATHS),
  str_replace: onPath('edit_file', PATHS),
  str_replace_editor: onPath('edit_file', PATHS),
  apply_patch: patch('input', 'patch', 'command'),
  glob: listing(['path']),
  grep: onPath('grep', ['path'], '.'),
  rg: onPath('grep', ['path'], '.'),
  web_fetch: byName('fetch'),
  web_search: byName('fetch'),
  task: byName('spawn_agent'),
  read_bash: talks,
  stop_bash: talks,
  list_bash: talks,
  read_powershell: talks,
  stop_powershell: talks,
  list_powershell: talks,
  read_agent: talks,
  list_agents: talks,
  report_intent: talks,
  update_todo: talks,
  ask_user: talks,
  think: talks,
  skill: talks,
  task_complete: talks,
  exit_plan_mode: talks,
  fetch_copilot_cli_documentation: talks,
};

/** By Claude Code's settings it takes Claude Code's names for its tools, and keeps its own for what is in their input. */
const IN_CLAUDE_WORDS: ToolMeanings = {
  ...COPILOT_TOOLS,
  ...CLAUDE_TOOLS,
  Read: onPath('read_files', PATHS),
  Write: onPath('write_files', PATHS),
  Edit: onPath('edit_file', PATHS),
};

function answerCopilot(answer: HookAnswer): JsonObject {
  switch (answer.kind) {
    case 'none':
    case 'tools':
      return {};
    case 'changed':
      return { permissionDecision: 'allow', modifiedArgs: answer.input };
    case 'deny':
      return { permissionDecision: 'deny', permissionDecisionReason: denialText(answer) };
    case 'card':
      return { additionalContext: cardText(answer) };
    case 'go_on':
      return { decision: 'block', reason: goOnText(answer) };
    case 'block':
      return { decision: 'block', reason: `[phasegate] ${answer.reason}` };
  }
}
