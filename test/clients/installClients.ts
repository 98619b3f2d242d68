import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The real clients these tests know, by the exact version they were written with. */
export const CLIENT_PACKAGES = {
  claude: '@anthropic-ai/claude-code@2.1.325',
  codex: '@openai/codex@0.166.0',
  gemini: '@google/gemini-cli@0.61.0',
  opencode: 'opencode-ai@1.18.33',
  copilot: '@github/copilot@1.0.102',
  /** Not a client: the nearest peer of the benchmarks. */
  'tdd-guard': 'tdd-guard@1.7.0',
} as const;

/** One of them. */
export type Installable = keyof typeof CLIENT_PACKAGES;

/** What is there afterwards, and what is not, with the reason. */
export interface InstalledClients {
  /** For a PATH. */
  readonly bin: string;
  readonly there: readonly Installable[];
  readonly missing: readonly { readonly name: Installable; readonly why: string }[];
}

/**
 * Installs clients into a folder of their own, outside the repository, which later runs find again: they are large, and
 * nobody who only changes the engine should wait for them. PHASEGATE_CLIENTS names another folder.
 */
export function installClients(
  names: readonly Installable[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): InstalledClients {
  const cache = env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = env.PHASEGATE_CLIENTS ?? join(cache, 'phasegate', 'clients');
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  if (textOf(manifest) === '') writeFileSync(manifest, '{ "private": true }\n');
  const there: Installable[] = [];
  const missing: { name: Installable; why: string }[] = [];
  for (const name of names) {
    const why = isThere(folder, CLIENT_PACKAGES[name]) ? null : install(folder, CLIENT_PACKAGES[name]);
    if (why === null) there.push(name);
    else missing.push({ name, why });
  }
  return { bin: join(folder, 'node_modules/.bin'), there, missing };
}

function isThere(folder: string, wanted: string): boolean {
  const at = wanted.lastIndexOf('@');
  const text = textOf(join(folder, 'node_modules', wanted.slice(0, at), 'package.json'));
  return text !== '' && (JSON.parse(text) as { readonly version?: string }).version === wanted.slice(at + 1);
}

/** Null where it worked. */
function install(folder: string, wanted: string): string | null {
  const words = ['install', '--save-exact', '--no-audit', '--no-fund', '--prefer-offline', wanted];
  const { status, stderr } = spawnSync('npm', words, { cwd: folder, encoding: 'utf8' });
  if (status === 0 && isThere(folder, wanted)) return null;
  return /npm error (?!code)(.*)/.exec(stderr ?? '')?.[1] ?? `npm ended with ${status}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
