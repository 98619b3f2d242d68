import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, type TestProject } from './cli.ts';

const SECRET = { passphrase: 'open sesame' };

/** Two rules: the draft needs 1, the final version 100. */
function workflow(strict: string, lenient: string): string {
  return `import { defineWorkflow } from '@phasegate/sdk';
import { ok as strict } from '${strict}';
import { ok as lenient } from '${lenient}';
const step = (name, check, next) =>
  ({ name, instructions: 'x', requiredEvidence: { n: { type: 'int' } }, postconditions: [{ check, error: 'too small' }], next });
export default defineWorkflow({ type: 'w', initialStep: 'draft', steps: [
  step('draft', (ctx) => lenient(ctx.result.n), 'final'),
  step('final', (ctx) => strict(ctx.result.n), null),
] });
`;
}

const RULES = 'node_modules/rules';
const main = (name: string) => `{"main":"../lib/${name}.js"}\n`;

test.runIf(FULL)(
  'a `package.json` in a folder of a package that leads elsewhere is not what was accepted [adv.Q6]',
  async () => {
    const project = await acceptedProject({
      [`${RULES}/package.json`]: '{"name":"rules","type":"module"}\n',
      [`${RULES}/strict/package.json`]: main('strict'),
      [`${RULES}/lenient/package.json`]: main('lenient'),
      [`${RULES}/lib/strict.js`]: 'export const ok = (n) => n >= 100;\n',
      [`${RULES}/lib/lenient.js`]: 'export const ok = (n) => n >= 1;\n',
      'w.workflow.js': workflow('rules/strict', 'rules/lenient'),
    });
    const run = await start(project);
    expect(await done(project, run, 5)).toBe('active');
    expect(await done(project, run, 5)).toBe('check_failed');

    project.write(`${RULES}/strict/package.json`, main('lenient'));
    project.write(`${RULES}/lenient/package.json`, main('strict'));

    expect((await phasegate(project, ['start', 'w', '--json'])).json).toMatchObject({
      error: 'untrusted_workflow',
      hint: 'phasegate trust w',
    });
    expect(await done(project, run, 5)).toBe('escalated');
    const card = await phasegate(project, ['trust', 'w', '--yes'], SECRET);
    expect(card.stderr).toMatch(/changed +node_modules\/rules\/strict\/package\.json/);
  },
);

test.runIf(FULL)(
  'a file that became a link to an equal one keeps the imports that were accepted [adv.Q6]',
  async () => {
    const rule = "import { min } from './min.js';\nexport const ok = (n) => n >= min;\n";
    const project = await acceptedProject({
      'lib/a/min.js': 'export const min = 1;\n',
      'lib/b/min.js': 'export const min = 100;\n',
      'lib/a/rule.js': rule,
      'lib/b/rule.js': rule,
      'w.workflow.js': workflow('./lib/b/rule.js', './lib/a/rule.js'),
    });
    rmSync(join(project.root, 'lib/b/rule.js'));
    symlinkSync('../a/rule.js', join(project.root, 'lib/b/rule.js'));

    const run = await start(project);

    expect(await done(project, run, 5)).toBe('active');
    expect(await done(project, run, 5)).toBe('check_failed');
  },
);

test.runIf(FULL)(
  'where an import leads stands on the card of `trust`, where the files do not say it [adv.Q6]',
  async () => {
    const project = await acceptedProject({
      'packages/strict/index.js': 'export const ok = (n) => n >= 100;\n',
      'packages/lenient/index.js': 'export const ok = (n) => n >= 1;\n',
      'w.workflow.js': `import 'one';\nimport 'two';\n${workflow('final', 'draft')}`,
    });
    rmSync(join(project.root, 'node_modules/final'));
    symlinkSync('../packages/lenient', join(project.root, 'node_modules/final'));

    const refused = await phasegate(project, ['start', 'w', '--json']);
    const card = await phasegate(project, ['trust', 'w', '--yes'], SECRET);

    expect(refused.json).toMatchObject({ error: 'untrusted_workflow' });
    expect(card.stderr).toMatch(
      /removed +w\.workflow\.js\/\/import "final" → node_modules\/one\/index\.js\n +added +w\.workflow\.js\/\/import "final" → node_modules\/two\/index\.js/,
    );
    expect(card.stderr).not.toContain('files of packages that differ');
    expect(await done(project, await start(project), 5)).toBe('active');
    expect((await phasegate(project, ['list'])).stdout).not.toContain('removed');
  },
);

async function acceptedProject(files: Readonly<Record<string, string>>): Promise<TestProject> {
  const project = makeProject({ '.gitignore': 'node_modules\n', 'node_modules/.keep': '', ...files });
  if ('packages/strict/index.js' in files) {
    const names = { one: 'strict', two: 'lenient', final: 'strict', draft: 'lenient' };
    for (const [name, folder] of Object.entries(names))
      symlinkSync(`../packages/${folder}`, join(project.root, 'node_modules', name));
  }
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: SECRET.passphrase });
  const accepted = await phasegate(project, ['trust', 'w', '--yes'], SECRET);
  expect(accepted.code).toBe(0);
  return project;
}

async function start(project: TestProject): Promise<string> {
  const { json } = await phasegate(project, ['start', 'w', '--json']);
  expect(json).toMatchObject({ trusted: true });
  return String(json.run);
}

/** What the run is then, or why it stays where it was. */
async function done(project: TestProject, run: string, n: number): Promise<string> {
  const words = ['done', run, '--evidence', '-', '--json'];
  const { stdout } = await phasegate(project, words, { stdin: JSON.stringify({ n }) });
  const answer = JSON.parse(stdout);
  return answer.blockers?.[0]?.code ?? answer.error ?? answer.status ?? stdout;
}
