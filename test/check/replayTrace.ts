import type { Command, Fact, Json, Outcome, Run, RunEvent, Workflow } from '@phasegate/core';
import { phaseById } from '@phasegate/core';
import type { Asked, World } from './walk.ts';
import { APPROVERS, anyEvidence, decideFor, startFor } from './walk.ts';

/** A run and everything that happened to it. */
export interface Lived {
  readonly run: Run;
  readonly events: readonly RunEvent[];
}

/** Does with the engine what a trace of the check says; every run it can mean, none where the engine refuses. */
export function replayTrace(workflow: Workflow, trace: readonly string[]): readonly Lived[] {
  const [start = '', ...steps] = trace;
  const size = start.includes('`places` has no items') ? 0 : start.includes('`places` has one item') ? 1 : 2;
  const given: Record<string, Json> = { places: ['north', 'south'].slice(0, size) };
  for (const [, name = '', value = ''] of start.matchAll(/(\w+)=("[^"]*"|[^,]+)/gu))
    given[name] = JSON.parse(value);
  // Of those that decide nothing any value will do.
  if (workflow.params.size !== undefined) given.size ??= 3;
  given.level ??= 'low';
  const started = startFor(workflow, given, worldOf(''));
  let lives: readonly Lived[] = started === null ? [] : [started];
  for (const step of steps) lives = lives.flatMap((lived) => after(lived, step)).slice(0, 16);
  return lives;
}

function after(lived: Lived, step: string): readonly Lived[] {
  const read = fetched(lived);
  return waysOf(read.run, step).map((asked) =>
    asked.reduce<Lived>(({ run, events }, one) => {
      const decision = decideFor(run, one, worldOf(step));
      return { run: decision.run, events: [...events, ...decision.events] };
    }, read),
  );
}

/** The commands a step may stand for. */
function waysOf(run: Run, step: string): readonly (readonly Asked[])[] {
  const agent = { kind: 'agent' as const, name: run.holder ?? '' };
  const human = { kind: 'human' as const, name: APPROVERS[0] as string };
  if (step.startsWith('a human resumes')) return [[{ command: { kind: 'resume' }, by: human }]];
  if (step.startsWith('the agent reports'))
    return [[{ command: { kind: 'report_blocked', reason: 'stuck' }, by: agent }]];
  if (step.startsWith('nobody decides at'))
    return [[{ command: { kind: 'expire' }, by: { kind: 'engine', name: 'phasegate' }, late: true }]];
  const chosen = /^a human chooses `(.*?)` at/u.exec(step)?.[1];
  if (chosen !== undefined) {
    const quorum = phaseById(run.workflow, run.phase)?.humanGate?.quorum ?? 1;
    return [APPROVERS.slice(0, quorum).map((name) => vote(run, name, chosen))];
  }
  const votes = [...step.matchAll(/`(\w+)` chooses `(.*?)`/gu)];
  if (votes.length > 0) return [votes.map(([, name = '', option = '']) => vote(run, name, option))];
  const outcome = /^complete `.*?` with `(\w+)`/u.exec(step)?.[1] as Outcome | undefined;
  const open = Object.entries(run.work.items ?? {}).filter(([, { status }]) => status === 'pending');
  const items = open.length === 0 ? [{}] : open.map(([item]) => ({ item }));
  const phase = phaseById(run.workflow, run.phase);
  const command: Command = {
    kind: 'complete',
    phase: run.phase ?? '',
    evidence: phase === undefined ? {} : anyEvidence(phase),
    reason: 'it failed',
    ...(outcome === undefined ? {} : { outcome }),
    ...(step.endsWith('the way on is refused') ? { target: '' } : {}),
  };
  return items.map((item) => [{ command: { ...command, ...item }, by: agent }]);
}

function vote(run: Run, name: string, option: string): Asked {
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
  const command = { kind: 'decide' as const, gate, option, input: 'fine', shown: 'card', signature: '' };
  return { command, by: { kind: 'human', name } };
}

function worldOf(step: string): World {
  const outcome = (/its handler returns `(\w+)`/u.exec(step)?.[1] ?? 'ok') as Outcome;
  return (look): Fact => {
    if (look.kind === 'handler')
      return step.includes('its handler throws')
        ? { kind: 'handler', result: { ok: false, reason: 'threw', timedOut: false } }
        : { kind: 'handler', result: { ok: true, outcome, state: {} } };
    if (look.kind === 'condition')
      return { kind: 'condition', result: { ok: true, value: step.includes('its condition is true') } };
    if (look.kind === 'tree') throw new Error('no run here has a workspace');
    const status = step.includes(`\`${look.check.label}\` does not hold`) ? 'failed' : 'passed';
    return { kind: 'check', result: { status, reason: '', class: 'verified' } };
  };
}

/** Tasks are left out of a trace, and must be read. */
function fetched({ run, events }: Lived): Lived {
  const phase = phaseById(run.workflow, run.phase);
  if (phase === undefined || run.status !== 'active') return { run, events };
  return phase.tasks.reduce<Lived>(
    (lived, _, index) => {
      const command = { kind: 'fetch_task' as const, phase: phase.id, task: index + 1 };
      const by = { kind: 'agent' as const, name: run.holder ?? '' };
      const decision = decideFor(lived.run, { command, by }, worldOf(''));
      return { run: decision.run, events: [...lived.events, ...decision.events] };
    },
    { run, events },
  );
}
