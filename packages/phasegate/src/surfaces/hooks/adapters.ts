import type { HookClient } from '../../runtime/ports.ts';
import type { ClientAdapter } from './adapter.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

/** Every client's adapter. */
export const ADAPTERS: Readonly<Record<HookClient, ClientAdapter>> = {
  claude,
  codex,
  gemini,
  copilot,
  cursor,
  opencode,
};
