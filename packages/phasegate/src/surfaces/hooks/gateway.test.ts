import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { HookClient } from '../../runtime/ports.ts';
import { openHookBed } from './fixtures/hookBed.ts';

/** How each client tells of a call of a tool that is attached to Phasegate's own server. */
const CALLS: Readonly<Record<string, (tool: string, cwd: string) => JsonObject>> = {
  claude: (tool, cwd) => ({
    session_id: 's',
    cwd,
    hook_event_name: 'PreToolUse',
    tool_name: `mcp__phasegate__notes__${tool}`,
    tool_input: {},
    tool_use_id: `toolu_${tool}`,
  }),
  codex: (tool, cwd) => ({
    session_id: 's',
    cwd,
    turn_id: 't',
    hook_event_name: 'PreToolUse',
    tool_name: `mcp__phasegate__notes__${tool}`,
    tool_input: {},
    tool_use_id: `call_${tool}`,
  }),
  gemini: (tool, cwd) => ({
    session_id: 's',
    cwd,
    hook_event_name: 'BeforeTool',
    tool_name: `mcp_phasegate_notes__${tool}`,
    tool_input: {},
    mcp_context: { server_name: 'phasegate', tool_name: `notes__${tool}` },
  }),
  copilot: (tool, cwd) => ({ sessionId: 's', cwd, toolName: `phasegate-notes__${tool}`, toolArgs: {} }),
  opencode: (tool, cwd) => ({
    hook_event_name: 'tool.execute.before',
    sessionID: 's',
    cwd,
    callID: tool,
    tool: `phasegate_notes__${tool}`,
    args: {},
  }),
};

test.each(Object.keys(CALLS))(
  'tools of servers that are attached to Phasegate are judged by their own names in %s',
  async (client) => {
    const bed = openHookBed({ plan: { allowedTools: ['mcp:notes/echo'] } });
    await bed.start();
    const ask = async (tool: string) =>
      JSON.stringify(await bed.raw(client as HookClient, CALLS[client]?.(tool, bed.root) ?? {}));

    expect(await ask('echo')).toBe('{}');
    expect(await ask('erase')).toContain('`mcp:notes/erase` is not allowed in phase `PLAN`');
    // Only its own name is one of Phasegate's own tools.
    expect(await ask('complete_phase')).toContain('`mcp:notes/complete_phase` is not allowed');
  },
);
