import { type Json, type JsonObject, own } from '@phasegate/core';
import type { HookAnswer, HookEvent, HookTool } from '../../runtime/ports.ts';
import { type ClientAdapter, type HookFault, isFault, objectIn, placeIn, textIn } from './adapter.ts';
import { cardText, denialText, goOnText } from './texts.ts';
import {
  byName,
  listing,
  mcpTool,
  meaningIn,
  onPath,
  powerShell,
  shell,
  skill,
  type ToolMeanings,
  talks,
  toolOf,
} from './tools.ts';

/** Claude Code: by HTTP or command, in the shape of 2.1. */
export const claude: ClientAdapter = {
  client: 'claude',
  read: (payload) => readClaude(payload, { client: 'claude', tools: CLAUDE_TOOLS }),
  answer: answerClaude,
  // Understood of every event: a decision to block, with its reason.
  deny: (reason) => ({
    decision: 'block',
    reason,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }),
};

/** Whose words they are: other clients took over the shape, with tools of their own. */
export interface ClaudeShaped {
  readonly client: HookEvent['client'];
  readonly tools: ToolMeanings;
}

/** Reads an event in the shape of Claude Code's. */
export function readClaude(payload: JsonObject, { client, tools }: ClaudeShaped): HookEvent | HookFault {
  const place = placeIn(payload, { session: ['session_id'], cwd: ['cwd'] });
  if (isFault(place)) return place;
  const name = textIn(payload, 'hook_event_name');
  if (name === undefined) return { fault: 'the event has no `hook_event_name`' };
  const event = EVENTS[name] ?? 'other';
  const [agentId, transcript, source] = [
    textIn(payload, 'agent_id'),
    textIn(payload, 'transcript_path'),
    textIn(payload, 'source', 'reason', 'trigger'),
  ];
  const base = {
    client,
    event,
    ...place,
    ...(agentId === undefined ? {} : { agentId }),
    ...(transcript === undefined ? {} : { transcript }),
    ...(source === undefined ? {} : { source }),
  };
  if (event !== 'before_tool' && event !== 'after_tool') return base;
  const tool = toolIn(payload, tools);
  if (isFault(tool)) return tool;
  if (event === 'before_tool') return { ...base, tool };
  const output = own(payload, 'tool_response') ?? own(payload, 'error') ?? null;
  return { ...base, tool, report: { ok: name === 'PostToolUse', output } };
}

function toolIn(payload: JsonObject, tools: ToolMeanings): HookTool | HookFault {
  const name = textIn(payload, 'tool_name');
  if (name === undefined) return { fault: 'the event names no tool' };
  const input = objectIn(payload, 'tool_input');
  if (input === undefined) return { fault: `the call of \`${name}\` has no input` };
  const callId = textIn(payload, 'tool_use_id') ?? null;
  const server = objectIn(payload, 'mcp_server');
  const meaning = meaningIn(tools, name) ?? mcpTool(name);
  const said = server === undefined ? undefined : textIn(server, 'name');
  // What the client says of the server is held against the name the tool has.
  const isOther = meaning === 'own' && said !== undefined && !/phasegate$/.test(said);
  return toolOf({ name, callId, input, rewrites: true }, isOther ? undefined : meaning);
}

const EVENTS: Readonly<Record<string, HookEvent['event']>> = {
  SessionStart: 'session_start',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  PostToolUseFailure: 'after_tool',
  Stop: 'stop',
  SubagentStart: 'subagent_start',
  SubagentStop: 'subagent_stop',
  PostCompact: 'compacted',
  ConfigChange: 'config_change',
  SessionEnd: 'session_end',
};

/** The tools of Claude Code by name; one that is not here is refused. */
export const CLAUDE_TOOLS: ToolMeanings = {
  Read: onPath('read_files', ['file_path']),
  NotebookRead: onPath('read_files', ['notebook_path', 'file_path']),
  LSP: onPath('read_files', ['filePath', 'file_path']),
  Glob: listing(['path']),
  LS: onPath('list_files', ['path'], '.'),
  Grep: onPath('grep', ['path'], '.'),
  Write: onPath('write_files', ['file_path']),
  Edit: onPath('edit_file', ['file_path']),
  MultiEdit: onPath('edit_file', ['file_path']),
  NotebookEdit: onPath('edit_file', ['notebook_path', 'file_path']),
  Bash: shell('command'),
  Monitor: shell('command'),
  PowerShell: powerShell('command'),
  WebFetch: byName('fetch'),
  WebSearch: byName('fetch'),
  Agent: byName('spawn_agent'),
  Task: byName('spawn_agent'),
  SendMessage: byName('spawn_agent'),
  TodoWrite: talks,
  TodoRead: talks,
  TaskCreate: talks,
  TaskGet: talks,
  TaskList: talks,
  TaskUpdate: talks,
  TaskOutput: talks,
  TaskStop: talks,
  BashOutput: talks,
  KillShell: talks,
  KillBash: talks,
  ToolSearch: talks,
  AskUserQuestion: talks,
  EnterPlanMode: talks,
  ExitPlanMode: talks,
  Skill: skill,
  SlashCommand: skill,
  ListMcpResourcesTool: talks,
  StructuredOutput: talks,
};

/** An answer in the shape of Claude Code's. */
export function answerClaude(answer: HookAnswer, event: HookEvent): JsonObject {
  switch (answer.kind) {
    case 'none':
    case 'tools':
      return {};
    case 'changed':
      return specific('PreToolUse', { permissionDecision: 'allow', updatedInput: answer.input });
    case 'deny':
      return specific('PreToolUse', {
        permissionDecision: 'deny',
        permissionDecisionReason: denialText(answer),
      });
    case 'card': {
      const name = CONTEXT_EVENTS[event.event];
      return name === undefined ? {} : specific(name, { additionalContext: cardText(answer) });
    }
    case 'go_on':
      return { decision: 'block', reason: goOnText(answer) };
    case 'block':
      return { decision: 'block', reason: `[phasegate] ${answer.reason}` };
  }
}

/** The events that take context; after a compaction the session starts anew, and takes it then. */
const CONTEXT_EVENTS: Readonly<Partial<Record<HookEvent['event'], string>>> = {
  session_start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  subagent_start: 'SubagentStart',
  after_tool: 'PostToolUse',
};

function specific(hookEventName: string, output: Readonly<Record<string, Json>>): JsonObject {
  return { hookSpecificOutput: { hookEventName, ...output } };
}
