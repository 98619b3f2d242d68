import type { JsonObject } from '@phasegate/core';
import { MCP_SECONDS } from '@phasegate/core/contract';
import { HOOK_SECONDS } from './hookScript.ts';
import { jsonFile } from './jsonFile.ts';
import { opencodePlugin } from './opencodePlugin.ts';
import { type ClientSettings, type Placed, SCOPE_HEADER, type SettingsFile } from './settingsFile.ts';
import { tomlServer } from './tomlServer.ts';

/** The clients whose hooks can be set up. */
export const CLIENTS: readonly ClientSettings[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    programs: ['claude'],
    folder: '.claude',
    // A key is not for a file that is committed.
    files: (_others, way) => [
      way === 'http'
        ? jsonFile({ path: '.claude/settings.local.json', hooks: claudeHttpHooks, secret: true })
        : jsonFile({ path: '.claude/settings.json', hooks: claudeHooks }),
    ],
    userFile: jsonFile({ path: '.claude/settings.json', hooks: claudeHooks }),
    after: [],
  },
  {
    name: 'codex',
    title: 'Codex',
    programs: ['codex'],
    folder: '.codex',
    files: () => [
      jsonFile({
        path: '.codex/hooks.json',
        hooks: ({ hook }) =>
          nested(CODEX_EVENTS, { type: 'command', command: shellWord(hook), timeout: HOOK_SECONDS }),
      }),
      tomlServer('.codex/config.toml'),
    ],
    after: [
      'Codex skips hooks that you have not trusted: open `codex` in this folder and trust them with `/hooks`',
    ],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    programs: ['gemini'],
    folder: '.gemini',
    files: () => [
      jsonFile({
        path: '.gemini/settings.json',
        hooks: geminiHooks,
        server: { key: 'mcpServers', value: ({ mcp }) => mcp },
      }),
    ],
    userFile: jsonFile({ path: '.gemini/settings.json', hooks: geminiHooks }),
    after: ['Gemini CLI runs hooks of a trusted folder only: trust it when `gemini` asks'],
  },
  {
    name: 'cursor',
    title: 'Cursor',
    programs: ['cursor', 'cursor-agent'],
    folder: '.cursor',
    files: () => [
      jsonFile({
        path: '.cursor/hooks.json',
        base: { version: 1 },
        hooks: ({ hook }) =>
          flat(CURSOR_EVENTS, { command: shellWord(hook), timeout: HOOK_SECONDS, failClosed: true }),
      }),
      jsonFile({ path: '.cursor/mcp.json', server: { key: 'mcpServers', value: ({ mcp }) => mcp } }),
    ],
    after: [],
  },
  {
    name: 'copilot',
    title: 'Copilot CLI',
    programs: ['copilot'],
    folder: '.github/hooks',
    // It runs the hooks of Claude Code's settings too, and one call is to be one event.
    files: (others) => (others.includes('claude') ? [] : [copilotFile('.github/hooks/phasegate.json')]),
    userFile: copilotFile('.copilot/hooks/phasegate.json'),
    after: [],
  },
  {
    name: 'opencode',
    title: 'opencode',
    programs: ['opencode'],
    folder: '.opencode',
    files: () => [
      // Not in `.opencode`: where that is, opencode writes packages of its own into it, which nobody has accepted.
      opencodePlugin(PLUGIN),
      jsonFile({
        path: 'opencode.json',
        base: { $schema: 'https://opencode.ai/config.json' },
        entry: { key: 'plugin', value: `./${PLUGIN}` },
        server: {
          key: 'mcp',
          value: ({ mcp }) => ({
            type: 'local',
            command: [mcp.command, ...mcp.args],
            enabled: true,
            timeout: MCP_SECONDS.answer * 1000,
          }),
        },
      }),
    ],
    after: [],
  },
];

/** The plugin of opencode, from the root. */
const PLUGIN = '.phasegate/opencode.js';

/** The client of that name. */
export function clientSettings(name: string): ClientSettings | undefined {
  return CLIENTS.find((client) => client.name === name);
}

/** Without a shell: what a shell is led by would decide whether the hook is run. */
function claudeHooks({ hook }: Placed) {
  const handler = { type: 'command', command: hook, args: [], timeout: HOOK_SECONDS, onFailure: 'block' };
  return nested(CLAUDE_EVENTS, handler);
}

/**
 * Calls of tools by HTTP; the rest by the program, which starts the server where none runs and asks it by its socket.
 * What something else at the port let pass is so found when the session stops.
 */
function claudeHttpHooks(placed: Placed) {
  const { url = '', key = '' } = placed.http ?? {};
  const headers = { Authorization: `Bearer ${key}`, [SCOPE_HEADER]: 'project' };
  const handler = { type: 'http', url, headers, timeout: HTTP_SECONDS, onFailure: 'block' };
  return { ...claudeHooks(placed), ...nested(CLAUDE_TOOL_EVENTS, handler) };
}

function geminiHooks({ hook, narrow }: Placed) {
  const timeout = HOOK_SECONDS * 1000;
  const events = narrow === true ? [...GEMINI_EVENTS, 'BeforeToolSelection'] : GEMINI_EVENTS;
  return nested(events, { name: 'phasegate', type: 'command', command: shellWord(hook), timeout });
}

function copilotFile(path: string): SettingsFile {
  const hooks = ({ hook }: Placed) =>
    flat(COPILOT_EVENTS, { type: 'command', bash: shellWord(hook), timeoutSec: HOOK_SECONDS });
  return jsonFile({ path, base: { version: 1 }, hooks });
}

/** Longer than the server takes to answer, or to say that it cannot. */
const HTTP_SECONDS = 20;
const CLAUDE_TOOL_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];
const CLAUDE_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'ConfigChange',
  // Claude Code begins its session anew afterwards; Copilot, which runs these hooks too, does not.
  'PreCompact',
  'SessionEnd',
];
const CODEX_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'SessionEnd',
];
const GEMINI_EVENTS = ['SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool', 'AfterAgent', 'SessionEnd'];
const CURSOR_EVENTS = [
  'sessionStart',
  'beforeSubmitPrompt',
  'preToolUse',
  'postToolUse',
  'subagentStart',
  'subagentStop',
  'stop',
  'sessionEnd',
];
const COPILOT_EVENTS = [
  'sessionStart',
  'userPromptSubmitted',
  'preToolUse',
  'postToolUse',
  'agentStop',
  'subagentStop',
  'preCompact',
  'sessionEnd',
];

function nested(events: readonly string[], handler: JsonObject): Readonly<Record<string, JsonObject>> {
  return flat(events, { hooks: [handler] });
}

function flat(events: readonly string[], entry: JsonObject): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(events.map((event) => [event, entry]));
}

/** A path as one word of a shell line; as it is where no shell would read it otherwise. */
function shellWord(path: string): string {
  return /[^\w@%+=:,./-]/.test(path) ? `'${path.replaceAll("'", "'\\''")}'` : path;
}
