import type { Circumstance, Command } from '../../engine/command.ts';
import { type Decision, decide, decideOrLook } from '../../engine/decide.ts';
import type { Run } from '../../engine/run.ts';
import { type Phase, phaseById } from '../../model/workflow.ts';
import type { Abstraction } from './abstractWorkflow.ts';
import { answersTo } from './answers.ts';

/** Something that can happen to a run, decided by the engine. */
export interface Move {
  readonly decision: Decision;
  readonly words: string;
}

/** When everything happens, and a time after which every gate's time is up. */
export const NOW = '2000-01-01T00:00:00.000Z';
const LATER = '2999-01-01T00:00:00.000Z';

/** The agent that holds every explored run. */
export const AGENT = { kind: 'agent', name: 'agent' } as const;

/** Everything that can happen to a run as it stands. */
export function movesOf(run: Run, abstraction: Abstraction): readonly Move[] {
  if (run.status === 'active') return workMoves(run, abstraction);
  if (run.status === 'escalated') {
    const decision = decide(run, { kind: 'resume' }, by('human'));
    return [{ decision, words: `a human resumes \`${run.phase}\`` }];
  }
  return run.status === 'waiting' ? gateMoves(run, abstraction) : [];
}

function workMoves(run: Run & { readonly status: 'active' }, abstraction: Abstraction): readonly Move[] {
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const complete = { kind: 'complete' as const, phase: phase.id, evidence: {} };
  const pending = Object.entries(run.work.items ?? {}).find(([, { status }]) => status === 'pending');
  const at = `\`${phase.id}\``;
  const item = pending === undefined ? {} : { item: pending[0] };
  const moves = decided(
    run,
    { ...complete, ...item },
    { abstraction, words: `complete ${at}${pending ? ' for one item' : ''}` },
  );
  if (phase.next.kind === 'outcomes' && phase.work.kind !== 'handler') {
    for (const outcome of ['fail', 'iterate'] as const) {
      const command: Command = {
        ...complete,
        ...(outcome === 'iterate' ? item : {}),
        outcome,
        reason: 'it failed',
      };
      moves.push(...decided(run, command, { abstraction, words: `complete ${at} with \`${outcome}\`` }));
    }
  }
  const blocked = decide(run, { kind: 'report_blocked', reason: 'blocked' }, by('agent'));
  moves.push({ decision: blocked, words: `the agent reports ${at} as blocked` });
  return moves;
}

function gateMoves(run: Run & { readonly status: 'waiting' }, abstraction: Abstraction): readonly Move[] {
  const gate = phaseById(run.workflow, run.phase)?.humanGate;
  if (gate == null || run.wait.for !== 'gate') return [];
  const { wait } = run;
  const moves = gate.options.flatMap(({ label }) => {
    const command: Command = {
      kind: 'decide',
      gate: wait.gate,
      option: label,
      input: 'yes',
      shown: '',
      signature: '',
    };
    // All but the last vote for it change nothing else, so they are cast at once.
    let voted: Run = run;
    const earlier: Decision['events'][number][] = [];
    for (let vote = 1; vote < gate.quorum; vote++) {
      const cast = decide(voted, command, by('human', gate.approvers[vote - 1] ?? `human ${vote}`));
      voted = cast.run;
      earlier.push(...cast.events);
    }
    const name = gate.approvers[gate.quorum - 1] ?? 'human';
    const words = `a human chooses \`${label}\` at \`${gate.id}\``;
    return decided(voted, command, { abstraction, words, human: name }).map(({ decision, words: told }) => ({
      // A refusal may still have happened to the run: an exhausted loop behind the gate goes to a human.
      decision:
        decision.events.length > 0
          ? { ...decision, events: [...earlier, ...decision.events] }
          : { ...decision, run },
      words: told,
    }));
  });
  if (gate.timeout === null) return moves;
  const expired = decide(run, { kind: 'expire' }, { ...by('engine'), now: LATER });
  return [...moves, { decision: expired, words: `nobody decides at \`${gate.id}\` in time` }];
}

/** Decides with every answer that what the engine asks for can have. */
function decided(
  run: Run,
  command: Command,
  asked: { readonly abstraction: Abstraction; readonly words: string; readonly human?: string },
): Move[] {
  const moves: Move[] = [];
  const circumstance = asked.human === undefined ? by('agent') : by('human', asked.human);
  const open: { readonly facts: Circumstance['facts']; readonly words: string }[] = [
    { facts: {}, words: asked.words },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { facts, words } = next;
    const considered = decideOrLook(run, command, { ...circumstance, facts });
    if (!('looks' in considered)) {
      moves.push({ decision: considered, words });
      continue;
    }
    for (const answered of answersTo(considered.looks, run, asked.abstraction).toReversed())
      open.push({ facts: { ...facts, ...answered.facts }, words: [words, ...answered.words].join(', ') });
  }
  return moves;
}

function by(kind: 'agent' | 'human' | 'engine', name = 'human'): Circumstance {
  const principal =
    kind === 'agent' ? AGENT : kind === 'human' ? { kind, name } : { kind, name: 'phasegate' as const };
  return { principal, now: NOW, facts: {}, shown: '' };
}
