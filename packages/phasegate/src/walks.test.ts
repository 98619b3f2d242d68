import type { WorkflowDraft } from '@phasegate/core';
import { expect, onTestFinished, test } from 'vitest';
import { Parser } from 'yaml';
import { openLocalProject } from './localProject.ts';
import { driveRun } from './runner/driveRun.ts';
import { commanded, driveBed, play } from './runner/fixtures/driveBed.ts';
import { openMemoryProject } from './runtime/fixtures/openMemoryProject.ts';
import type { AgentPrincipal, Store } from './runtime/ports.ts';
import { EMPTY_PROJECT, makeShell } from './surfaces/cli/fixtures/callCli.ts';
import { connect } from './surfaces/mcp/fixtures/connect.ts';

// How often a run is loaded, or a file parsed, on each of the walks that ARCHITECTURE.md tells of. One call is one load.

const ADA: AgentPrincipal = { kind: 'agent', name: 'ada' };
const ERRAND: WorkflowDraft = {
  id: 'errand',
  phases: [
    { id: 'PLAN', instructions: 'plan it', allowedTools: ['read_files', 'git'] },
    { id: 'BUILD', instructions: 'build it' },
  ],
};
const GATED: WorkflowDraft = {
  id: 'errand',
  phases: [
    {
      id: 'PLAN',
      gates: [
        { id: 'ok', human: { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'No', next: 'PLAN' }] } },
      ],
    },
    { id: 'BUILD' },
  ],
};

test.each([
  ['once the agent was told of it', true],
  ['on the first call of a connection', false],
])('`complete_phase` over MCP loads its run once, %s', async (_, told) => {
  const it = openMemoryProject(ERRAND);
  const { root: projectDir, env } = makeShell(EMPTY_PROJECT);
  const { catalog, standards } = await openLocalProject({ projectDir, env });
  const parts = { phasegate: it.project.as(ADA), catalog, standards, version: '0.0.0', epochs: new Map() };
  const { call } = await connect(parts, { era: 'legacy' });
  const session_id = await started(it.project.as(ADA));
  if (told) await call('get_current_phase', { session_id });
  const loads = counted(it.store);

  const answer = await call('complete_phase', { session_id, phase: 'PLAN', evidence: {} });

  expect(answer).toMatchObject({ checkpoint_passed: true, next_phase: 'BUILD' });
  expect(loads()).toBe(1);
});

test.each([
  ['loads a run that the store has in memory only for a command line, or for what is not a tool', true],
  ['loads its run once where the store has to be asked', false],
])('a tool check %s, whatever the verdict', async (_, peeks) => {
  const it = openMemoryProject(ERRAND);
  if (!peeks) Object.assign(it.store, { peek: undefined });
  await it.project.as({ kind: 'human', name: 'operator' }).start({ workflow: 'errand', queue: true });
  const token = (await it.project.claims.claim(ADA, []))?.token ?? '';
  const admitted = it.project.claims.admitAtOnce(token) ?? (await it.project.claims.admit(token));
  const loads = counted(it.store);

  for (const [tool, input, allowed, inMemory] of [
    ['read_files', { path: 'a' }, true, 0],
    ['write_files', { path: 'a' }, false, 0],
    ['bash', { command: 'git status' }, true, 1],
    ['git*', {}, false, 1],
  ] as const) {
    expect(await it.project.toolbox.check(admitted, { tool, input }), tool).toMatchObject({ allowed });
    expect([tool, loads()]).toEqual([tool, peeks ? inMemory : 1]);
  }
});

test('`decide` loads its run twice: to see whether and where it waits before anybody types, and to decide', async () => {
  const it = openMemoryProject(GATED);
  const shell = makeShell(EMPTY_PROJECT);
  const run = await started(it.project.as(ADA));
  await it.project.humans.add('maria', 'open sesame', null);
  const handedIn = await it.project.as(ADA).submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} });
  expect(handedIn.verdict).toMatchObject({ allowed: true });
  const { shown } = (await it.project.gateCard(run)) ?? expect.fail('it waits at no gate');
  const loads = counted(it.store);

  const fd = shell.descriptor('open sesame\n');
  const words = ['decide', run, '--option', 'Yes', '--shown', shown, '--as', 'maria'];
  const decided = await shell.callIn(it.project, [...words, '--passphrase-fd', String(fd)]);

  expect(decided).toMatchObject({ code: 0, stderr: '' });
  expect(loads()).toBe(2);
});

test('`run` loads its run once before it is the driver, once after, and twice for each further step', async () => {
  const bed = await driveBed([commanded('ONE', play('ok')), commanded('TWO', play('ok'))]);
  const shell = makeShell(EMPTY_PROJECT);
  const loads = counted(bed.store);
  let renewals = 0;
  const open = {
    ...bed.open,
    claims: {
      ...bed.open.claims,
      attend: (...asked: Parameters<typeof bed.open.claims.attend>) => {
        renewals += 1;
        return bed.open.claims.attend(...asked);
      },
    },
  };
  const counts: (readonly [string, number])[] = [];
  const machine = {
    stopping: () => new AbortController().signal,
    driveRun: (request: Parameters<typeof driveRun>[0]) => {
      const report: typeof request.report = (progress) => {
        if (!progress.event.startsWith('step_')) return;
        // The lease is also renewed by time, however long a step takes here.
        const looked =
          progress.event === 'step_started' ? Math.min(renewals, counts.length === 0 ? 2 : 1) : 0;
        counts.push([progress.event, loads() - renewals + looked]);
        renewals = 0;
      };
      const terminal = { start: () => expect.fail('no terminal') };
      return driveRun({ ...request, report }, { terminal, launcher: ['phasegate'] });
    },
  };

  const driven = await shell.callIn(open, ['run', bed.run], machine as never);

  expect(driven).toMatchObject({ code: 0 });
  expect(counts).toEqual([
    ['step_started', 2],
    ['step_ended', 1],
    ['step_started', 1],
    ['step_ended', 1],
  ]);
});

test('`check` parses each file of the project once', async () => {
  const shell = makeShell({
    ...EMPTY_PROJECT,
    'counted.workflow.yaml': yamlOf('counted'),
    'beside.workflow.yaml': yamlOf('beside'),
  });
  const parsed = parses();

  const checked = await shell.call(['check', 'counted', '--json']);

  expect(checked).toMatchObject({ stderr: '' });
  expect(checked.json()).toMatchObject({ workflow: 'counted' });
  expect(parsed.toSorted()).toEqual([yamlOf('beside'), yamlOf('counted')]);
});

const yamlOf = (id: string) => `workflow: ${id}\nphases:\n  - { id: WALK, instructions: walk, next: null }\n`;

/** The texts that are parsed from now on, until the test ends. */
function parses(): string[] {
  const texts: string[] = [];
  const { parse } = Parser.prototype;
  Parser.prototype.parse = function (this: Parser, source: string, incomplete?: boolean) {
    texts.push(source);
    return parse.call(this, source, incomplete);
  };
  onTestFinished(() => {
    Parser.prototype.parse = parse;
  });
  return texts;
}

async function started(
  gate: ReturnType<ReturnType<typeof openMemoryProject>['project']['as']>,
): Promise<string> {
  const { view, verdict } = await gate.start({ workflow: 'errand' });
  return view?.run ?? expect.fail(JSON.stringify(verdict));
}

/** Counts the loads of a real store; gives those since it was last asked. */
function counted(store: Store): () => number {
  const open = store as { -readonly [Name in keyof Store]: Store[Name] };
  const load = store.load.bind(store);
  let count = 0;
  open.load = (runId) => {
    count += 1;
    return load(runId);
  };
  return () => {
    const since = count;
    count = 0;
    return since;
  };
}
