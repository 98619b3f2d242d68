import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { copyOf, makeProject, phasegate, startRun, type TestProject } from '../e2e/cli.ts';
import { EVIDENCE_ROWS, type EvidenceRow, HONEST } from './evidenceRows.ts';

const { works } = (await findBubblewrap()).state;

const RUN_TESTS = '{ argv: [node, --test, --test-reporter=tap, "tests/**/*.test.mjs"]';

const WORKFLOW = `workflow: proven
phases:
  TDD:
    instructions: Write failing tests.
    writes: ["tests/**"]
    postconditions:
      - name: red
        check: tests
        with: ${RUN_TESTS}, expect: red, changed: ["tests/**"], freeze: ["tests/**"], canary: { plant: ["tests/**"] } }
        needs: verified
        message: The tests must fail first
  IMPL:
    instructions: Make them pass.
    writes: ["src/**"]
    postconditions:
      - name: green
        check: tests
        with: ${RUN_TESTS}, expect: green, unchanged: TDD, expected: [sums], canary: { plant: ["tests/**"] } }
        needs: verified
        message: The tests must pass
  END:
    instructions: Report.
`;

const FILES = {
  'package.json': '{ "type": "module" }\n',
  '.gitignore': 'node_modules/\n',
  'src/sum.mjs': 'export const sum = () => NaN;\n',
};

const grouped: string[] = [];

/** The rows that prove just these; a title has the ids of its own rows and no others. */
function rowsOf(ids: string): readonly (readonly [string, EvidenceRow])[] {
  const rows = EVIDENCE_ROWS.filter(({ proves }) => [...proves].sort().join(' ') === ids);
  grouped.push(...rows.map(({ name }) => name));
  return rows.map((row) => [row.name, row]);
}

describe.runIf(works)('evidence that is not there (bubblewrap)', () => {
  const began: Record<string, { readonly project: TestProject; readonly run: string }> = {};

  beforeAll(async () => {
    began.OPEN = await begunWith(WORKFLOW.replace('writes: ["src/**"]', 'writes: ["src/**", "tests/**"]'));
    began.IMPL = await begunWith(WORKFLOW);
  });

  async function begunWith(definition: string) {
    const project = makeProject({ ...FILES, 'proven.workflow.yaml': definition });
    const run = await startRun(project, 'proven');
    began.TDD = { project: copyOf(project), run };
    write(project, HONEST.TDD);
    const done = await complete(project, run, 'TDD');
    expect(done.json).toMatchObject({ checkpoint_passed: true, current_phase: 'IMPL' });
    return { project, run };
  }

  test('honest work is verified, with receipts that verify until the tree moves [adv.I7]', async () => {
    const { project, run } = await copied('IMPL');
    write(project, HONEST.IMPL);

    const done = await complete(project, run, 'IMPL');

    expect(done.json).toMatchObject({ checkpoint_passed: true, current_phase: 'END' });
    const status = await phasegate(project, ['status', run, '--json']);
    expect(status.json.proven).toMatchObject([
      { phase: 'TDD', check: 'red', class: 'verified' },
      { phase: 'IMPL', check: 'green', class: 'verified' },
    ]);
    const listed = await phasegate(project, ['receipts', run, '--verify', '--json']);
    expect(listed.json.verified).toBe(true);
    // The ones with a canary planted fail on purpose, and are marked.
    const last = (listed.json.receipts as { canary?: boolean }[]).findLast(({ canary }) => canary !== true);
    expect(last).toMatchObject({
      tool: 'check:tests',
      class: 'verified',
      ok: true,
      signed: true,
      stands: 'current',
      counts: { passed: 1, failed: 0 },
      program: expect.stringMatching(/^\//),
      program_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    write(project, { 'src/sum.mjs': 'export const sum = () => 1;\n' });
    const moved = await phasegate(project, ['receipts', run, '--verify', '--json']);
    expect((moved.json.receipts as { stands: string }[]).at(-1)).toMatchObject({ stands: 'void' });
  });

  test.each(rowsOf('adv.I1 adv.I2'))('%s [adv.I1 adv.I2]', isRefused);
  test.each(rowsOf('adv.I3'))('%s [adv.I3]', isRefused);
  test.each(rowsOf('adv.I4'))('%s [adv.I4]', isRefused);
  test.each(rowsOf('adv.I1 adv.I4'))('%s [adv.I1 adv.I4]', isRefused);
  test.each(rowsOf('adv.I11 adv.I4'))('%s [adv.I11 adv.I4]', isRefused);
  test.each(rowsOf('adv.I5'))('%s [adv.I5]', isRefused);
  test.each(rowsOf('adv.I4 adv.I5'))('%s [adv.I4 adv.I5]', isRefused);
  test.each(rowsOf('adv.I6'))('%s [adv.I6]', isRefused);
  test.each(rowsOf('adv.I8'))('%s [adv.I8]', isRefused);
  test.each(rowsOf('adv.I10'))('%s [adv.I10]', isRefused);

  test('no row is left out', () => {
    expect(grouped.sort()).toEqual(EVIDENCE_ROWS.map(({ name }) => name).sort());
  });

  test('a search path into the project, as npx makes it, gives no program to a room [adv.I5 adv.I4]', async () => {
    const { project, run } = await copied('IMPL');
    const fake = `#!/bin/sh\nprintf 'TAP version 13\\n'\ngrep -q canary tests/sum.test.mjs && printf 'not ok 1 - phasegate canary must fail\\n1..1\\n' && exit 1\nprintf 'ok 1 - sums\\n1..1\\n'\n`;
    write(project, { 'src/sum.mjs': 'export const sum = () => 0;\n', 'node_modules/.bin/node': fake });

    const PATH = `${join(project.root, 'node_modules/.bin')}:${project.env.PATH}`;
    const done = await complete(project, run, 'IMPL', { PATH });

    expect(done.json).toMatchObject({ checkpoint_passed: false, blockers: [{ code: 'check_failed' }] });
    expect(done.stdout).toMatch(/do not pass: `sums`/);
  });

  async function isRefused(_: string, { phase, files, code, says, testsOpen }: EvidenceRow): Promise<void> {
    const { project, run } = await copied(testsOpen === true ? 'OPEN' : phase);
    write(project, { ...HONEST[phase], ...files });

    const done = await complete(project, run, phase);

    expect(done.json).toMatchObject({ checkpoint_passed: false });
    const blockers = done.json.blockers as { code: string; message: string }[];
    expect(blockers.map((one) => one.code)).toContain(code);
    expect(blockers.map(({ message }) => message).join('\n')).toMatch(says);
    if (testsOpen === true) expect(blockers.map((one) => one.code)).not.toContain('scope_violation');
    expect(readdirSync(join(project.stateDir, 'rooms'))).toEqual([]);
  }

  async function copied(phase: 'TDD' | 'IMPL' | 'OPEN') {
    const { project, run } = began[phase] as { project: TestProject; run: string };
    return { project: copyOf(project), run };
  }
});

function write(project: TestProject, files: Readonly<Record<string, string | null>>): void {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) rmSync(join(project.root, path), { force: true });
    else chmodSync(project.write(path, text), 0o755);
  }
}

function complete(project: TestProject, run: string, phase: string, env: TestProject['env'] = {}) {
  const words = ['done', run, '--phase', phase, '--evidence', '-', '--json'];
  return phasegate(project, words, { stdin: '{}', env });
}
