import type { JsonObject } from '@phasegate/core';
import type { CheckDraft, PhaseDraft, Workflow } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { checkWays, workflowOf } from './fixtures/flaws.ts';

const CHANGES = [{ type: 'changes', schema: { type: 'array', minItems: 1 } }];
const COMMANDS = [{ name: 'commands_executed', type: 'list', rule: 'non_empty' as const }];
const MAYBE_COMMANDS = [{ name: 'commands_executed', type: 'list', rule: 'optional' as const }];
const TESTED = {
  artifacts: [{ type: 'test_run_result' }],
  postconditions: [{ check: 'tests_are_passing' }],
};

describe('git that is forbidden beside a shell', () => {
  const finding = (bash: { allowed?: readonly string[]; denied?: readonly string[] } | null) => {
    const toolConstraints = bash === null ? {} : { toolConstraints: { bash } };
    const phase = { id: 'A', allowedTools: ['bash'], forbiddenTools: ['git'], ...toolConstraints };
    return checkWays(workflowOf([phase])).findings.map(({ code, severity }) => [code, severity]);
  };

  test.each([null, { denied: ['rm **'] }, { allowed: ['**'] }, { allowed: ['npm test', '* **'] }])(
    'is an error where the shell runs any program: %j',
    (bash) => expect(finding(bash)).toEqual([['git_through_bash', 'error']]),
  );

  test('is none where the programs are named', () => {
    expect(finding({ allowed: ['npm test', 'make **'] })).toEqual([]);
  });
});

describe('evidence out of reach is an error only where it is certain', () => {
  test.each<[string, PhaseDraft, RegExp]>([
    ['no write scope', { id: 'A', allowedTools: ['bash'], artifacts: CHANGES }, /its `writes` is empty/],
    [
      'no tool that writes',
      { id: 'A', allowedTools: ['read_files'], writes: ['src/**'], artifacts: CHANGES },
      /no tool it is allowed can write/,
    ],
    [
      'a writing tool that is forbidden under its wider name',
      {
        id: 'A',
        allowedTools: ['edit_file'],
        forbiddenTools: ['write_files'],
        writes: ['src/**'],
        artifacts: CHANGES,
      },
      /no tool it is allowed can write/,
    ],
    [
      'tools that may write elsewhere only',
      {
        id: 'A',
        allowedTools: ['write_files'],
        toolConstraints: { write_files: { allowed: ['test/**'] } },
        writes: ['src/**'],
        artifacts: CHANGES,
      },
      /lies outside its `writes`/,
    ],
    [
      'commands from a phase that runs none',
      { id: 'A', allowedTools: ['read_files', 'fetch'], fields: COMMANDS },
      /`commands_executed`.*allow `bash`/,
    ],
    [
      'a test run of what it writes, with eyes shut',
      { id: 'A', allowedTools: ['write_files'], writes: ['src/**'], ...TESTED },
      /must report a test run of what it writes/,
    ],
  ])('%s', (_, phase, message) => {
    expect(checkWays(workflowOf([phase])).findings).toMatchObject([
      { code: 'evidence_out_of_reach', severity: 'error', message: expect.stringMatching(message) },
    ]);
  });

  test.each<[string, PhaseDraft]>([
    [
      'a constraint that shares files with the scope',
      {
        id: 'A',
        allowedTools: ['write_files'],
        toolConstraints: { write_files: { allowed: ['src/*.ts', 'test/**'] } },
        writes: ['src/**'],
        artifacts: CHANGES,
      },
    ],
    [
      'a shell beside a constraint',
      {
        id: 'A',
        allowedTools: ['write_files', 'bash'],
        toolConstraints: { write_files: { allowed: ['test/**'] } },
        writes: ['src/**'],
        artifacts: CHANGES,
      },
    ],
    ['commands of git', { id: 'A', allowedTools: ['git'], fields: COMMANDS }],
    ['commands of a server', { id: 'A', allowedTools: ['mcp:shell/run'], fields: COMMANDS }],
    [
      'commands of which there may be none',
      { id: 'A', allowedTools: ['read_files'], fields: MAYBE_COMMANDS },
    ],
    ['a phase whose tools nobody spoke of', { id: 'A', fields: COMMANDS }],
    [
      'work that is not an agent’s',
      { id: 'A', work: { kind: 'command', command: 'make' }, allowedTools: ['read_files'], fields: COMMANDS },
    ],
  ])('not with %s', (_, phase) => {
    expect(checkWays(workflowOf([phase])).findings).toEqual([]);
  });

  test('a test run that may be read somewhere is a note', () => {
    const phase = { id: 'A', allowedTools: ['write_files', 'read_files'], writes: ['src/**'], ...TESTED };

    expect(checkWays(workflowOf([phase]))).toMatchObject({
      clean: true,
      findings: [{ code: 'evidence_out_of_reach', severity: 'note' }],
    });
  });
});

describe('a file that must be there', () => {
  const absent: CheckDraft = { check: 'files', with: { absent: ['out/*'] } };
  const wanted = (how: 'exist' | 'non_empty' | 'contain'): CheckDraft => ({
    check: 'files',
    with: how === 'contain' ? { contain: [{ path: 'out/a.md', text: 'x' }] } : { [how]: ['out/a.md'] },
  });
  const writer = (writes: readonly string[], more: Partial<PhaseDraft> = {}): PhaseDraft => ({
    id: 'W',
    allowedTools: ['write_files'],
    writes,
    ...more,
  });

  test.each(['exist', 'non_empty', 'contain'] as const)('cannot come to be: %s', (how) => {
    const own = writer(['src/**'], { preconditions: [absent], postconditions: [wanted(how)] });
    const later = [
      { id: 'S', postconditions: [absent] },
      writer(['src/**']),
      { id: 'E', postconditions: [wanted(how)] },
    ];

    expect(unreached(workflowOf([{ id: 'S' }, own]))).toEqual([['W']]);
    expect(unreached(workflowOf(later))).toEqual([['E']]);
  });

  test.each<[string, readonly PhaseDraft[]]>([
    ['was never said to be absent', [{ id: 'S' }, { id: 'E', postconditions: [wanted('exist')] }]],
    [
      'may be written on the way',
      [
        { id: 'S', postconditions: [absent] },
        writer(['out/**']),
        { id: 'E', postconditions: [wanted('exist')] },
      ],
    ],
    [
      'may be left by a shell',
      [
        { id: 'S', postconditions: [absent] },
        { id: 'E', allowedTools: ['bash'], postconditions: [wanted('exist')] },
      ],
    ],
    [
      'may be left by a command the engine runs',
      [
        { id: 'S', postconditions: [absent] },
        { id: 'M', postconditions: [{ check: 'command', with: { argv: ['make'] } }] },
        { id: 'E', postconditions: [wanted('exist')] },
      ],
    ],
    [
      'is absent only after the phase that may write it was entered',
      [
        { ...writer(['out/**']), preconditions: [absent] },
        { id: 'E', postconditions: [wanted('exist')] },
      ],
    ],
    [
      'is one of several a glob stands for',
      [
        { id: 'S', postconditions: [absent] },
        { id: 'E', postconditions: [{ check: 'files', with: { exist: ['**/*.md'] } }] },
      ],
    ],
  ])('is not a finding where it %s', (_, phases) => {
    expect(checkWays(workflowOf(phases)).findings).toEqual([]);
  });
});

describe('a role approves its own work', () => {
  const write = (agent: string): PhaseDraft => ({
    id: 'WRITE',
    work: { kind: 'dispatch', agent },
    allowedTools: ['write_files'],
    writes: ['src/**'],
  });
  const gated = (approvers: readonly string[], more: Partial<PhaseDraft> = {}, quorum = 1): PhaseDraft => ({
    id: 'SHIP',
    gates: [{ id: 'ship', human: { prompt: 'Ship?', options: [{ label: 'Yes' }], approvers, quorum } }],
    ...more,
  });

  test.each<[string, readonly PhaseDraft[]]>([
    [
      'as an approver of the phase it worked in',
      [gated(['bot'], { work: { kind: 'dispatch', agent: 'bot' } })],
    ],
    ['as an approver of what it wrote before', [write('bot'), { id: 'PACK' }, gated(['bot', 'ada'])]],
    [
      'together with another that worked on it',
      [write('bot'), { ...write('help'), id: 'MORE' }, gated(['bot', 'help', 'ada'], {}, 2)],
    ],
    [
      'in a review for which it writes a file',
      [
        write('bot'),
        {
          ...write('bot'),
          id: 'REVIEW',
          writes: ['reviews/**'],
          artifacts: [{ type: 'review' }],
          postconditions: [{ check: 'review_is_complete' }],
        },
      ],
    ],
  ])('%s', (_, phases) => {
    const { findings } = checkWays(workflowOf(phases));

    expect(findings).toMatchObject([{ code: 'self_approval', severity: 'error' }]);
    expect(findings[0]?.phases.at(-1)).toBe(phases.at(-1)?.id);
  });

  test.each<[string, readonly PhaseDraft[]]>([
    ['anybody may approve', [write('bot'), gated([])]],
    ['others approve', [write('bot'), gated(['ada'])]],
    ['another must agree', [write('bot'), gated(['bot', 'ada'], {}, 2)]],
    [
      'a human decided in between',
      [
        { ...write('bot'), gates: [{ id: 'seen', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } }] },
        gated(['bot']),
      ],
    ],
    [
      'it fixes what another found',
      [write('bot'), { ...write('bot'), id: 'FIX', postconditions: [{ check: 'review_is_complete' }] }],
    ],
  ])('not where %s', (_, phases) => {
    expect(checkWays(workflowOf(phases)).findings).toEqual([]);
  });
});

function unreached(workflow: Workflow): readonly unknown[] {
  return checkWays(workflow).findings.flatMap(({ code, severity, phases }) =>
    code === 'evidence_out_of_reach' && severity === 'error' ? [phases] : [],
  );
}

test('the config of a runner decides about its tests, and a phase that is judged by them may not write it', () => {
  const written = (writes: readonly string[], asked: JsonObject) =>
    checkWays(
      workflowOf([
        {
          id: 'A',
          allowedTools: ['write_files'],
          writes,
          postconditions: [{ check: 'tests', with: { expect: 'green', ...asked } }],
        },
      ]),
    )
      .findings.filter(({ code }) => code === 'writes_own_law')
      .map(({ message }) => /may write `([^`]+)`/u.exec(message)?.[1]);
  const vitest = { argv: ['npx', 'vitest', 'run', '--reporter=json', '--outputFile={report}'] };
  const node = { argv: ['node', '--test', '--test-reporter=tap', 'tests/a.test.js'] };

  expect(written(['src/**', 'tests/**'], vitest)).toEqual([]);
  expect(written(['src/**', '*.config.ts'], vitest)).toEqual(['vitest.config.ts', 'vite.config.ts']);
  expect(written(['package.json'], node)).toEqual(['package.json']);
  expect(written(['src/**', 'tests/**'], node)).toEqual([]);
  expect(written(['api/**'], { argv: ['python3', '-m', 'pytest'], cwd: 'api' })).toContain('api/conftest.py');
  expect(written(['src/**'], { ...node, verifier: ['src/golden/**'] })).toEqual(['src/golden/x']);
  expect(written(['scripts/**'], { argv: ['./scripts/run.sh'] })).toEqual(['scripts/run.sh']);
  expect(written(['scripts/**'], { ...node, canary: ['node', 'scripts/canary.js'] })).toEqual([
    'scripts/canary.js',
  ]);
});
