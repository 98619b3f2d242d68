import { HOOK_SWITCHES, switchText } from '../../files/hookSwitches.ts';
import type { ClientName } from '../clientKind.ts';
import { recordOf } from '../protocol.ts';

/** What switches a client's hooks off, as a file that an agent or its user may leave; empty where nothing does. */
export function disabledBy(client: ClientName): readonly { readonly path: string; readonly text: string }[] {
  const found = HOOK_SWITCHES[client];
  return found === undefined ? [] : [{ path: found.tried, text: switchText(found) }];
}

/** The text of the file that holds a client's hooks, with one value in it that the client does not take. */
export function withWrongValue(client: ClientName, text: string): string {
  const settings = recordOf(JSON.parse(text));
  return `${JSON.stringify({ ...settings, ...WRONG[client] }, null, 2)}\n`;
}

const WRONG: Readonly<Record<ClientName, object>> = {
  claude: { permissions: 5 },
  // Not of a wrong type, but not known: the same to it.
  codex: { unknown: 5 },
  gemini: { general: 5 },
  opencode: { permission: 5 },
  copilot: { version: 'one' },
};

/** Clients that ask their user, once, whether a folder or its hooks are trusted, also where nobody is at their side. */
export const ASKS_FOR_TRUST: ReadonlySet<ClientName> = new Set(['codex', 'gemini', 'copilot']);
