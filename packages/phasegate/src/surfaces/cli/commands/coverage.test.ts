import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../../../test/tier.ts';
import { testLocalWorkflow } from '../../../localTests.ts';
import type { Machine } from '../command.ts';
import { type Called, makeShell, type Shell } from '../fixtures/callCli.ts';

const REPOSITORY = fileURLToPath(new URL('../../../../../../', import.meta.url));
const GUIDE = readFileSync(join(REPOSITORY, 'docs/guide/coverage.md'), 'utf8');
const [WORKFLOW = '', CONTRACT = ''] = Array.from(
  GUIDE.matchAll(/```yaml\n([\s\S]*?)```/g),
  (found) => found[1],
);
const FILES = { 'release.workflow.yaml': WORKFLOW, 'release.contract.yaml': CONTRACT };

interface Report {
  readonly total: {
    readonly total: number;
    readonly seen: number;
    readonly tests: number;
    readonly runs: number;
  };
  readonly kinds: readonly {
    readonly kind: string;
    readonly total: number;
    readonly tests: number;
    readonly runs: number;
  }[];
  readonly elements: readonly {
    readonly kind: string;
    readonly name: string;
    readonly tests: number;
    readonly runs: number;
  }[];
  readonly counted: { readonly tests: number; readonly runs: number };
  readonly otherVersions: { readonly runs: number };
}

describe('what tests show', () => {
  test('is printed by kind with what was never seen, as the guide has it, and leaves no state behind', async () => {
    const shell = makeShell(FILES);

    const { code, stdout } = await run(shell, ['release']);

    expect(code).toBe(0);
    expect(GUIDE).toContain(`\`\`\`text\n${stdout}\`\`\``);
    expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
  });

  test.runIf(FULL)(
    'an honest walk of the example covers all its phases, and what is missing can be covered as it is told',
    async () => {
      const shell = makeShell();
      cpSync(join(REPOSITORY, 'examples/tdd'), shell.root, { recursive: true });

      const { kinds, elements } = report(await run(shell, ['tdd', '--tests', '--json']));

      for (const kind of ['phase_entered', 'phase_completed', 'gate_decided', 'option', 'blocker_held']) {
        const row = kinds.find((one) => one.kind === kind);
        expect([kind, row?.tests]).toEqual([kind, row?.total]);
      }
      // Its contract tests have one whose start is refused, which makes no run.
      expect(elements).toContainEqual(
        expect.objectContaining({
          kind: 'precondition_refused',
          name: 'precondition `is_a_package` of `PLAN`',
          tests: 1,
        }),
      );
    },
  );

  test('the hints, written into the contract tests, leave nothing unseen', async () => {
    const more = `  - name: a human rejects it
    steps:
      - { agent: { complete: BUILD, evidence: {} }, expect: { status: waiting } }
      - { human: { choose: Reject } }
  - name: nothing was built
    checks: { built: fail }
    steps:
      - { agent: { complete: BUILD, evidence: {} }, expect: { code: check_failed } }
      - { tool: { tool: "mcp:any/tool", input: {} }, expect: { allowed: false } }
`;
    const shell = makeShell({ ...FILES, 'release.contract.yaml': CONTRACT + more });

    const { code, stdout } = await run(shell, ['release', '--tests', '--min', '100']);

    expect(stdout).toMatch(/^release: 100% seen/);
    expect(stdout).not.toContain('never seen');
    expect(code).toBe(0);
  });

  test('a test that fails is told, what it shows counts, and the exit code is 1', async () => {
    const failing = `${CONTRACT}  - name: it ships itself\n    steps:\n      - { agent: { complete: PUBLISH }, expect: { phase: null } }\n`;
    const shell = makeShell({ ...FILES, 'release.contract.yaml': failing });

    const { code, stdout } = await run(shell, ['release', '--tests']);

    expect(code).toBe(1);
    expect(stdout).toMatch(/failed {2}release: it ships itself\n {2}release\.contract\.yaml:9: /);
    expect(stdout).toContain('3 contract tests played, 1 failed');
    expect(stdout).toMatch(/^release: \d\d% seen/);
  });

  test('a workflow without contract tests says so', async () => {
    const { code, stdout } = await run(makeShell({ 'release.workflow.yaml': WORKFLOW }), ['release']);

    expect(code).toBe(0);
    expect(stdout).toContain(
      '0 contract tests played, 0 failed; there is no file of contract tests beside the workflow',
    );
    expect(stdout).toMatch(/^release: 0% seen/);
  });
});

describe('what real runs show', () => {
  const PLAIN = 'workflow: plain\nphases:\n  A: { allowed_tools: [grep], next: B }\n  B: { next: null }\n';

  test('is counted from the store, beside the tests', async () => {
    const shell = makeShell({ 'plain.workflow.yaml': PLAIN });
    const id = String((await shell.call(['start', 'plain', '--json'])).json().run);
    await shell.call(['done', id, '--phase', 'A', '--evidence', '-'], '{}');
    await shell.call(['start', 'plain']);

    const both = report(await run(shell, ['plain', '--json']));
    const { stdout } = await run(shell, ['plain', '--runs']);

    expect(both).toMatchObject({
      counted: { tests: 0, runs: 2 },
      total: { total: 7, seen: 4, tests: 0, runs: 4 },
    });
    expect(both.elements.filter(({ runs }) => runs > 0).map(({ kind, runs }) => `${kind} ${runs}`)).toEqual([
      'phase_entered 2',
      'phase_completed 1',
      'transition 1',
      'phase_entered 1',
    ]);
    expect(stdout).toContain('phase `B`: no run completes it');
    expect(stdout).toContain('2 recorded runs read');
  });

  test('does not include runs of another version, unless all are wanted', async () => {
    const shell = makeShell({ 'plain.workflow.yaml': PLAIN });
    await shell.call(['start', 'plain']);
    shell.write('plain.workflow.yaml', PLAIN.replace('B: {', 'B: { instructions: Other,'));

    const now = await run(shell, ['plain', '--runs']);
    const all = report(await run(shell, ['plain', '--runs', '--all-versions', '--json']));

    expect(now.stdout).toContain('0 recorded runs read\n1 run of another version left out');
    expect(now.stdout).toMatch(/^plain: 0% seen/);
    expect(all).toMatchObject({ counted: { runs: 1 }, otherVersions: { runs: 0 }, total: { seen: 1 } });
  });

  test('includes a start that the first phase’s precondition refused', async () => {
    const pre = 'preconditions: [{ name: there, check: files, with: { exist: [x] }, message: No x }]';
    const shell = makeShell({ 'plain.workflow.yaml': PLAIN.replace('A: {', `A: { ${pre},`) });
    expect((await shell.call(['start', 'plain'])).code).toBe(1);

    const { elements } = report(await run(shell, ['plain', '--runs', '--json']));

    expect(elements.filter(({ runs }) => runs > 0)).toMatchObject([
      { kind: 'precondition_refused', runs: 1 },
    ]);
  });
});

describe('the exit code', () => {
  test.each<[string, number]>([
    ['0', 0],
    ['60', 0],
    ['99.5', 1],
    ['100', 1],
  ])('with `--min %s` is %i', async (min, code) => {
    const called = await run(makeShell(FILES), ['release', '--tests', '--min', min]);

    expect(called.code).toBe(code);
    expect(called.stdout.includes(`less than the ${min}% of \`--min\` was seen`)).toBe(code === 1);
  });

  test.each([
    [['release', '--min', '101'], '`--min` is a percentage from 0 to 100, not `101`'],
    [['release', '--min', '-1'], '--min'],
    [['release', '--min', 'most'], 'not `most`'],
    [[], 'WORKFLOW'],
  ])('of the words %j is 2', async (words, message) => {
    const called = await run(makeShell(FILES), words);

    expect([called.code, called.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('of a workflow that is not there is 1, and says so', async () => {
    const called = await run(makeShell(FILES), ['nothing']);

    expect([called.code, called.stderr]).toEqual([
      1,
      expect.stringContaining('there is no workflow `nothing`'),
    ]);
  });

  test('of a broken file of tests is 2', async () => {
    const called = await run(makeShell({ ...FILES, 'release.contract.yaml': 'tests: [\n' }), ['release']);

    expect([called.code, called.stderr]).toEqual([2, expect.stringContaining('release.contract.yaml')]);
  });
});

describe('the picture', () => {
  test.each<[string, RegExp]>([
    ['mermaid', /linkStyle 1 stroke:#[0-9a-f]+,stroke-dasharray:2 4/],
    ['dot', /label="Reject\\nnever seen", style="dotted"/],
    ['svg', /<tspan[^>]*>Reject<\/tspan><tspan[^>]*>never seen<\/tspan>/],
  ])('as %s marks what was never seen', async (format, mark) => {
    const { code, stdout } = await run(
      makeShell(FILES),
      ['release', '--coverage', '--format', format],
      'graph',
    );

    expect(code).toBe(0);
    expect(stdout).toMatch(mark);
    expect(stdout).toMatch(/\d+(?:%|#37;) seen \(\d+ of \d+\), \d+(?:%|#37;) by tests, 0(?:%|#37;) by runs/);
  });

  test('as JSON has counts on nodes and edges, and in all', async () => {
    const { nodes, edges, coverage } = (
      await run(makeShell(FILES), ['release', '--coverage', '--json'], 'graph')
    ).json();

    expect(nodes).toContainEqual(
      expect.objectContaining({ id: 'BUILD', coverage: expect.objectContaining({ tests: 2, runs: 0 }) }),
    );
    expect(edges).toContainEqual(
      expect.objectContaining({ label: 'Reject', coverage: { tests: 0, runs: 0 } }),
    );
    expect(coverage).toMatchObject({ runs: 0, total: expect.any(Number) });
  });

  test('shows a run or coverage, not both', async () => {
    const called = await run(makeShell(FILES), ['release', '--coverage', '--run', 'x'], 'graph');

    expect([called.code, called.stderr]).toEqual([2, expect.stringContaining('two pictures')]);
  });
});

function report(called: Called): Report {
  expect(called.code, called.stderr).toBe(0);
  return called.json() as unknown as Report;
}

async function run(shell: Shell, words: readonly string[], command = 'coverage'): Promise<Called> {
  const none = () => expect.fail('this is not asked for here');
  const machine: Machine = {
    serveMcp: none,
    openServer: none,
    spawnAgent: none,
    runLaunch: none,
    driveRun: none,
    stopping: () => new AbortController().signal,
    testWorkflow: testLocalWorkflow,
  };
  return shell.callWith(machine, [command, ...words]);
}
