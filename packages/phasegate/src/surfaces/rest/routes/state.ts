import type { Principal, RunStatus, RunSummary } from '@phasegate/core';
import { RUN_STATUSES } from '@phasegate/core/contract';
import { withoutRecording } from '@phasegate/core/engine';
import { encodeGate, encodeLease, encodeLine, encodeTask } from '@phasegate/wire';
import { type AgentSnapshotAnswer, type HumanSnapshotAnswer, snapshot } from '@phasegate/wire/schemas';
import type { Admitted, RunsOf, Serving, Workshop } from '../../../runtime/ports.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { fitSnapshot } from './fitSnapshot.ts';
import { humanOf } from './principals.ts';
import { HTTP } from './spell.ts';

/** One read-only view of what is going on. */
export const STATE_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/state/snapshot',
    operationId: 'getStateSnapshot',
    tag: 'state',
    who: ['token', 'human'],
    summary: 'A read-only snapshot, under 100 KB',
    description:
      'With a phase token: the run of the token as its agent may see it. With a session: how many runs there are by status, the open ones with holder and phase, leases, waiting gates and the newest events. Where it would be larger, the longest texts are cut and `truncated` has their paths.',
    answers: { 200: { description: 'the snapshot', schema: snapshot } },
    async handle({ caller, parts: { project, now } }) {
      const time = new Date(now()).toISOString();
      const whole =
        caller.kind === 'token'
          ? await ofAgent(caller.admitted, project)
          : await ofHuman(humanOf(caller), project);
      return reply(200, fitSnapshot({ time, ...whole }));
    },
  }),
];

/** Most lines of each list; a project with more is read page by page. */
const MOST_LINES = 100;
const MOST_GATES = 20;
const MOST_EVENTS = 50;
const OPEN: readonly RunStatus[] = ['active', 'waiting', 'escalated', 'queued'];

function newestFirst(one: RunSummary, other: RunSummary): number {
  if (one.startedAt === other.startedAt) return 0;
  return one.startedAt < other.startedAt ? 1 : -1;
}

async function ofAgent(
  { principal, runId }: Admitted,
  project: RunsOf,
): Promise<Omit<AgentSnapshotAnswer, 'time' | 'truncated'>> {
  return { task: encodeTask(await project.as(principal).view(runId), null, HTTP.agent) };
}

async function ofHuman(
  human: Principal,
  project: RunsOf & Serving & Workshop,
): Promise<Omit<HumanSnapshotAnswer, 'time' | 'truncated'>> {
  const phasegate = project.as(human);
  const counts = await project.countRuns();
  const runs = Object.fromEntries(RUN_STATUSES.map((status) => [status, counts[status] ?? 0]));
  const lists = await Promise.all(OPEN.map((status) => phasegate.runs({ status, limit: MOST_LINES })));
  const open = lists.flat().sort(newestFirst).slice(0, MOST_LINES);
  const waiting = await phasegate.runs({ status: 'waiting', limit: MOST_GATES });
  const views = await Promise.all(waiting.map(({ run }) => phasegate.view(run)));
  const newest = await project.feed.newest();
  const events = await project.feed.after(Math.max(0, newest - MOST_EVENTS), MOST_EVENTS);
  return {
    runs,
    open: open.map(encodeLine),
    leases: (await project.claims.someLeases(MOST_LINES)).map(encodeLease),
    waiting: views.flatMap((view) =>
      view.gate === null ? [] : [{ run: view.run, gate: encodeGate(view.gate, HTTP.human) }],
    ),
    events: events.toReversed().map((record) => ({ ...withoutRecording(record) })),
  };
}
