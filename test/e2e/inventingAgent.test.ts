import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { TEMPLATES, type Template } from '../../packages/phasegate/src/templates/index.ts';
import { someOf } from '../tier.ts';
import { makeProject, phasegate, type TestProject, withShown } from './cli.ts';

const SECRET = { passphrase: 'open sesame' };
const PASSES = "import { test } from 'node:test';\n\ntest('one is one', () => {});\n";
const FAILS =
  "import { test } from 'node:test';\n\ntest('one is two', () => {\n  throw new Error('it is not');\n});\n";

/** Passes once the code is there. */
const WANTS =
  "import { test } from 'node:test';\n\ntest('it is there', async () => {\n  await import('../src/new.js');\n});\n";

/** Gates at which a human is shown words alone, and believes them. */
const PLANS: readonly string[] = ['PLAN', 'PROPOSE', 'PREPARE', '0'];

/** Where the agent that does nothing and claims everything ends, in a project whose tests pass and in one whose fail. */
const HELD: Readonly<Record<string, { readonly green: readonly string[]; readonly red: readonly string[] }>> =
  {
    tdd: { green: ['TDD', 'check_failed'], red: ['TDD', 'check_failed'] },
    bugfix: { green: ['REPRODUCE', 'check_failed'], red: ['start', 'precondition_failed'] },
    refactor: { green: ['ACCEPT', 'waits for a human'], red: ['PLAN', 'check_failed'] },
    spec: { green: ['1', 'waits for a human'], red: ['1', 'check_failed'] },
    review: { green: ['JUDGE', 'waits for a human'], red: ['start', 'precondition_failed'] },
    release: { green: ['PREPARE', 'check_failed'], red: ['PREPARE', 'check_failed'] },
    minimal: { green: ['DO', 'waits for a human'], red: ['DO', 'waits for a human'] },
  };

/** What an agent that does its work writes before it completes a phase. */
const WORK: Readonly<Record<string, Readonly<Record<string, readonly [path: string, text: string]>>>> = {
  tdd: { TDD: ['test/new.test.js', WANTS], IMPL: ['src/new.js', ''] },
  bugfix: { REPRODUCE: ['test/new.test.js', WANTS], FIX: ['src/new.js', ''] },
  release: { PREPARE: ['CHANGELOG.md', '## 1.2.0\n'] },
};

test('every template is tried', () => {
  expect(Object.keys(HELD).sort()).toEqual(TEMPLATES.map(({ name }) => name).sort());
});

test.each(someOf(TEMPLATES, { quick: 1, full: TEMPLATES.length }))(
  'an agent that hands in invented values is not let through by `$name`',
  async (template) => {
    for (const [kind, text] of [
      ['green', PASSES],
      ['red', FAILS],
    ] as const) {
      const project = await begun(template, text);

      const { ended, status } = await walk(project, template, { approves: PLANS });

      expect(ended, kind).toEqual(HELD[template.name]?.[kind]);
      expect(status, kind).not.toBe('completed');
      expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
    }
  },
  60_000,
);

test.each(someOf(TEMPLATES, { quick: 1, full: TEMPLATES.length }))(
  'an agent that does its work gets to the end of `$name`',
  async (template) => {
    const project = await begun(template, PASSES);

    const { ended, status } = await walk(project, template, { work: WORK[template.name] ?? {} });

    expect({ ended, status }).toEqual({ ended: ['end'], status: 'completed' });
  },
  60_000,
);

async function begun(template: Template, tests: string): Promise<TestProject> {
  const project = makeProject({
    'package.json': '{ "type": "module" }\n',
    'test/one.test.js': tests,
  });
  const tested = template.runsTests ? ['--test', 'node --test'] : [];
  const words = ['init', '--name', 'maria', '--template', template.name, ...tested, '--json'];
  expect(await phasegate(project, words, SECRET)).toMatchObject({
    code: 0,
    json: { trusted: [template.workflow] },
  });
  return project;
}

interface Walking {
  /** The gates a human approves; left out: all. */
  readonly approves?: readonly string[];
  readonly work?: Readonly<Record<string, readonly [path: string, text: string]>>;
}

/** Completes phase after phase with the values of the template's own contract tests, until something holds it. */
async function walk(
  project: TestProject,
  template: Template,
  { approves, work = {} }: Walking,
): Promise<{ readonly ended: readonly string[]; readonly status: string }> {
  const values = evidenceOf(project, template);
  const starting = ['start', template.workflow, ...(template.startWith?.trim().split(' ') ?? []), '--json'];
  const started = await phasegate(project, starting);
  if (started.code !== 0) return { ended: ['start', String(started.json.error)], status: 'none' };
  const run = String(started.json.run);
  for (;;) {
    const { status, phase, gate } = (await phasegate(project, ['status', run, '--json'])).json;
    const at = String(phase);
    if (status === 'completed') return { ended: ['end'], status };
    if (status === 'waiting') {
      if (approves?.includes(at) === false) return { ended: [at, 'waits for a human'], status };
      const [first] = Object(gate).options as readonly { readonly label: string }[];
      await phasegate(
        project,
        await withShown(project, ['decide', run, '--option', first?.label ?? '']),
        SECRET,
      );
      continue;
    }
    const file = work[at];
    if (file !== undefined) project.write(...file);
    for (const task of ['1', '2']) await phasegate(project, ['task', run, at, task]);
    const done = await phasegate(project, ['done', run, '--phase', at, '--evidence', '-', '--json'], {
      stdin: JSON.stringify(values[at]),
    });
    if (done.code !== 0) return { ended: [at, String(done.json.error)], status: String(status) };
  }
}

/** What an honest agent would hand in; here it is handed in by one that did nothing. */
function evidenceOf(project: TestProject, template: Template): Readonly<Record<string, unknown>> {
  const path = template
    .beside({ command: '', report: null, red: [], layout: LAYOUT })
    .find((file) => file.path.endsWith('.contract.yaml'));
  return parse(readFileSync(join(project.root, path?.path ?? ''), 'utf8')).evidence;
}

const LAYOUT = {
  tests: [],
  code: [],
  caches: [],
  compiled: false,
  testsAmongCode: {},
  sample: { test: '', code: '' },
};
