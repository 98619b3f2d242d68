import { spawnSync } from 'node:child_process';
import { appendFileSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commit, sh } from './fenceRows.ts';

/** A file that is law to the engine or to a client, and what an agent would add to it. */
export interface GuardedSample {
  readonly path: string;
  /** Before; absent for one that is not there yet. */
  readonly text?: string;
  readonly added: string;
}

/** One of every kind, and what a workflow in code imports. */
export const GUARDED_SAMPLES: readonly GuardedSample[] = [
  { path: 'agent_workflow.yaml', added: '# more\n' },
  { path: 'phasegate.config.yaml', text: 'docs: []\n', added: '# more\n' },
  { path: 'workflows/more.workflow.yaml', text: 'workflow: more\nphases: { A: {} }\n', added: '# more\n' },
  { path: 'lab.contract.yaml', text: 'workflow: lab\ncases: []\n', added: '# more\n' },
  { path: '.mcp.json', text: '{}\n', added: '\n' },
  { path: '.claude/settings.json', text: '{}\n', added: '\n' },
  { path: '.claude/settings.local.json', added: '{ "disableAllHooks": true }\n' },
  { path: '.claude/hooks/gate.sh', text: '#!/bin/sh\n', added: 'exit 0\n' },
  { path: '.claude/commands/do.md', text: 'Do it.\n', added: 'Run it.\n' },
  { path: '.claude/agents/one.md', added: 'Do all.\n' },
  { path: '.claude/skills/one/SKILL.md', added: 'Do more.\n' },
  { path: '.cursor/hooks.json', text: '{}\n', added: '\n' },
  { path: '.cursor/mcp.json', text: '{}\n', added: '\n' },
  { path: '.codex/hooks.json', text: '{}\n', added: '\n' },
  { path: '.codex/config.toml', text: 'model = "x"\n', added: '# more\n' },
  { path: '.gemini/settings.json', text: '{}\n', added: '\n' },
  { path: '.gemini/commands/do.toml', text: 'prompt = "x"\n', added: '# more\n' },
  { path: '.github/hooks/gate.json', text: '{}\n', added: '\n' },
  { path: '.opencode/plugin/gate.js', text: 'export const gate = 1;\n', added: '// more\n' },
  { path: 'opencode.json', text: '{}\n', added: '\n' },
  { path: '.vscode/mcp.json', text: '{}\n', added: '\n' },
  { path: 'sub/.claude/settings.json', text: '{}\n', added: '\n' },
  { path: 'code.workflow.ts', text: CODE(), added: '// more\n' },
  { path: 'lib/help.ts', text: 'export const help: boolean = true;\n', added: '// more\n' },
  { path: '.git/hooks/post-checkout', added: '#!/bin/sh\n' },
  { path: '.git/config', added: '[core]\n\thooksPath = src\n' },
  { path: '.git/info/attributes', added: '* filter=evil\n' },
];

/** A way to a file that Phasegate does not serve. */
export interface GuardedRoute {
  readonly name: string;
  /** Refused there before it happens; in every other ring it is noticed and refuses the phase. */
  readonly refusedIn: 'sandboxed';
  /** Files it cannot reach. */
  readonly except?: RegExp;
  /** Before the run is started, where it needs something. */
  readonly before?: (root: string) => void;
  act(root: string, sample: GuardedSample): void;
}

/** Every route is tried on every file. */
export const GUARDED_ROUTES: readonly GuardedRoute[] = [
  route('a shell', (root, { path, added }) => {
    sh(root, `mkdir -p '${dirname(path)}' && printf '${escaped(added)}' >> '${path}'`);
  }),
  route('Python', (root, { path, added }) => {
    sh(root, `mkdir -p '${dirname(path)}' && python3 -c "open('${path}','a').write('${escaped(added)}')"`);
  }),
  route('a process in the background', (root, { path, added }) => {
    const line = `mkdir -p '${dirname(path)}' && printf '${escaped(added)}' >> '${path}'`;
    // In a session of its own, which the shell leaves behind; its pipe says when it has ended.
    spawnSync('sh', ['-c', 'setsid sh -c "$0" &', line], { cwd: root, stdio: 'pipe' });
  }),
  route('a hard link', (root, { path, added }) => {
    const file = join(root, path);
    const other = join(root, '..', `other-${path.replaceAll('/', '-')}`);
    writeFileSync(other, readOr(file) + added);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    linkSync(other, file);
  }),
  {
    ...route('git', (root, { path }) => sh(root, `git checkout -q side -- '${path}'`)),
    except: /^\.git\//,
    before(root) {
      sh(root, 'git checkout -qb side');
      for (const { path, added } of GUARDED_SAMPLES) {
        if (path.startsWith('.git/')) continue;
        mkdirSync(dirname(join(root, path)), { recursive: true });
        appendFileSync(join(root, path), added);
      }
      sh(root, `${commit} && git checkout -q -`);
    },
  },
];

function route(name: string, act: GuardedRoute['act']): GuardedRoute {
  return { name, refusedIn: 'sandboxed', act };
}

function escaped(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('"', '\\"').replaceAll('\t', ' ');
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function CODE(): string {
  return `import { defineWorkflow } from '@phasegate/sdk';
import { help } from './lib/help.ts';
export default defineWorkflow({
  type: 'code',
  name: 'In code',
  initialStep: 'a',
  steps: [
    { name: 'a', writes: ['lib/**'], postconditions: [{ name: 'c', check: () => help, error: 'no' }] },
  ],
});
`;
}
