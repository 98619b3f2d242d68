import type { ClientName } from '../clientKind.ts';
import { recordOf } from '../protocol.ts';

/** What switches a client's hooks off, as a file that an agent or its user may leave; empty where nothing does. */
export function disabledBy(client: ClientName): readonly { readonly path: string; readonly text: string }[] {
  const json = (value: object) => `${JSON.stringify(value)}\n`;
  switch (client) {
    case 'claude':
      return [{ path: '.claude/settings.local.json', text: json({ disableAllHooks: true }) }];
    case 'gemini':
      return [{ path: '~/.gemini/settings.json', text: json({ hooksConfig: { enabled: false } }) }];
    case 'codex':
      return [{ path: '~/.codex/config.toml', text: '[features]\nhooks = false\n' }];
    case 'copilot':
      return [{ path: '.github/copilot/settings.json', text: json({ disableAllHooks: true }) }];
    case 'opencode':
      return [];
  }
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
