import type { ClientKind, ClientName } from '../clientKind.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

/** Every client that can be started with a scripted model. */
export const CLIENTS: Readonly<Record<ClientName, ClientKind>> = { claude, codex, gemini, opencode, copilot };
