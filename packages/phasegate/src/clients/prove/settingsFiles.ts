import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegular } from '../../files/readRegular.ts';
import type { ClientName } from '../clientKind.ts';

/** Where a client takes its settings from: files, or folders of which all files count. */
export interface SettingsPlaces {
  /** In the project; the first is what `phasegate init` writes its hooks into. */
  readonly project: readonly [string, ...string[]];
  /** In the home of the user. Nothing here holds a credential. */
  readonly home: readonly string[];
  /** Of the machine. */
  readonly system: readonly string[];
}

/** The settings of each client. */
export const SETTINGS_FILES: Readonly<Record<ClientName, SettingsPlaces>> = {
  claude: {
    project: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
    home: ['.claude/settings.json', '.claude/settings.local.json'],
    system: ['/etc/claude-code'],
  },
  codex: {
    project: ['.codex/hooks.json', '.codex/config.toml'],
    home: ['.codex/hooks.json', '.codex/config.toml'],
    system: ['/etc/codex'],
  },
  gemini: {
    project: ['.gemini/settings.json'],
    home: ['.gemini/settings.json', '.gemini/trustedFolders.json'],
    system: ['/etc/gemini-cli'],
  },
  opencode: {
    project: [
      'opencode.json',
      'opencode.jsonc',
      '.opencode/plugin',
      '.opencode/plugins',
      '.opencode/opencode.json',
      '.opencode/opencode.jsonc',
    ],
    home: [
      '.config/opencode/opencode.json',
      '.config/opencode/opencode.jsonc',
      '.config/opencode/config.json',
      '.config/opencode/plugin',
      '.config/opencode/plugins',
    ],
    system: ['/etc/opencode'],
  },
  copilot: {
    project: [
      '.github/hooks',
      '.github/copilot/settings.json',
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.mcp.json',
    ],
    home: ['.copilot/hooks', '.copilot/mcp-config.json'],
    system: ['/etc/github-copilot'],
  },
};

/** A file of settings with its hash. */
export interface SettingsFile {
  /** From the project, or with `~/` from the home, or absolute. */
  readonly path: string;
  readonly sha256: string;
}

/** Every file a client takes settings from, as it is now, by path. */
export async function settingsNow(
  client: ClientName,
  { project, home, stateDir }: { readonly project: string; readonly home: string; readonly stateDir: string },
): Promise<readonly SettingsFile[]> {
  const { project: inProject, home: inHome, system } = SETTINGS_FILES[client];
  const places = [
    ...[...inProject, ...COPIED].map((path) => ({ path, place: join(project, path) })),
    ...inHome.map((path) => ({ path: `~/${path}`, place: join(home, path) })),
    { path: `state:phasegate-hooks/${client}`, place: join(stateDir, 'phasegate-hooks', client) },
    ...system.map((path) => ({ path, place: path })),
  ];
  const found: SettingsFile[] = [];
  for (const { path, place } of places) {
    for (const name of await filesAt(place)) {
      const sha256 = createHash('sha256')
        .update(readRegular(join(place, name), READING))
        .digest('hex');
      found.push({ path: join(path, name), sha256 });
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

const READING = { most: 64 * 1024 * 1024, links: 'follow' } as const;

/** Whether the project's settings of a client name Phasegate at all. */
export async function namesPhasegate(client: ClientName, project: string): Promise<boolean> {
  const place = join(project, SETTINGS_FILES[client].project[0]);
  for (const name of await filesAt(place)) {
    if (readRegular(join(place, name), READING).includes('phasegate')) return true;
  }
  return false;
}

/** What the settings of every client lead to, in the state directory. */
export const OF_STATE = ['phasegate-hooks', 'clients.json'];

/** What the settings in the home lead to, beside the states of all projects. */
export const BESIDE_STATES = 'phasegate-hooks';

/** What decides how a project is held, whatever the client. */
export const COPIED = ['phasegate.config.json', 'phasegate.config.yaml', '.phasegate'];

/** Names of the files at a place, from it; a file itself is the empty name. */
async function filesAt(place: string): Promise<readonly string[]> {
  const found = await stat(place).catch(() => null);
  if (found?.isFile()) return [''];
  if (!found?.isDirectory()) return [];
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1));
}
