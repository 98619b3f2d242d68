import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { checkInput, temporaryFolder } from '../fixtures/checkInput.ts';
import { judgeReport } from './judgeReport.ts';
import { readReport } from './readReport.ts';
import { tests } from './tests.ts';

const outputOf = (name: string) => readFileSync(new URL(`./fixtures/reports/${name}.txt`, import.meta.url));
const XML = outputOf('node-mixed-junit').toString();
const ASKED = { among: [], skipped: true };

describe('what real runners printed', () => {
  test.each([
    [
      'vitest-mixed',
      1,
      ['/project/t/mixed.test.js > add > adds'],
      ['/project/t/mixed.test.js > add > fails'],
      2,
    ],
    [
      'jest-mixed',
      1,
      ['/project/t/mixed.test.js > add > adds'],
      ['/project/t/mixed.test.js > add > fails'],
      2,
    ],
    ['node-mixed', 1, ['add > adds', 'top # odd'], ['add > fails', 'throws'], 2],
    [
      'pytest-mixed',
      1,
      ['test_mixed > test_adds'],
      ['test_mixed > test_fails', 'test_mixed > test_throws'],
      1,
    ],
    ['go-ok', 1, ['m/ok > TestAdds'], ['m/ok > TestFails', 'm/ok > TestFails > sub'], 1],
    ['node-green', 0, ['ok'], [], 0],
  ])('%s', async (name, code, passed, failed, skipped) => {
    const read = await readReport(outputOf(name), null);

    const report = read.ok ? read.report : expect.fail(read.problem);
    const idsOf = (outcome: string) =>
      report.tests.filter((one) => one.outcome === outcome).map(({ id }) => id);
    expect({ passed: idsOf('passed'), failed: idsOf('failed') }).toEqual({ passed, failed });
    expect(idsOf('skipped')).toHaveLength(skipped);
    expect(
      judgeReport(report, code, { ...ASKED, expect: failed.length > 0 ? 'red' : 'green' }),
    ).toMatchObject({
      passed: true,
    });
    expect(
      judgeReport(report, code, { ...ASKED, expect: failed.length > 0 ? 'green' : 'red' }),
    ).toMatchObject({
      passed: false,
    });
  });

  test.each([
    ['vitest-broken', 1, 'could not load `/project/t/broken.test.js`'],
    ['jest-broken', 1, 'could not load `/project/t/broken.test.js`'],
    ['node-broken', 1, 'could not load `t/broken.test.mjs`'],
    ['pytest-broken', 2, 'could not load `test_broken`'],
    ['go-broken', 2, 'could not load `m/broken`'],
    ['vitest-none', 1, 'ran no test at all'],
    ['node-none', 0, 'ran no test at all'],
    ['pytest-none', 5, 'ran no test at all'],
    ['go-none', 0, 'ran no test at all'],
  ])('%s is neither red nor green [adv.I8 adv.I10]', async (name, code, what) => {
    const read = await readReport(outputOf(name), null);

    const report = read.ok ? read.report : expect.fail(read.problem);
    for (const wanted of ['red', 'green'] as const) {
      expect(judgeReport(report, code, { ...ASKED, expect: wanted })).toMatchObject({
        passed: false,
        what: expect.stringContaining(what),
      });
    }
  });

  test('the JUnit reporter of Node says the same as its TAP reporter', async () => {
    const [tap, xml] = await Promise.all([
      readReport(outputOf('node-mixed'), 'tap'),
      readReport(Buffer.from(XML), 'junit'),
    ]);

    expect(tap.ok && xml.ok && tap.report.tests.map(({ outcome }) => outcome).sort()).toEqual(
      xml.ok && xml.report.tests.map(({ outcome }) => outcome).sort(),
    );
  });
});

describe('a report is refused', () => {
  const vitest = outputOf('vitest-mixed').toString();
  const tap = outputOf('node-mixed').toString();
  test.each([
    ['that is cut off', vitest.slice(0, 700), 'cut off'],
    ['that is cut off in its tests', tap.slice(0, tap.indexOf('1..3')), 'cut off'],
    ['that comes twice', `${vitest}\n${vitest}`, 'more than one report'],
    ['in two formats', `${vitest}\n${tap}`, 'more than one format'],
    ['that lies about its counts', vitest.replace('"numPassedTests":1', '"numPassedTests":4'), 'and lists'],
    ['whose suite lies about its counts', XML.replace('tests="4"', 'tests="9"'), 'and lists'],
    ['that is not well-formed', XML.replace('</testsuite>', '</suite>'), 'cannot be read'],
    ['with entities of its own', XML.replace('3 == 4', '&lt;&x;'), 'cannot be read'],
    ['that is not there', 'All tests passed!\n', 'no report'],
    // Written to be read for hours, in which nothing else goes on: each begins a piece that never ends.
    ['with many beginnings', '{"numTotal":'.repeat(300_000), 'more than one report'],
    ['with notes without an end', `TAP version 13\n${'ok 1\n---\n'.repeat(50_000)}`, 'cut off'],
    ['with more tests than anybody has', `TAP version 13\n${'ok 1\n'.repeat(300_000)}`, 'more than 200000'],
    ['with many tags in a line', `x${'<testsuite '.repeat(200_000)}`, 'no report'],
  ])('%s', async (_, output, problem) => {
    const read = await readReport(Buffer.from(output), null);

    expect(read).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  test('that is not UTF-8', async () => {
    expect(await readReport(Buffer.from([0x54, 0xff, 0xfe]), null)).toMatchObject({ ok: false });
  });

  test('and never throws, whatever is printed', async () => {
    const pieces = [vitest, tap, XML, outputOf('go-ok').toString(), outputOf('pytest-mixed').toString()];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...pieces),
        fc.nat(),
        fc.nat(40),
        fc.string(),
        async (text, at, length, put) => {
          const start = at % text.length;
          const read = await readReport(
            Buffer.from(text.slice(0, start) + put + text.slice(start + length)),
            null,
          );
          expect(typeof read.ok).toBe('boolean');
        },
      ),
      { numRuns: cases({ quick: 50, full: 2000 }) },
    );
  });
});

describe('red and green', () => {
  const report = (...outcomes: readonly ('passed' | 'failed' | 'skipped' | 'errored')[]) => ({
    tests: outcomes.map((outcome, at) => ({ id: `file > t${at}`, outcome })),
    broken: [],
  });
  test.each([
    ['red', 1, report('passed', 'failed'), true],
    ['red', 0, report('passed', 'failed'), false],
    ['red', 1, report('passed'), false],
    ['red', 1, report('errored', 'passed'), false],
    ['red', 1, report('skipped'), false],
    ['green', 0, report('passed'), true],
    ['green', 1, report('passed'), false],
    ['green', 0, report('passed', 'failed'), false],
    ['green', 0, report('passed', 'skipped'), false],
    ['green', 0, report('skipped', 'skipped'), false],
    ['green', 0, report(), false],
  ] as const)('`%s` with exit code %d of %j: %s [adv.I2 adv.I4 adv.I8]', (wanted, code, given, passed) => {
    expect(judgeReport(given, code, { expect: wanted, among: [], skipped: false }).passed).toBe(passed);
  });

  test('named tests must be among them, by the end of their name', () => {
    const red = { expect: 'red', skipped: false } as const;

    expect(judgeReport(report('passed', 'failed'), 1, { ...red, among: ['t1'] }).passed).toBe(true);
    expect(judgeReport(report('passed', 'failed'), 1, { ...red, among: ['t0'] })).toMatchObject({
      passed: false,
      what: expect.stringContaining('`t0` not among the failed tests'),
    });
    expect(judgeReport(report('passed', 'failed'), 1, { ...red, among: ['1'] }).passed).toBe(false);
  });
});

describe('the check runs the tests of a workspace', () => {
  const RUNNER = [process.execPath, '--test', '--test-reporter=tap'];
  const FILES = {
    'sum.mjs': 'export const sum = (a, b) => a + b;\n',
    'sum.test.mjs': testing('sum(1, 2), 3'),
    'canary.mjs': testing('sum(1, 2), 4'),
  };

  test('green, with a test that must fail and does', async () => {
    const answer = await run(FILES, { expect: 'green', canary: [...RUNNER, 'canary.mjs'] });

    expect(answer).toMatchObject({
      passed: true,
      reason: expect.stringContaining('is green: 1 passed, 0 failed'),
    });
  });

  test('code under test that patches `assert` is found by the canary [adv.I4]', async () => {
    const patched = `import assert from 'node:assert';\nassert.equal = () => {};\n${FILES['sum.mjs']}`;

    const answer = await run(
      { ...FILES, 'sum.mjs': patched.replace('a + b', '0') },
      { expect: 'green', canary: [...RUNNER, 'canary.mjs'] },
    );

    expect(answer).toMatchObject({
      passed: false,
      reason: expect.stringContaining('the test that must fail did not'),
    });
  });

  test('code under test that ends the process well has no passing test', async () => {
    const answer = await run(
      { ...FILES, 'sum.mjs': `process.exit(0);\n${FILES['sum.mjs']}` },
      { expect: 'green' },
    );

    expect(answer.passed).toBe(false);
  });

  test('a runner that writes its report to a file is given one', async () => {
    const written = [
      process.execPath,
      '-e',
      `fs.writeFileSync(process.argv[1], ${JSON.stringify(XML)}); process.exit(1)`,
    ];

    expect(await run(FILES, { expect: 'red', argv: [...written, '{report}'] })).toMatchObject({
      passed: true,
    });
  });

  test('a runner that is not there, and one that hangs', async () => {
    expect(await run(FILES, { expect: 'red', argv: ['no-such-runner'] })).toMatchObject({
      passed: false,
      reason: expect.stringContaining('there is no program `no-such-runner`'),
    });
    await expect(
      run(FILES, { expect: 'red', argv: ['/bin/sh', '-c', 'sleep 60'], timeout_seconds: 0.1 }),
    ).rejects.toThrow('did not end within 0.1 seconds');
  });

  test('a runner that only the workspace has is not taken, and the answer says so', async () => {
    const workspace = await temporaryFolder();
    await writeFile(join(workspace, 'own-runner'), '#!/bin/sh\n', { mode: 0o755 });
    const path = process.env.PATH;
    onTestFinished(() => {
      process.env.PATH = path;
    });
    process.env.PATH = `${workspace}:${path}`;

    expect(await tests.run(checkInput({ argv: ['own-runner'], expect: 'red' }, { workspace }))).toMatchObject(
      {
        passed: false,
        reason: expect.stringContaining('the one in the workspace is not taken'),
      },
    );
  });

  function testing(claim: string): string {
    return `import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { sum } from './sum.mjs';\ntest('sums', () => assert.equal(${claim}));\n`;
  }

  async function run(files: Readonly<Record<string, string>>, parameters: Record<string, unknown>) {
    const workspace = await temporaryFolder();
    for (const [name, text] of Object.entries(files)) await writeFile(join(workspace, name), text);
    const asked = { argv: [...RUNNER, 'sum.test.mjs'], ...parameters } as Parameters<typeof checkInput>[0];
    return tests.run(checkInput(asked, { workspace }));
  }
});
