import type { Json, JsonObject } from '@phasegate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { type Connected, connect, ERAS, makeTestBed, type TestBed } from './fixtures/connect.ts';

const IDS = ['PLAN', 'BUILD', 'TEST', 'SHIP', 'REST'] as const;

/** Every text of a phase has a mark that names the phase it belongs to. */
const WORKFLOW = `workflow: marked
title: Marked
params: {}
phases:
${IDS.map(
  (id, index) => `  ${id}:
    name: Title-of-${id}
    description: Mark-${id}-description
    instructions: Mark-${id}-instructions
    allowed_tools: [read_files]
    writes: ["mark-${id}/**"]
    tasks:
      - { name: Mark-${id}-task, instructions: Mark-${id}-task-text, acceptance_criteria: [Mark-${id}-criterion] }
    required_artifacts: [{ type: mark_${id}, schema: { type: integer }, description: Mark-${id}-artifact }]
    postconditions:
      - { check: expression, with: { condition: "result.mark_${id} > 0" }, message: Mark-${id}-message }
    next: ${IDS[index + 1] ?? 'null'}
`,
).join('')}`;

const anyPhase = fc.oneof(
  fc.constantFrom<Json>(...IDS, ...IDS.map((id) => `Title-of-${id}`)),
  fc.integer({ min: -2, max: 9 }),
  fc.integer({ min: 0, max: 6 }).map((number) => `${number}`),
  fc.constantFrom<Json>(2.0, 2.5, '3.0', -1, 1e21, '1A', '', null, 'BUILD ', 'build'),
);

type Move =
  | { readonly kind: 'call'; readonly tool: string; readonly args: JsonObject }
  | { readonly kind: 'advance' | 'resume' | 'read' };

const call = (tool: string, args: fc.Arbitrary<JsonObject>): fc.Arbitrary<Move> =>
  args.map((given) => ({ kind: 'call', tool, args: given }));

const evidence = fc.oneof(
  fc.constantFrom<Json>({}, 'done', null, [], { mark_PLAN: 0 }),
  fc.constantFrom(...IDS).map((id) => ({ [`mark_${id}`]: 1 })),
);

const move: fc.Arbitrary<Move> = fc.oneof(
  { arbitrary: fc.constant<Move>({ kind: 'advance' }), weight: 3 },
  { arbitrary: fc.constant<Move>({ kind: 'resume' }), weight: 1 },
  { arbitrary: fc.constant<Move>({ kind: 'read' }), weight: 1 },
  { arbitrary: call('get_phase', fc.record({ phase: anyPhase })), weight: 4 },
  {
    arbitrary: call('get_task', fc.record({ phase: anyPhase, task_number: fc.integer({ min: 0, max: 3 }) })),
    weight: 3,
  },
  { arbitrary: call('complete_phase', fc.record({ phase: anyPhase, evidence })), weight: 3 },
  {
    arbitrary: fc
      .constantFrom('get_current_phase', 'get_workflow_state')
      .map((tool): Move => ({ kind: 'call', tool, args: {} })),
    weight: 2,
  },
  {
    arbitrary: fc.constantFrom<Move>(
      { kind: 'call', tool: 'start_workflow', args: { workflow_type: 'marked' } },
      { kind: 'call', tool: 'list_workflows', args: {} },
      { kind: 'call', tool: 'report_blocked', args: { reason: 'stuck' } },
    ),
    weight: 1,
  },
);

test.each(ERAS)(
  'no answer of a random walk in the %s era has a word of a phase that was not reached [S0.1 S0.10 S0.15]',
  async (era) => {
    const bed = await makeTestBed({ 'marked.workflow.yaml': WORKFLOW });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 14 }), fc.nat(), async (moves, walk) => {
        const client = await connect(bed.parts({ kind: 'agent', name: `agent-${walk}` }), { era });
        const first = await client.call('start_workflow', { workflow_type: 'marked' });
        const session = String(first.session_id);
        const place = { bed, walk, session, client };
        await expectNoLeak(first, place);
        for (const next of moves)
          for (const answer of await answersTo(next, place)) await expectNoLeak(answer, place);
      }),
      { numRuns: cases({ quick: 5, full: 75 }) },
    );
  },
);

interface Walk {
  readonly bed: TestBed;
  readonly walk: number;
  readonly session: string;
  readonly client: Connected;
}

async function answersTo(next: Move, { bed, session, client }: Walk): Promise<readonly unknown[]> {
  if (next.kind === 'call') return [await client.call(next.tool, { session_id: session, ...next.args })];
  if (next.kind === 'read') {
    return [
      await client.client.listResources(),
      await client.client.readResource({ uri: `phasegate://runs/${session}/phase` }),
      await client.client.listPrompts(),
    ];
  }
  if (next.kind === 'resume') {
    await bed.open.as({ kind: 'human', name: 'maria' }).submit(session, { kind: 'resume' });
    return [];
  }
  const { current_phase: phase } = await client.call('get_workflow_state', { session_id: session });
  if (typeof phase !== 'string') return [];
  const at = { session_id: session, phase };
  return [
    await client.call('get_task', { ...at, task_number: 1 }),
    await client.call('complete_phase', { ...at, evidence: { [`mark_${phase}`]: 1 } }),
  ];
}

/** Titles stand in the overview of a start and nowhere else. */
async function expectNoLeak(answer: unknown, { bed, walk, session }: Walk): Promise<void> {
  const view = await bed.open.as({ kind: 'agent', name: `agent-${walk}` }).view(session);
  const reached = new Set<unknown>([...view.completedPhases, view.phase]);
  const { workflow_overview, message, detail, ...rest } = answer as JsonObject;
  const told = withoutEcho(JSON.stringify(rest));
  // What was asked for may be repeated; it is the caller's own word.
  const repeated = withoutEcho(JSON.stringify([message, detail]));
  for (const id of IDS.filter((one) => !reached.has(one))) {
    expect(told).not.toMatch(new RegExp(`mark[-_]${id}|Title-of-${id}`, 'i'));
    expect(JSON.stringify(workflow_overview ?? {})).not.toMatch(new RegExp(`mark[-_]${id}`, 'i'));
    expect(repeated).not.toMatch(new RegExp(`mark[-_]${id}`, 'i'));
  }
}

/** A name the agent handed in, told back to it: whether a later phase asks for it nobody says. */
function withoutEcho(text: string): string {
  return text.replaceAll(/does not ask for `[^`]*`/g, 'does not ask for it');
}
