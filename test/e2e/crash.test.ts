import {
  type AuditRecord,
  fold,
  type Principal,
  type RunEvent,
  viewFor,
  type Workflow,
} from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import type { OpenProject } from '../../packages/phasegate/src/runtime/ports.ts';
import { cases } from '../tier.ts';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { killedWorker, type Moment } from './crash/killedWorker.ts';
import { randomFrom } from './crash/random.ts';
import type { Announcement } from './crash/worker.ts';

const PHASES = ['A', 'B', 'C', 'D', 'E'];
const LANES = 3;
const TIMEOUT_MS = cases({ quick: 240_000, full: 240_000, long: 10_800_000 });
const KILLS = cases({ quick: 8, full: 220, long: 2000 });
const AGENT: Principal = { kind: 'agent', name: 'local' };

describe('a process killed while it transitions in a loop', () => {
  test('loses, doubles and half-makes nothing in any of many kills [S0.47 S0.52 adv.K3 adv.K5]', {
    timeout: TIMEOUT_MS,
  }, async () => {
    // Two databases side by side, as there are two cores.
    const projects = [makeProject(FILES), makeProject(FILES)] as const;

    await Promise.all([killOften(projects[0], KILLS / 2, 7), killOften(projects[1], KILLS / 2, 1984)]);

    for (const project of projects) {
      const audit = await phasegate(project, ['audit', 'verify', '--json']);
      expect(audit.json).toMatchObject({ ok: true, findings: [] });
      expect(audit.code).toBe(0);
    }
  });

  test('leaves a state that opens, also when it is killed while it makes that state [S0.47]', {
    timeout: 120_000,
  }, async () => {
    const random = randomFrom(42);
    for (let kill = 0; kill < cases({ quick: 2, full: 20 }); kill++) {
      const project = makeProject(FILES);
      await killedWorker(project, { after: 'start', milliseconds: 40 + random() * 160 }, LANES);

      await reopened(project, async (open) => {
        expect((await open.verifyAudit()).findings).toEqual([]);
        const { view } = await open.as(AGENT).start({ workflow: 'walk' });
        expect(view).toMatchObject({ status: 'active', phase: 'A' });
      });
    }
  });
});

async function killOften(project: TestProject, kills: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const ledger = new Map<string, number>();
  let announced = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const said = await killedWorker(project, randomMoment(random), LANES);
    announced += said.length;
    await reopened(project, async (open, workflow) => {
      await compare(open, { workflow, said, ledger });
      if (kill % 10 === 0) expect((await open.verifyAudit()).findings).toEqual([]);
    });
  }
  expect(announced).toBeGreaterThan(kills);
}

/** Mostly in the midst of transitions; now and then while opening, reading or recovering. */
function randomMoment(random: () => number): Moment {
  if (random() < 0.2) return { after: 'start', milliseconds: 60 + random() * 140 };
  return { after: 'first announcement', milliseconds: 5 + random() * 55 };
}

async function reopened(
  project: TestProject,
  look: (open: OpenProject, workflow: Workflow) => Promise<void>,
): Promise<void> {
  const found = await openTestProject({ projectDir: project.root, env: project.env });
  const open = await found.open();
  try {
    await look(open, (await found.catalog.load('walk')).workflow);
  } finally {
    await open.close();
  }
}

/** Everything the worker announced is there once; what is there beside it is at most what it was about to announce. */
async function compare(
  open: OpenProject,
  {
    workflow,
    said,
    ledger,
  }: {
    readonly workflow: Workflow;
    readonly said: readonly Announcement[];
    /** Transitions of every run as known after the last kill, its start included. */
    readonly ledger: Map<string, number>;
  },
): Promise<void> {
  const agent = open.as(AGENT);
  let unannounced = 0;
  for (const { run } of await agent.runs({ limit: 1_000_000 })) {
    const mine = said.filter((announcement) => announcement.run === run);
    const before = ledger.get(run) ?? 0;
    if (before === PHASES.length + 1) {
      expect(mine).toEqual([]);
      continue;
    }
    const records = await agent.history(run);
    const transitions = transitionsOf(records);
    // The walk from its start without a gap, and nothing twice.
    expect(transitions).toEqual(['started', ...PHASES].slice(0, transitions.length));
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
    // What was announced stands where it was announced to be.
    for (const announcement of mine) {
      const at = announcement.act === 'started' ? 0 : announcement.epoch - 1;
      expect(transitions[at]).toBe(announcement.act === 'started' ? 'started' : announcement.phase);
      expect(at).toBeGreaterThanOrEqual(before);
    }
    const events = records.map(({ time, event, data }) => ({ type: event, at: time, ...Object(data) }));
    expect(await agent.view(run)).toEqual(viewFor(fold(workflow, events as readonly RunEvent[]), AGENT));
    unannounced += transitions.length - before - mine.length;
    ledger.set(run, transitions.length);
  }
  expect(said.every(({ run }) => ledger.has(run))).toBe(true);
  expect(unannounced).toBeGreaterThanOrEqual(0);
  expect(unannounced).toBeLessThanOrEqual(LANES);
}

function transitionsOf(records: readonly AuditRecord[]): readonly string[] {
  return records.flatMap(({ event, data }) => {
    if (event === 'run_started') return ['started'];
    return event === 'phase_completed' ? [String(Object(data).phase)] : [];
  });
}

const FILES = {
  'walk.workflow.yaml': `workflow: walk
schemas:
  work: { type: object, required: [phase, by], properties: { phase: { type: string }, by: { type: integer } } }
phases:
${PHASES.map((id) => `  ${id}: { writes: [], required_artifacts: [{ type: work, schema: work }] }`).join('\n')}
`,
};
