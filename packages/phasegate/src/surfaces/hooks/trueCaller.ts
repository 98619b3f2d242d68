import { type JsonObject, own } from '@phasegate/core';
import type { HookClient } from '../../runtime/ports.ts';

/**
 * Who really calls: hooks in the settings of Claude Code are also run by Copilot, VS Code and Cursor. Only what a
 * payload has of its own decides.
 */
export function trueCaller(named: HookClient, payload: JsonObject): HookClient {
  const has = (name: string) => own(payload, name) !== undefined;
  if (has('cursor_version')) return 'cursor';
  if (has('toolName') || has('sessionId')) return 'copilot';
  const event = own(payload, 'hook_event_name');
  if (typeof event === 'string' && GEMINI_EVENTS.has(event)) return 'gemini';
  if (has('turn_id')) return 'codex';
  // Copilot in Claude's words: no id of the call, and the time, which Claude does not send.
  if (named === 'claude' && !has('tool_use_id') && typeof own(payload, 'timestamp') === 'string')
    return 'copilot';
  return named;
}

const GEMINI_EVENTS: ReadonlySet<string> = new Set([
  'BeforeTool',
  'AfterTool',
  'BeforeAgent',
  'AfterAgent',
  'BeforeModel',
  'AfterModel',
  'BeforeToolSelection',
  'PreCompress',
]);
