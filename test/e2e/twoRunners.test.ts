import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { cases } from '../tier.ts';
import { atWorkIn } from './atWorkIn.ts';
import { begin, makeProject, phasegate, startRun, type TestProject } from './cli.ts';

// Dozens of processes, on a machine that may be busy.
const LONG = 240_000;

const STEPS = ['draft', 'print', 'publish'];

// A step whose runner is killed before its effect, or after it, where a file says so; once. It hangs from then on: only
// somebody else can end it. Anyone who begins while another is at work says so.
const STEP = `
const { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const step = process.argv[2];
const isAlive = (pid) => {
  try { return !/\\) Z /.test(readFileSync('/proc/' + pid + '/stat', 'utf8')); } catch { return false; }
};
if (existsSync('at-work') && isAlive(readFileSync('at-work', 'utf8'))) appendFileSync('log', 'beside ' + step + '\\n');
writeFileSync('at-work', String(process.pid));
appendFileSync('log', step + '\\n');
const moment = async (name) => {
  const file = 'kill-' + step + '-' + name;
  if (!existsSync(file)) return;
  rmSync(file);
  process.kill(process.ppid, 'SIGKILL');
  await new Promise(() => setInterval(() => undefined, 1000));
};
(async () => {
  await moment('before');
  const database = new (require('node:sqlite').DatabaseSync)(process.env.PHASEGATE_DB);
  database.exec("INSERT INTO effects VALUES ('" + step + "')");
  database.close();
  await moment('after');
  console.log(JSON.stringify({ success: true, result: {}, postconditionsPassed: true }));
})();
`;

const WORKFLOW = `
workflow: publishing
database: { file: data/effects.db, migrations: migrations }
phases:
${STEPS.map((step) => `  ${step}: { instructions: ${step}, writes: [log, at-work, "kill-*"], command: "${process.execPath} --no-warnings step.cjs ${step}" }`).join('\n')}
`;

const MOMENTS = STEPS.flatMap((step) => [`kill-${step}-before`, `kill-${step}-after`]);

/** The moments at which a runner is killed: all of them, or one alone. */
const PLANS = [MOMENTS, ...MOMENTS.map((moment) => [moment])];

test.each(PLANS.slice(0, cases({ quick: 1, full: 7 })).map((plan) => [plan.length, plan] as const))(
  'two runners on one run, %i times killed in the middle of a step: each effect once, no step beside another [adv.O7]',
  async (_, plan) => {
    const project = makeProject({
      'publishing.workflow.yaml': WORKFLOW,
      'step.cjs': STEP,
      'migrations/0001-effects.sql': 'CREATE TABLE effects (step TEXT);',
      ...Object.fromEntries(plan.map((file) => [file, ''])),
    });
    const run = await startRun(project, 'publishing');

    const seats = await Promise.all([untilCompleted(project, run), untilCompleted(project, run)]);

    expect(effectsIn(project)).toEqual(STEPS);
    const log = readFileSync(join(project.root, 'log'), 'utf8').trimEnd().split('\n');
    // Each kill costs the step under way, and nothing is started beside another.
    const starts = STEPS.flatMap((step) =>
      Array.from({ length: 1 + plan.filter((file) => file.includes(step)).length }, () => step),
    );
    expect(log).toEqual(starts);
    expect(plan.filter((file) => existsSync(join(project.root, file)))).toEqual([]);
    expect(seats.flat().filter((how) => how === 'killed')).toHaveLength(plan.length);
    await expect.poll(() => atWorkIn(project.root), { timeout: 10_000 }).toEqual([]);
  },
  LONG,
);

test(
  'a command dies with its runner, also what it moved to a session of its own [adv.O7]',
  async () => {
    const project = makeProject({
      'lasting.workflow.yaml': `
workflow: lasting
phases:
  work: { instructions: work, command: "sh work.sh" }
`,
      'work.sh': 'setsid sleep 1000 </dev/null >/dev/null 2>&1 &\necho at work\nsleep 1000\n',
    });
    const run = await startRun(project, 'lasting');
    const call = begin(project, ['run', run]);
    call.feed('');
    await call.says('at work');
    expect(atWorkIn(project.root).length).toBeGreaterThan(2);

    call.kill();

    await expect.poll(() => atWorkIn(project.root), { timeout: 10_000 }).toEqual([]);
  },
  LONG,
);

/** Drives the run again and again, as somebody who wants it done would; how each try ended. */
async function untilCompleted(project: TestProject, run: string): Promise<readonly string[]> {
  const ends: string[] = [];
  for (;;) {
    const { code, signal, stdout, stderr } = await phasegate(project, ['run', run, '--retry', '--json']);
    if (code === 0) return [...ends, 'completed'];
    const told = `${stdout}${stderr}`;
    if (signal === null && !told.includes('run_driven')) throw new Error(told);
    ends.push(signal === null ? 'driven' : 'killed');
  }
}

function effectsIn(project: TestProject): readonly unknown[] {
  const database = new DatabaseSync(join(project.root, 'data/effects.db'));
  try {
    return database
      .prepare('SELECT step FROM effects ORDER BY rowid')
      .all()
      .map(({ step }) => step);
  } finally {
    database.close();
  }
}
