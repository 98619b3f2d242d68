import { compileGlobs } from './glob/glob.ts';

/** Settings of agents' clients: what they start, and what they ask before they act. */
const CLIENT_SETTINGS: readonly string[] = [
  '.mcp.json',
  '.claude/settings*.json',
  '.claude/hooks/**',
  // These carry command lines and hooks that a client runs by itself.
  '.claude/agents/**',
  '.claude/commands/**',
  '.claude/plugins/**',
  '.claude/skills/**',
  '.agents/plugins/**',
  '.agents/skills/**',
  '.cursor/hooks.json',
  '.cursor/hooks/**',
  '.cursor/mcp.json',
  '.codex/**',
  // Settings, and beside them its environment, policies, agents and extensions.
  '.gemini/**',
  '.github/agents/**',
  '.github/copilot/**',
  '.github/hooks/**',
  '.github/mcp.json',
  '.github/skills/**',
  '.opencode/**',
  // Our plugin for opencode.
  '.phasegate/opencode.js',
  '.vscode/mcp.json',
  'opencode.json',
  'opencode.jsonc',
];

/** Files by which a folder is a project of its own. */
const PROJECT_FILES: readonly string[] = [
  'agent_workflow.yaml',
  'agent_workflow.yml',
  'phasegate.config.json',
  'phasegate.config.yaml',
  '.phasegate/**',
  '.praxis-os/workflows/**',
];

/** What a workflow of folders is made of; other files in folders called so are anybody's. */
const FOLDER_WORKFLOW: readonly string[] = ['workflows/*/metadata.json', 'workflows/*/phases/**'];

/** Where workflows and what they are held to are written. */
const DEFINITIONS: readonly string[] = [
  ...PROJECT_FILES,
  '**/*.workflow.yaml',
  '**/*.workflow.yml',
  '**/*.workflow.ts',
  '**/*.workflow.mts',
  '**/*.workflow.js',
  '**/*.workflow.mjs',
  // What shows that a workflow keeps its promises is not for those it binds to change.
  '**/*.contract.yaml',
  '**/*.contract.yml',
  'workflows/**',
];

/**
 * Files that are law to the engine. They are outside every write scope, whatever a glob says:
 * an agent that can write its contract has none.
 */
export const GUARDED_PATHS: readonly string[] = [...DEFINITIONS, '.git/**', ...CLIENT_SETTINGS];

/** The same names in every folder below: anyone who works there would be led by them. */
const GUARDED_NAMES = [...PROJECT_FILES, ...FOLDER_WORKFLOW, ...CLIENT_SETTINGS].map((path) => `**/${path}`);

/**
 * What a normal path is to the guard: `own` is the project's law and never written; `named` has the name of such a file
 * further down, which the author of a workflow may open by its literal path; null is nothing to it. Compared without
 * case and without what some file systems leave out of names: on those `.GIT/config` is `.git/config`, and where it is
 * not, refusing it costs nobody anything.
 */
export function guardOf(path: string): 'own' | 'named' | null {
  const names = path.split('/').map(folded);
  if (names.some((name) => name === '.git' || /^git~\d+$/.test(name))) return 'own';
  const plain = names.join('/');
  own ??= compileGlobs(GUARDED_PATHS);
  if (own(plain)) return 'own';
  named ??= compileGlobs(GUARDED_NAMES);
  return named(plain) ? 'named' : null;
}

/** Whether a normal path is a definition: what an agent is shown of it, it is shown phase by phase. */
export function isDefinition(path: string): boolean {
  definitions ??= compileGlobs(DEFINITIONS);
  return definitions(path.split('/').map(folded).join('/'));
}

/** Whether a normal path holds settings of an agent's client, in any folder. */
export function isClientSettings(path: string): boolean {
  settings ??= compileGlobs([...CLIENT_SETTINGS, ...CLIENT_SETTINGS.map((one) => `**/${one}`)]);
  return settings(path.split('/').map(folded).join('/'));
}

/** Whether a path is one of the home folder, as the fence spells it: outside of every scope, whatever a glob says. */
export function isInHome(path: string): boolean {
  return path.startsWith('~/');
}

/** Whether files in a folder of this path, or further down in it, are guarded by their names in every project. */
export function isGuardedFolder(path: string): boolean {
  const plain = path.split('/').map(folded).join('/');
  return (
    plain === 'workflows' || GUARDED_FOLDERS.some((name) => plain === name || plain.endsWith(`/${name}`))
  );
}

const GUARDED_FOLDERS: readonly string[] = [
  ...new Set(
    [...PROJECT_FILES, ...CLIENT_SETTINGS].flatMap((path) => {
      const names = path.split('/').slice(0, -1);
      return names.map((_, place) => names.slice(0, place + 1).join('/'));
    }),
  ),
];

let own: ((path: string) => boolean) | undefined;
let named: ((path: string) => boolean) | undefined;
let definitions: ((path: string) => boolean) | undefined;
let settings: ((path: string) => boolean) | undefined;

const PLAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

function folded(name: string): string {
  if (PLAIN.test(name)) return name;
  const visible = name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();
  // A final dot or blank is not part of a name on Windows, nor is what follows a colon.
  const [named = ''] = visible.split(':', 1);
  return withoutEnd(named) || visible;
}

/** By hand: an expression that looks for an end tries anew at every dot of a name that somebody made of dots. */
function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1;
  return name.slice(0, end);
}
