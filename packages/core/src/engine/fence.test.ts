import { expect, test } from 'vitest';
import type { Facts } from './command.ts';
import { checksFor, decide } from './decide.ts';
import { AGENT, complete, started, workflowOf } from './fixtures/walks.ts';
import { readRecording, recorded } from './recording.ts';
import type { Run, TreeChange } from './run.ts';

const NOW = '2026-11-17T10:00:00.000Z';

test('only a phase that was measured is asked about, and what nobody looked at is refused', () => {
  const bare = started(workflow());
  const measured = withTree(bare);
  const circumstance = { principal: AGENT, now: NOW, facts: {} };

  expect(checksFor(bare, complete(bare, {}), circumstance)).toEqual([]);
  expect(checksFor(measured, complete(measured, {}), circumstance)).toEqual([
    { kind: 'tree', id: 'tree', run: measured.id, phase: 'A', tree: 'before' },
  ]);
  expect(decide(measured, complete(measured, {}), circumstance).verdict).toMatchObject({
    allowed: false,
    blockers: [{ code: 'tree_unknown' }],
  });
});

test('a change outside the scope refuses, names the path and counts as no attempt', () => {
  const { verdict, run } = submit(withTree(started(workflow())), [
    { path: 'package.json', how: 'changed', by: 'during `bash` `npm i`, record 4' },
  ]);

  expect(verdict).toMatchObject({
    allowed: false,
    blockers: [
      {
        code: 'scope_violation',
        message:
          '`package.json` was changed (during `bash` `npm i`, record 4), and phase `A` may write src/**',
      },
    ],
  });
  expect(run.work).toMatchObject({ attempts: 0, outside: [{ path: 'package.json' }] });
});

test('what a program leaves behind by the thousand is told in a few lines, with the way out', () => {
  const left: TreeChange[] = [
    ...Array.from({ length: 150 }, (_, at) => ({ path: `node_modules/a/${at}.js`, how: 'added' as const })),
    { path: 'package-lock.json', how: 'changed' },
    { path: 'tests/__pycache__/a.pyc', how: 'added' },
    { path: '.pytest_cache/README.md', how: 'added' },
    { path: '.pytest_cache/v/nodeids', how: 'changed' },
  ];

  const { verdict } = submit(withTree(started(workflow())), left);

  expect(verdict.allowed === false && verdict.blockers.map(({ message }) => message)).toEqual([
    '`package-lock.json` was changed, and phase `A` may write src/**',
    '150 files in `node_modules/` were added, and phase `A` may write src/**',
    '`tests/__pycache__/a.pyc` was added, and phase `A` may write src/**',
    '2 files in `.pytest_cache/` were added or changed, and phase `A` may write src/**; what a program leaves behind is left out with `.gitignore`, before a run is started, or named in the `writes` of the phase',
  ]);
});

test('of many changes of one folder a few are named, so that others are too', () => {
  const many: TreeChange[] = [
    ...Array.from({ length: 100 }, (_, at) => ({ path: `docs/${at}.md`, how: 'added' as const })),
    { path: 'package.json', how: 'changed' },
  ];

  const { verdict } = submit(withTree(started(workflow())), many);

  const messages = verdict.allowed ? [] : verdict.blockers.map(({ message }) => message);
  expect(messages).toHaveLength(16);
  expect(messages).toContain('`package.json` was changed, and phase `A` may write src/**');
  expect(messages.at(-1)).toBe('86 more paths were changed outside the scope');
});

test('what the scope holds passes, whatever the fact says, and the next phase begins with the new measure', () => {
  const { verdict, run } = submit(withTree(started(workflow())), [{ path: 'src/a.ts', how: 'changed' }]);

  expect(verdict.allowed).toBe(true);
  expect(run).toMatchObject({ phase: 'B', work: { tree: 'after' } });
});

test('what changed within the scope is in the history: where a gate opens, and where a phase is left', () => {
  const inside = { changes: [{ path: 'src/a.ts', how: 'added' as const }] };
  const facts: Facts = { tree: { kind: 'tree', result: { ok: true, tree: 'after', outside: [], inside } } };
  const human = { prompt: 'Good?', options: [{ label: 'Yes' }] };
  const left = withTree(started(workflow()));
  const gated = withTree(started(workflowOf([{ id: 'A', writes: ['src/**'], gates: [{ id: 'g', human }] }])));

  for (const [run, type] of [
    [left, 'phase_completed'],
    [gated, 'gate_opened'],
  ] as const) {
    const { events } = decide(run, complete(run, {}), { principal: AGENT, now: NOW, facts });

    expect(events).toMatchObject([{ type, files: inside }]);
    // A decision can be made again, and the list is not kept twice.
    const kept = recorded({ command: complete(run, {}), facts }, events);
    expect(JSON.stringify(kept)).not.toContain('src/a.ts');
    const record = { time: NOW, event: type, data: { recorded: kept } };
    expect(readRecording(record, events)).toMatchObject({ facts });
  }
});

test('a second name of a file refuses inside the scope too', () => {
  const { verdict } = submit(withTree(started(workflow())), [{ path: 'src/a.ts', how: 'linked' }]);

  expect(verdict.allowed).toBe(false);
});

test('reporting `fail` does not make a change outside the scope the measure of the next phase', () => {
  const run = withTree(started(workflow()));
  const command = complete(run, {}, { outcome: 'fail', reason: 'it does not work' });
  const facts = factsWith([{ path: 'package.json', how: 'changed' }]);

  const { verdict } = decide(run, command, { principal: AGENT, now: NOW, facts });

  expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'scope_violation' }] });
});

test('only a human settles, with a reason where a change stays; the measure is the new one then', () => {
  const run = withTree(started(workflow()));
  const accept = { kind: 'fence', action: 'accept', paths: ['x'], reason: 'mine', tree: 'accepted' } as const;
  const by = (principal: Parameters<typeof decide>[2]['principal']) => ({ principal, now: NOW, facts: {} });
  const human = { kind: 'human', name: 'maria' } as const;

  expect(decide(run, accept, by(AGENT)).verdict).toMatchObject({ blockers: [{ code: 'not_a_human' }] });
  expect(decide(run, { ...accept, reason: ' ' }, by(human)).verdict).toMatchObject({
    blockers: [{ code: 'reason_required' }],
  });
  const settled = decide(run, accept, by(human));
  expect(settled.run.work.tree).toBe('accepted');
  expect(settled.run.fenced).toMatchObject([{ action: 'accept', by: 'maria', paths: ['x'] }]);
});

function workflow() {
  const next = { outcomes: { ok: 'B', fail: 'B' } };
  return workflowOf([
    { id: 'A', writes: ['src/**'], next },
    { id: 'B', next: { to: null } },
  ]);
}

function withTree(run: Run): Run {
  return { ...run, work: { ...run.work, tree: 'before' } };
}

function factsWith(outside: readonly TreeChange[]): Facts {
  return { tree: { kind: 'tree', result: { ok: true, tree: 'after', outside } } };
}

function submit(run: Run, outside: readonly TreeChange[]) {
  return decide(run, complete(run, {}), { principal: AGENT, now: NOW, facts: factsWith(outside) });
}
