import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBubblewrap } from '../../../sandbox/bubblewrapState.ts';
import { makeShell } from '../fixtures/callCli.ts';

const { works } = (await findBubblewrap()).state;

const WORKFLOW = `workflow: proven
phases:
  IMPL:
    writes: ["src/**"]
    postconditions:
      - check: tests
        name: they_pass
        with:
          argv: [node, --test, --test-reporter=tap, "tests/a.test.js"]
          expect: green
          canary: { plant: ["tests/**"] }
        needs: verified
        message: no
  END: {}
`;
const TEST = "import { test } from 'node:test';\ntest('it holds', () => {});\n";

test.runIf(works)(
  'receipts say what was run on what, oldest first, and which run had a test that must fail',
  async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW, 'package.json': '{ "type": "module" }\n' });
    mkdirSync(join(shell.root, 'tests'));
    shell.write('tests/a.test.js', TEST);
    const run = String((await shell.call(['start', 'proven', '--json'])).json().run);
    const env = { PATH: `${process.execPath.replace(/\/node$/, '')}:${process.env.PATH}` };
    const done = await shell.call(['done', run, '--json'], '', env);
    expect(done.json()).toMatchObject({ checkpoint_passed: true });

    const { receipts } = (await shell.call(['receipts', run, '--json'])).json() as {
      receipts: readonly Readonly<Record<string, unknown>>[];
    };
    const { stdout } = await shell.call(['receipts', run]);

    expect(receipts.map(({ canary, exit_code: code }) => [canary, code])).toEqual([
      [undefined, 0],
      [true, 1],
    ]);
    expect(String(receipts[0]?.started_at) <= String(receipts[1]?.started_at)).toBe(true);
    const digits = (value: unknown) => String(value).slice(0, 12);
    const [first, ran, known, second, , planted] = stdout.split('\n');
    expect(first).toMatch(/^receipt-\S+ {2}IMPL {2}they_pass {2}verified {2}ok$/);
    expect(ran).toMatch(/^ {2}\/\S+\/node --test --test-reporter=tap tests\/a\.test\.js$/);
    expect(known).toContain(
      `tree ${digits(receipts[0]?.tree)}; program ${digits(receipts[0]?.program_hash)}`,
    );
    expect(known).toMatch(/dependencies none; 1 passed$/);
    expect(second).toContain('ok  with a test that must fail');
    expect(planted).toMatch(/; [1-9]\d* failed, 1 passed$/);
  },
);

test('a receipt of a program with many words is shortened, and none of them begins a line', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': WORKFLOW.replace(/ {4}postconditions:[\s\S]*(?= {2}END)/, LONG),
  });
  const run = String((await shell.call(['start', 'proven', '--json'])).json().run);
  expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ checkpoint_passed: true });

  const lines = (await shell.call(['receipts', run])).stdout.trimEnd().split('\n');

  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^ {2}\/\S+ .*x…$/);
  expect(lines.every((line) => line.length < 125)).toBe(true);
});

const LONG = `    postconditions:
      - { check: command, with: { argv: [/bin/true, "a\\nb", "${'x'.repeat(300)}"] }, needs: observed, message: no }
`;
