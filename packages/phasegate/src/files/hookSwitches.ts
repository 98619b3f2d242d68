/** What switches the hooks of a client off. */
export interface HookSwitch {
  /** Where it is looked for, from the project. */
  readonly project: readonly string[];
  /** The same in the home folder. */
  readonly home: readonly string[];
  /** The keys that lead to it, and its value: in JSON, or in TOML where the file says so. */
  readonly keys: readonly [string, ...string[]];
  readonly off: boolean;
  /** A file that an agent or its user may leave, in which it is tried; `~/` is the home folder. */
  readonly tried: string;
}

/** By the name of a client. Of opencode nothing is known that does. */
export const HOOK_SWITCHES: Readonly<Record<string, HookSwitch>> = {
  claude: {
    project: ['.claude/settings.json', '.claude/settings.local.json'],
    home: ['.claude/settings.json'],
    keys: ['disableAllHooks'],
    off: true,
    tried: '.claude/settings.local.json',
  },
  codex: {
    project: ['.codex/config.toml'],
    home: ['.codex/config.toml'],
    keys: ['features', 'hooks'],
    off: false,
    tried: '~/.codex/config.toml',
  },
  gemini: {
    project: ['.gemini/settings.json'],
    home: ['.gemini/settings.json'],
    keys: ['hooksConfig', 'enabled'],
    off: false,
    tried: '~/.gemini/settings.json',
  },
  copilot: {
    project: ['.github/copilot/settings.json', '.github/copilot/settings.local.json'],
    home: ['.copilot/settings.json', '.copilot/config.json'],
    keys: ['disableAllHooks'],
    off: true,
    tried: '.github/copilot/settings.json',
  },
};

/** The text of a file that has the switch and nothing else. */
export function switchText({ keys, off, tried }: HookSwitch): string {
  if (tried.endsWith('.toml')) return `[${keys.slice(0, -1).join('.')}]\n${keys.at(-1)} = ${off}\n`;
  return `${JSON.stringify(keys.reduceRight<unknown>((value, key) => ({ [key]: value }), off))}\n`;
}

/** Whether the text of a file switches hooks off; where it cannot be read for certain, whether it may. */
export function isSwitchedOff(path: string, text: string, { keys, off }: HookSwitch): boolean {
  // Wherever in it: what its tables are is not known without reading all of TOML.
  if (path.endsWith('.toml')) return text.split('\n').some(isOffInToml);
  try {
    let value: unknown = JSON.parse(text.replace(/^\ufeff/u, ''));
    for (const key of keys) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
      value = (value as Readonly<Record<string, unknown>>)[key];
    }
    return value === off;
  } catch {
    // Some clients take comments.
    return text.includes(keys[0]) || text.includes('\\u');
  }
}

function isOffInToml(line: string): boolean {
  return /(?:^|[.{,])(?:codex_)?hooks=false/.test(line.replace(/["'\s]/g, ''));
}
