import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import {
  accepted,
  asHuman,
  checkpointIn,
  copyTrusted,
  type Drive,
  drive,
  edit,
  halfDone,
  makeBook,
  started,
  tablesOf,
} from './bookProject.ts';
import { phasegate, type TestProject, withShown } from './cli.ts';
import { using } from './rawDatabase.ts';

// Dozens of processes, on a machine that may be busy.
const LONG = 240_000;

const TO_THE_GATE = [
  'strategic-planning',
  'create-version',
  'writer [opening]',
  'writer [ending]',
  'editor-review',
  'domain-expert-review',
  'chapter-review',
  'human-gate',
];

/** Sooner and later after a command has ended: while it is judged, saved and put into the book. */
const AFTER = Object.entries({
  'strategic-planning': 0,
  'create-version': 20,
  writer: 40,
  'editor-review': 80,
  'domain-expert-review': 120,
  'chapter-review': 160,
  'human-gate': 60,
  finalize: 30,
}).map(([step, wait]) => ({ step, wait, do: 'crash-after' }));

let original: TestProject;

beforeAll(async () => {
  original = await makeBook();
}, LONG);

// The first has every kind of step and end; the runner's own tests have the others one by one.
describe('W1 without a terminal', () => {
  test.runIf(FULL)(
    'goes through rejections, a step that lied, a failed item and too little gain, and a human leads it to the end [S3.1 S3.2 S3.8 S3.10 S3.12 S3.23 S3.24 S3.25 S3.26 S3.28 S3.30 S3.31 S3.34 S3.35 S3.36 S3.37 S3.39 S3.49 S3.50 S3.51 S3.52 S3.53 S3.54 S3.66 S3.67 S3.68 S3.77 S3.81 S3.82 C22 C23 fail.15]',
    async () => {
      const book = copyTrusted(original);

      const first = await drive(book, edit(book, 'hard'));

      expect(first.json).toMatchObject({ outcome: 'waiting', phase: 'human-gate' });
      expect(first.code).toBe(0);
      const { run } = first;
      expect(refusals(first)).toEqual([
        'create-version: Version not saved to DB',
        'writer [ending]: the scenario lets writer fail',
        'chapter-review: Metrics not saved to DB',
        'create-version: Version not saved to DB',
      ]);
      expect(checkpointIn(book, run)).toMatchObject({
        iterationCounts: { 'editor-review': 1, 'domain-expert-review': 1, 'chapter-review': 1 },
      });
      expect(attemptsAt(first, 'writer')).toEqual([
        ...['opening 1', 'ending 1', 'ending 2'],
        ...['opening 1', 'ending 1', 'opening 1', 'ending 1', 'opening 1', 'ending 1'],
      ]);
      const said = first.events.filter(({ event }) => event === 'output').map(({ line }) => line);
      expect(said).toEqual(
        expect.arrayContaining([
          'Previous attempt failed: Version not saved to DB',
          'Previous attempt failed: the scenario lets writer fail',
          'Plan round 1 of Moby-Dick; or, The Whale',
          'Plan round 2 of Moby-Dick; or, The Whale',
          'Rewrite the ending of v3: chapters 2 and 3',
        ]),
      );
      expect(first.events.findLast(({ event }) => event === 'waiting')).toMatchObject({
        what: {
          context: { 'metrics.baseline': 0.5, 'metrics.delta': 0.18, modifiedChapters: [1, 2, 3] },
          options: [
            { label: 'Approve and finalize' },
            { label: 'Request more improvements', requires_input: true },
            { label: 'Reject and stop' },
          ],
        },
      });
      // Four attempts failed, and nothing of theirs is in the book.
      expect(tablesOf(book, run)).toMatchObject({
        versions: ['v1', 'v2', 'v3'].map((id) => expect.stringContaining(`"id":"${id}"`)),
        metrics: [expect.stringContaining('"delta":0.03'), expect.stringContaining('"delta":0.18')],
        workflow_status: [JSON.stringify({ run: 'RUN', status: 'running' })],
      });

      const without = await phasegate(
        book,
        await withShown(book, ['decide', run, '--option', 'Request more improvements', '--json']),
        {
          passphrase: 'open sesame',
        },
      );
      expect(without.json.message).toBe('`--input TEXT` is missing: `Request more improvements` needs it');
      await asHuman(book, [
        ...['decide', run, '--option', 'Request more improvements'],
        ...['--input', 'the whale comes too late'],
      ]);
      const second = await drive(book, ['run', run]);
      expect(second.json).toMatchObject({ outcome: 'waiting', phase: 'human-gate' });
      expect(tablesOf(book, run).strategic_plans).toContainEqual(
        expect.stringContaining(
          '"round":3,"area":"opening","chapters":"[1]","wish":"the whale comes too late"',
        ),
      );
      await asHuman(book, ['decide', run, '--option', 'Approve and finalize']);
      const third = await drive(book, ['run', run]);

      expect([third.code, third.json.outcome]).toEqual([0, 'completed']);
      expect(accepted(third.events)).toEqual(['finalize']);
      expect(tablesOf(book, run)).toMatchObject({
        artifacts: expect.arrayContaining([expect.stringContaining('"kind":"version","name":"v4"')]),
        workflow_status: [JSON.stringify({ run: 'RUN', status: 'completed' })],
      });
      expectBackedUp(book, run);
      await expectAudited(book);
    },
    LONG,
  );

  test.runIf(FULL)(
    'a human who rejects stops the run, which is not a completed one [S3.18 S3.63 fail.15]',
    async () => {
      const book = copyTrusted(original);
      const { run } = await drive(book, edit(book, 'smooth'));
      await asHuman(book, ['decide', run, '--option', 'Reject and stop']);

      const after = await drive(book, ['run', run]);

      expect(after.json).toMatchObject({ outcome: 'stopped', status: 'stopped' });
      expect(after.events.filter(({ event }) => event === 'step_started')).toEqual([]);
      expect(tablesOf(book, run).workflow_status).toEqual([
        JSON.stringify({ run: 'RUN', status: 'running' }),
      ]);
    },
    LONG,
  );

  test.runIf(FULL)(
    'a step that fails twice is handed to a human with all there is to know, and resumed [S3.5 S3.40 S3.41 S3.42 S3.43]',
    async () => {
      const book = copyTrusted(original);
      const never = [{ step: 'editor-review', do: 'fail' }];

      const first = await drive(book, edit(book, never));

      const { run } = first;
      expect([first.code, first.json.outcome]).toEqual([1, 'escalated']);
      expect(attemptsAt(first, 'editor-review')).toEqual([' 1', ' 2']);
      expect(first.events.findLast(({ event }) => event === 'waiting')).toMatchObject({
        what: {
          for: 'escalation',
          phase: 'editor-review',
          attempts: 2,
          failure: 'the scenario lets editor-review fail',
          how: [
            expect.stringContaining(`phasegate resume ${run}`),
            expect.stringContaining('phasegate stop'),
          ],
        },
      });
      const still = await drive(book, ['run', run]);
      expect([still.code, still.json.outcome, attemptsAt(still, 'editor-review')]).toEqual([
        1,
        'escalated',
        [],
      ]);
      edit(book, []);
      await asHuman(book, ['resume', run, '--note', 'the editor is back']);
      const resumed = await drive(book, ['run', run]);
      expect(resumed.json).toMatchObject({ outcome: 'waiting', phase: 'human-gate' });
    },
    LONG,
  );

  test.runIf(FULL)(
    'what failed once is asked about, and without a terminal to ask at the flag is named [S3.44 S3.45 S3.47 S3.48 fail.26 fail.43]',
    async () => {
      const book = copyTrusted(original);
      const first = await drive(
        book,
        edit(book, [
          { step: 'editor-review', attempt: 1, do: 'fail' },
          { step: 'editor-review', attempt: 2, do: 'crash' },
        ]),
      );
      expect(first.signal).toBe('SIGKILL');
      const { run } = first;

      const asked = await phasegate(book, ['run', run]);

      expect(asked.code).toBe(2);
      expect(asked.stderr).toContain('the scenario lets editor-review fail');
      expect(asked.stderr).toContain(`phasegate run ${run} --retry`);
      const again = await drive(book, ['run', run, '--retry']);
      expect(again.json).toMatchObject({ outcome: 'waiting', phase: 'human-gate' });
      expect(attemptsAt(again, 'editor-review')).toEqual([' 2']);
      expect(accepted(again.events)).toEqual(TO_THE_GATE.slice(4));
    },
    LONG,
  );

  test.runIf(FULL)(
    'an item that failed once is asked about too [S3.46 fail.43]',
    async () => {
      const book = copyTrusted(original);
      const first = await drive(
        book,
        edit(book, [
          { step: 'writer', item: 'opening', attempt: 1, do: 'fail' },
          { step: 'writer', item: 'ending', do: 'crash' },
        ]),
      );
      expect(first.signal).toBe('SIGKILL');

      const asked = await phasegate(book, ['run', first.run]);

      expect(asked.code).toBe(2);
      expect(asked.stderr).toContain('the scenario lets writer fail');
      const again = await drive(book, ['run', first.run, '--retry']);
      expect(again.json).toMatchObject({ outcome: 'waiting', phase: 'human-gate' });
      expect([...attemptsAt(again, 'writer')].sort()).toEqual(['ending 1', 'opening 2']);
    },
    LONG,
  );

  test.runIf(FULL)(
    'code that was changed under a run is not resumed, and it says so',
    async () => {
      const book = copyTrusted(original);
      const { run } = await drive(book, edit(book, [{ step: 'editor-review', do: 'crash' }]));
      const before = tablesOf(book, run);
      const source = readFileSync(join(book.root, 'w1.workflow.ts'), 'utf8');
      book.write('w1.workflow.ts', source.replace('ctx.result.decision !== null', 'true'));

      const changed = await drive(book, ['run', run]);

      expect(changed.code).toBe(1);
      expect(changed.json).toMatchObject({
        error: 'code_changed',
        message: expect.stringContaining('the code of workflow `w1_editing` is not that of run'),
      });
      expect(changed.events.filter(({ event }) => event === 'step_started')).toEqual([]);
      expect(tablesOf(book, run)).toEqual(before);
      book.write('w1.workflow.ts', source);
      expect((await drive(book, ['run', run])).json).toMatchObject({
        outcome: 'waiting',
        phase: 'human-gate',
      });
    },
    LONG,
  );
});

// Half a hundred processes: too many for every change.
describe.runIf(FULL)('W1 killed', () => {
  test(
    'in the middle of every step and a moment after each, it comes to the same book, and no half of a step is ever in it [S3.2 S3.12 S3.27 S3.28 S3.36 S3.44 S3.47 S3.75 C22]',
    async () => {
      const [calm, book] = [copyTrusted(original), copyTrusted(original)];
      const undisturbed = await drive(calm, edit(calm, 'smooth'));
      const run = await started(book, [{ do: 'crash' }, ...AFTER]);
      let kills = 0;

      for (;;) {
        const again = await drive(book, ['run', run]);
        expect(halfDone(book)).toEqual([]);
        if (again.signal === null) {
          expect(again.json, again.stderr).toMatchObject({ outcome: 'waiting', phase: 'human-gate' });
          break;
        }
        expect(again.signal).toBe('SIGKILL');
        kills += 1;
        expect(kills).toBeLessThan(40);
      }
      for (const [project, id] of [
        [calm, undisturbed.run],
        [book, run],
      ] as const) {
        await asHuman(project, ['decide', id, '--option', 'Approve and finalize']);
      }
      await drive(calm, ['run', undisturbed.run]);
      let last = await drive(book, ['run', run]);
      for (; last.signal !== null; kills++) last = await drive(book, ['run', run]);

      expect(last.json).toMatchObject({ outcome: 'completed' });
      expect(crashesIn(book, run)).toEqual(
        [...TO_THE_GATE, 'finalize'].flatMap((step) => [`${step} crash`, `${step} crash-after`]).sort(),
      );
      // In the middle of each step for sure; the moment after one may come when there is nobody left to kill.
      expect(kills).toBeGreaterThan(TO_THE_GATE.length);
      expect(tablesOf(book, run)).toEqual(tablesOf(calm, undisturbed.run));
      expect(completedSteps(book, run)).toEqual(completedSteps(calm, undisturbed.run));
      expectBackedUp(book, run);
      await expectAudited(book);
    },
    LONG,
  );
});

function refusals({ events }: Drive): readonly string[] {
  return events.flatMap(({ event, accepted: ok, phase, item, message }) => {
    if (event !== 'step_ended' || ok === true) return [];
    return [`${item === null ? phase : `${phase} [${item}]`}: ${message}`];
  });
}

function attemptsAt({ events }: Drive, step: string): readonly string[] {
  return events.flatMap(({ event, phase, item, attempt }) =>
    event === 'step_started' && phase === step ? [`${item ?? ''} ${attempt}`] : [],
  );
}

/** The crashes that were due in a run, each at its step. */
function crashesIn(project: TestProject, run: string): readonly string[] {
  const marks = readdirSync(join(project.root, 'data/crashes')).map((mark) => {
    const [, step, item, turn] = /^(.+)-1-(\w*)-(crash|crash-after)$/.exec(mark.slice(run.length + 1)) ?? [];
    return `${item === '' ? step : `${step} [${item}]`} ${turn}`;
  });
  return marks.sort();
}

function completedSteps(project: TestProject, run: string): readonly unknown[] {
  const { completedSteps: done } = checkpointIn(project, run);
  return (done as readonly { step: string; result: object }[]).map(({ step, result }) => [step, result]);
}

function expectBackedUp(project: TestProject, run: string): void {
  const backups = using(project, (database) =>
    database.prepare('SELECT * FROM database_backups WHERE workflow_run_id = ?').all(run),
  );
  expect(backups).toHaveLength(1);
  const [{ path, size_bytes: size, created_at: at } = {}] = backups;
  expect(String(path)).toMatch(/data\/backups\/.+\.db$/);
  expect(existsSync(String(path))).toBe(true);
  expect(size).toBe(statSync(String(path)).size);
  expect(Date.parse(String(at))).toBeLessThanOrEqual(Date.now());
}

async function expectAudited(project: TestProject): Promise<void> {
  const verified = await phasegate(project, ['audit', 'verify', '--json']);
  expect([verified.code, verified.json.ok], verified.stdout).toEqual([0, true]);
}
