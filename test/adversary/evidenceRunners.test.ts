import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { checkInput, temporaryFolder } from '../../packages/phasegate/src/checks/fixtures/checkInput.ts';
import { tests } from '../../packages/phasegate/src/checks/tests/tests.ts';
import type { CheckInput } from '../../packages/phasegate/src/runtime/ports.ts';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { makeProject, phasegate, startRun } from '../e2e/cli.ts';
import { someOf } from '../tier.ts';

const { works } = (await findBubblewrap()).state;
const PYTHON = '/usr/bin/python3';
const hasPytest = works && spawnSync(PYTHON, ['-m', 'pytest', '--version']).status === 0;

/** A runner that loads the code under test in its own process, where that code can do all that the runner can. */
interface InProcess {
  readonly argv: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly code: string;
  readonly honest: string;
  /** Makes the report itself, of a test that passed, and ends the process as if all were well. */
  readonly forging: string;
}

const NODE: InProcess = {
  argv: ['node', '--test', '--test-isolation=none', '--test-reporter=tap', 'tests/sum.test.mjs'],
  files: {
    'tests/sum.test.mjs':
      "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { sum } from '../src/sum.mjs';\ntest('sums', () => assert.equal(sum(1, 2), 3));\n",
  },
  code: 'src/sum.mjs',
  honest: 'export const sum = (a, b) => a + b;\n',
  forging:
    "import { writeSync } from 'node:fs';\nwriteSync(1, 'TAP version 13\\nok 1 - sums\\n1..1\\n');\nprocess.exit(0);\nexport const sum = () => 0;\n",
};

const PYTEST: InProcess = {
  argv: [PYTHON, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--junitxml={report}', 'tests'],
  files: {
    // It names nothing: pytest is the system's.
    'requirements.txt': '',
    'tests/test_sum.py':
      'import sys\nsys.path.insert(0, "src")\nfrom sums import add\n\n\ndef test_sums():\n    assert add(1, 2) == 3\n',
  },
  code: 'src/sums.py',
  honest: 'def add(a, b):\n    return a + b\n',
  forging: `import os, sys
path = [word for word in sys.argv if word.startswith("--junitxml=")][0][len("--junitxml="):]
with open(path, "w") as report:
    report.write('<testsuite tests="1"><testcase classname="tests.test_sum" name="test_sums"/></testsuite>')
os._exit(0)
`,
};

describe.runIf(works)('a runner that loads the code under test in its own process (bubblewrap)', () => {
  test('node:test without processes of their own: a report that the code printed is not believed [adv.I1 adv.I4]', () =>
    triedWith(NODE));

  test.runIf(hasPytest)(
    'pytest: a report that the code wrote to the file is not believed [adv.I1 adv.I4]',
    () => triedWith(PYTEST),
    60_000,
  );
});

/** It turns every failure of the session into a pass, wherever the test stands. */
const PLUGIN = `from _pytest.reports import TestReport
_from = TestReport.from_item_and_call.__func__


def passing(cls, item, call):
    report = _from(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report


TestReport.from_item_and_call = classmethod(passing)
`;

test.runIf(hasPytest)(
  'pytest: what it finds by itself in a folder that the phase writes is a verifier of the agent (bubblewrap) [adv.I5]',
  async () => {
    const argv = PYTEST.argv.slice(0, -1);
    const check = workflow(argv).replace(', canary: { plant: ["tests/**"] }', '');
    const tried = async (needs: string) => {
      const project = makeProject({
        'proven.workflow.yaml': check.replace('needs: verified', needs),
        'src/sums.py': 'def add(a, b):\n    return 0\n',
        ...PYTEST.files,
      });
      const run = await startRun(project, 'proven');
      project.write('src/conftest.py', PLUGIN);
      return phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' });
    };

    const [proven, seen] = [
      await tried('needs: verified'),
      await tried('verify: true\n        needs: observed'),
    ];

    expect(proven.json).toMatchObject({ blockers: [{ code: 'evidence_class_too_low' }] });
    expect(proven.stdout).toMatch(/may write `src\/conftest\.py`.*`verifier_in_scope`/);
    // In the workspace the trick works, which is why its class is told.
    expect(seen.json).toMatchObject({ checkpoint_passed: true });
    expect(JSON.stringify(seen.json.warnings)).toContain('is observed and not verified');
  },
  60_000,
);

async function triedWith({ argv, files, code, honest, forging }: InProcess): Promise<void> {
  const tried = async (text: string) => {
    const project = makeProject({
      'proven.workflow.yaml': workflow(argv),
      'package.json': '{ "type": "module" }\n',
      ...files,
    });
    const run = await startRun(project, 'proven');
    project.write(code, text);
    return phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' });
  };

  const fair = await tried(honest);
  const forged = await tried(forging);

  expect(fair.json).toMatchObject({ checkpoint_passed: true, current_phase: 'END' });
  expect(forged.json).toMatchObject({
    checkpoint_passed: false,
    blockers: [
      { code: 'runner_tampered', message: expect.stringContaining('the test that must fail did not') },
    ],
  });
}

function workflow(argv: readonly string[]): string {
  return `workflow: proven
phases:
  IMPL:
    instructions: Make them pass.
    writes: ["src/**"]
    postconditions:
      - name: green
        check: tests
        with: { argv: ${JSON.stringify(argv)}, expect: green, canary: { plant: ["tests/**"] } }
        needs: verified
        message: The tests must pass
  END:
    instructions: Report.
`;
}

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--outputFile={report}'];
const FAIR = 'export const sum = (a, b) => a + b;\n';

const CODE = [
  ['is honest', FAIR, { passed: true }],
  [
    'patches what `expect` does',
    "import { chai } from 'vitest';\nchai.Assertion.overwriteMethod('toBe', () => function () {});\nexport const sum = () => 0;\n",
    { passed: false, code: 'runner_tampered' },
  ],
  ['ends the process', 'process.exit(0);\nexport const sum = () => 0;\n', { passed: false }],
  [
    'writes a report of its own and ends the process',
    `import { readFileSync, writeFileSync } from 'node:fs';
const words = readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8').split('\\0');
const report = words.find((word) => word.startsWith('--outputFile='))?.slice(13);
const assertionResults = [{ ancestorTitles: [], fullName: 'sums', status: 'passed', title: 'sums', failureMessages: [] }];
const numbers = { numTotalTests: 1, numPassedTests: 1, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
const testResults = [{ name: process.cwd() + '/tests/sum.test.mjs', status: 'passed', message: '', assertionResults }];
if (report) writeFileSync(report, JSON.stringify({ ...numbers, success: true, testResults }));
process.kill(process.ppid, 'SIGINT');
export const sum = () => 0;
`,
    { passed: false },
  ],
] as const;

test.each(someOf(CODE, { quick: 2, full: CODE.length }))(
  'Vitest: a planted test that must fail does where the code %s, or the run is refused [adv.I4]',
  async (_, code, expected) => {
    const answer = await tests.run(
      await inCopy({
        'package.json': '{ "type": "module" }',
        'tests/sum.test.mjs':
          "import { expect, test } from 'vitest';\nimport { sum } from '../src/sum.mjs';\ntest('sums', () => expect(sum(1, 2)).toBe(3));\n",
        'src/sum.mjs': code,
      }),
    );

    expect(answer).toMatchObject(expected);
  },
  60_000,
);

/** A copy of the engine's own without its sandbox, in which Vitest finds itself. */
async function inCopy(files: Readonly<Record<string, string>>): Promise<CheckInput> {
  const workspace = await temporaryFolder();
  const renew = async () => {
    for (const folder of ['src', 'tests']) rmSync(join(workspace, folder), { recursive: true, force: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    }
  };
  await renew();
  symlinkSync(MODULES, join(workspace, 'node_modules'));
  const asked = { argv: [process.execPath, ...VITEST], expect: 'green', canary: { plant: ['tests/**'] } };
  const room = {
    workspace,
    state: 'measured',
    copyOf: workspace,
    dependencies: null,
    path: [],
    environment: {},
    locate: (path: string) => path,
    renew,
  };
  return { ...checkInput(asked as JsonObject, { workspace }), room };
}
