import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, phasegate, startRun } from './cli.ts';

const { works } = (await findBubblewrap()).state;

/** A lockfile that nobody has frozen. */
const LOCKED = JSON.stringify({ packages: { '': {}, 'node_modules/right': { version: '1.0.0' } } });

function workflow(check: string): string {
  return `workflow: proven
phases:
  IMPL:
    instructions: Make it pass.
    writes: ["src/**"]
    required_evidence: [commands_executed]
    postconditions: [${check}]
  END:
    instructions: Report.
`;
}

/** What a verifier can do, and what is said of it. */
const BAD: readonly (readonly [what: string, check: string, code: string, says: RegExp])[] = [
  [
    'hangs',
    command('[/bin/sleep, "60"]', 'timeout_seconds: 0.5'),
    'check_timed_out',
    /did not end within 0\.5 seconds/,
  ],
  [
    'prints without an end',
    command('[/bin/sh, -c, "yes | head -c 1073741824"]', 'max_output_bytes: 100000'),
    'check_failed',
    /printed more than 100000 bytes and was killed/,
  ],
  [
    'is not installed',
    command('[no-such-runner]'),
    'check_failed',
    /there is no program `no-such-runner`|exited with 127/,
  ],
  [
    'needs the network',
    command('[/bin/bash, -c, "exec 3<>/dev/tcp/1.1.1.1/443"]'),
    'check_failed',
    /exited with 1.*(?:unreachable|denied|not permitted)/is,
  ],
  [
    'leaves processes behind that print',
    tests('[/bin/sh, -c, "(sleep 30; echo late) & echo TAP version 13; echo 1..0"]'),
    'check_failed',
    /ran no test at all|could still print in its place/,
  ],
  [
    'prints a report that is cut off',
    tests('[/bin/echo, "TAP version 13\\nok 1 - a"]'),
    'check_failed',
    /cut off/,
  ],
  ['prints what is not text', tests('[/usr/bin/printf, "\\\\377\\\\376"]'), 'check_failed', /not UTF-8/],
  [
    'lies about its counts',
    tests(`[/bin/echo, '<testsuite tests="9"><testcase classname="a" name="b"/></testsuite>']`),
    'check_failed',
    /counts 9 tests.*and lists 1/,
  ],
  [
    'gives an exit code that contradicts it',
    tests('[/bin/sh, -c, "echo TAP version 13; echo ok 1 - a; echo 1..1; exit 1"]'),
    'check_failed',
    /its report says otherwise/,
  ],
  [
    'is claimed by word',
    '{ check: cites_receipts, message: no }',
    'check_failed',
    /`ls` is not the id of a receipt/,
  ],
  [
    'is about nothing',
    '{ check: made_from_this_tree, with: { artifact: review }, message: no }',
    'check_failed',
    /no `review` was handed in/,
  ],
];

describe.runIf(works)('what the engine verifies by (bubblewrap)', () => {
  test.each(BAD)(
    'one that %s is refused with the reason, and the agent that cannot help it reaches a human [adv.I12]',
    async (_, check, code, says) => {
      const project = makeProject({ 'proven.workflow.yaml': workflow(check), 'src/a.js': '' });
      const run = await startRun(project, 'proven');

      const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: EVIDENCE });

      const [blocker] = done.json.blockers as { code: string; message: string }[];
      expect(blocker).toMatchObject({ code, message: expect.stringMatching(says) });
      const asked = await phasegate(project, ['blocked', run, '--reason', 'it cannot be shown', '--json']);
      expect(asked.json).toMatchObject({ status: 'escalated' });
      expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
    },
  );

  test('a receipt of a program that ran is evidence, until the tree moves or the phase is another [adv.I7 adv.I9]', async () => {
    const check =
      '{ check: cites_receipts, with: { same_tree: true, tools: [exec] }, needs: observed, message: no }';
    const project = makeProject({ 'proven.workflow.yaml': workflow(check), 'src/a.js': '' });
    const run = await startRun(project, 'proven');
    await asProcess(project, ['exec', run, '--', '/bin/true']);
    const listed = await phasegate(project, ['receipts', run, '--json']);
    const [receipt] = listed.json.receipts as { id: string }[];
    const cite = (ids: readonly string[]) =>
      phasegate(project, ['done', run, '--evidence', '-', '--json'], {
        stdin: JSON.stringify({ commands_executed: ids }),
      });

    project.write('src/a.js', 'moved');
    const stale = await cite([receipt?.id ?? '']);
    const invented = await cite(['receipt-00000000000000000000']);

    expect(JSON.stringify(stale.json.blockers)).toContain('is void: the workspace is not what it was');
    expect(JSON.stringify(invented.json.blockers)).toContain('is not the id of a receipt of this run');
    const fresh = makeProject({ 'proven.workflow.yaml': workflow(check), 'src/a.js': '' });
    const again = await startRun(fresh, 'proven');
    await asProcess(fresh, ['exec', again, '--', '/bin/true']);
    const own = (await phasegate(fresh, ['receipts', again, '--json'])).json.receipts as { id: string }[];
    const done = await phasegate(fresh, ['done', again, '--evidence', '-', '--json'], {
      stdin: JSON.stringify({ commands_executed: own.map(({ id }) => id) }),
    });
    expect(done.json).toMatchObject({ checkpoint_passed: true, current_phase: 'END' });
  });

  test('without frozen dependencies `verified` is refused with the way on, and nothing is run', async () => {
    const check = command('[/bin/true]');
    const project = makeProject({ 'proven.workflow.yaml': workflow(check), 'package-lock.json': LOCKED });
    const run = await startRun(project, 'proven');

    const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: EVIDENCE });

    const [blocker] = done.json.blockers as { code: string; message: string }[];
    expect(blocker?.code).toBe('evidence_class_too_low');
    expect(blocker?.message).toMatch(/`deps_missing`.*a human runs `phasegate deps freeze`/);
    const listed = await phasegate(project, ['receipts', run, '--json']);
    expect(listed.json.receipts).toEqual([]);
    expect((await phasegate(project, ['deps', '--json'])).json).toMatchObject({
      verified: false,
      dependencies: [{ kind: 'npm', lockfile: 'package-lock.json', state: 'missing' }],
    });
  });

  test('where `observed` will do, it is run in the workspace, and every view says what is missing', async () => {
    const check = command('[/bin/true]').replace('needs: verified', 'verify: true, needs: observed');
    const project = makeProject({ 'proven.workflow.yaml': workflow(check), 'package-lock.json': LOCKED });
    const run = await startRun(project, 'proven');

    const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: EVIDENCE });

    expect(done.json).toMatchObject({ checkpoint_passed: true, current_phase: 'END' });
    expect(JSON.stringify(done.json.warnings)).toContain('is observed and not verified');
    const { json } = await phasegate(project, ['status', run, '--json']);
    expect(json.proven).toMatchObject([
      { phase: 'IMPL', check: 'seen', class: 'observed', lack: expect.stringContaining('deps_missing') },
    ]);
    expect((await phasegate(project, ['status', run])).stdout).toContain('seen (observed');
  });
});

describe.runIf(FULL && works)('what the engine verifies by has bounds (bubblewrap)', () => {
  test.each([
    [
      'one that writes 1 GB of files',
      command('[/bin/sh, -c, "for i in 1 2 3 4; do head -c 268435456 /dev/zero > out.$i; done"]'),
      'check_failed',
      /wrote more than 512 MB of files, which is refused/,
    ],
    [
      'one that writes as much and says nothing was wrong',
      tests(
        '[/bin/sh, -c, "head -c 629145600 /dev/zero > out; echo TAP version 13; echo ok 1 - a; echo 1..1"]',
      ),
      'check_failed',
      /wrote more than 512 MB of files, which is refused/,
    ],
    [
      'one that writes as much beside its report',
      tests(
        '[/bin/sh, -c, "head -c 629145600 /dev/zero > $0.more; echo TAP version 13 > $0; sleep 1", "{report}"]',
      ),
      'check_failed',
      /wrote more than 512 MB of files, which is refused/,
    ],
    [
      'one that forks without end',
      command('[/bin/sh, -c, "while :; do sleep 6173 & done"]', 'timeout_seconds: 1'),
      'check_timed_out',
      /did not end within 1 seconds and was killed/,
    ],
  ] as const)(
    '%s is refused, and nothing of it is left [adv.I12]',
    async (_, check, code, says) => {
      const project = makeProject({ 'proven.workflow.yaml': workflow(check), 'src/a.js': '' });
      const run = await startRun(project, 'proven');

      const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: EVIDENCE });

      const [blocker] = done.json.blockers as { code: string; message: string }[];
      expect(blocker).toMatchObject({ code, message: expect.stringMatching(says) });
      expect(readdirSync(join(project.stateDir, 'rooms'))).toEqual([]);
      expect(commandLines().filter((line) => line.split('\0')[1] === '6173')).toEqual([]);
      expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
    },
    120_000,
  );
});

/** Of every process of this machine that is still there; one that ended and was not waited for has none. */
function commandLines(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return [];
      }
    });
}

/** Asked only where it is used. */
const registry = FULL && works && (await reaches('https://registry.npmjs.org/is-number'));

test.runIf(registry)(
  'npm freezes what the lockfile names, from the registry, and a rewritten package in the workspace counts for nothing (bubblewrap) [adv.I5]',
  async () => {
    const check = command('[node, scripts/a.mjs]').replace('[node,', `[${process.execPath},`);
    const project = makeProject({
      'proven.workflow.yaml': workflow(check),
      '.gitignore': 'node_modules/\n',
      'package.json': '{ "name": "p", "dependencies": { "is-number": "7.0.0" } }\n',
      'package-lock.json': JSON.stringify(REAL_LOCK),
      'scripts/a.mjs': "import isNumber from 'is-number';\nprocess.exit(isNumber('x') ? 1 : 0);\n",
      'node_modules/is-number/index.js': 'module.exports = () => true;\n',
    });
    const human = { passphrase: 'open sesame' };
    await phasegate(project, ['humans', 'add', 'maria'], human);
    await phasegate(project, ['trust', 'proven', '--yes'], human);

    const frozen = await phasegate(project, ['deps', 'freeze', '--yes', '--json'], human);

    expect(frozen.json.frozen).toMatchObject([{ kind: 'npm', by: 'maria', scripts: [] }]);
    const run = await startRun(project, 'proven');
    const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: EVIDENCE });
    expect(done.json).toMatchObject({ checkpoint_passed: true, current_phase: 'END' });
    const listed = await phasegate(project, ['receipts', run, '--verify', '--json']);
    expect(listed.json.receipts).toMatchObject([
      { class: 'verified', signed: true, dependencies: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  },
  120_000,
);

test('nobody freezes without a passphrase, and a word that is no verb is refused', async () => {
  const project = makeProject({
    'package-lock.json': LOCKED,
    'proven.workflow.yaml': workflow(command('[/bin/true]')),
  });

  expect(await phasegate(project, ['deps', 'freeze', '--yes', '--json'])).toMatchObject({
    code: 2,
    json: { error: 'no_human' },
  });
  expect(await phasegate(project, ['deps', 'thaw', '--json'])).toMatchObject({ code: 2 });
});

const REAL_LOCK = {
  name: 'p',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'p', dependencies: { 'is-number': '7.0.0' } },
    'node_modules/is-number': {
      version: '7.0.0',
      resolved: 'https://registry.npmjs.org/is-number/-/is-number-7.0.0.tgz',
      integrity:
        'sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==',
      license: 'MIT',
      engines: { node: '>=0.12.0' },
    },
  },
};

async function reaches(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => null);
  return answer?.ok === true;
}

const EVIDENCE = JSON.stringify({ commands_executed: ['ls'] });

function command(argv: string, more = ''): string {
  const asked = more === '' ? '' : `, ${more}`;
  return `{ name: seen, check: command, with: { argv: ${argv}${asked} }, needs: verified, message: no }`;
}

function tests(argv: string): string {
  return `{ name: seen, check: tests, with: { argv: ${argv}, expect: green }, needs: verified, message: no }`;
}
