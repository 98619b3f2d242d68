import type { Circumstance, Command, Look, Run, RunEvent } from '@phasegate/core/engine';
import { type Decision, decide, decideOrLook } from '@phasegate/core/engine';
import { type HumanGate, type Outcome, type Phase, type PhaseId, phaseById } from '@phasegate/core/model';
import type { Abstraction } from './abstractWorkflow.ts';
import { answersTo } from './answers.ts';
import { type Answers, answersFrom, answerTo, rememberedAs } from './frozenAnswers.ts';
import { keeping, keptIn, SIZES, type Sizes, sizeWords, withLists } from './givenItems.ts';

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
  const pending = pendingItems(run);
  const at = `\`${phase.id}\``;
  const one = pending.length > 0 ? ' for one item' : '';
  const items = pending.length === 0 ? [{}] : pending.map((item) => ({ item }));
  const reported = phase.next.kind === 'outcomes' && phase.work.kind !== 'handler';
  const ways = [{}, ...(reported ? REPORTED.map((outcome) => ({ outcome })) : [])];
  const moves = ways.flatMap((way: { readonly outcome?: Outcome }) => {
    const told = way.outcome === undefined ? '' : ` with \`${way.outcome}\``;
    const words = `complete ${at}${told}${one}`;
    const commands = items.map((item) => ({ ...complete, ...item, ...way, reason: 'it failed' }));
    return [
      ...commands.flatMap((command) => decided(run, command, { abstraction, words })),
      ...commands.slice(0, 1).flatMap((command) => refusedJoin(run, command, { abstraction, words })),
    ];
  });
  const blocked = decide(run, { kind: 'report_blocked', reason: 'blocked' }, by('agent'));
  moves.push({ decision: blocked, words: `the agent reports ${at} as blocked` });
  return [...moves, ...pending.map((item) => setAside(run, { phase: phase.id, item }))];
}

/** What an agent hands in for an item can always be refused so often that the item is left to a human. */
function setAside(run: Run, about: { readonly phase: PhaseId; readonly item: string }): Move {
  const command = { kind: 'report_failure' as const, ...about, reason: '' };
  let last = decide(run, command, by('agent'));
  const events = [...last.events];
  for (let tries = 1; tries < MOST_TRIES && isOpen(last.run, about.item); tries++) {
    last = decide(last.run, command, by('agent'));
    events.push(...last.events);
  }
  const words = `an item of \`${about.phase}\` is refused too often`;
  return { decision: { ...last, events }, words };
}

/** More than the engine allows. */
const MOST_TRIES = 10;

function isOpen(run: Run, item: string): boolean {
  return run.status === 'active' && run.work.items?.[item]?.status === 'pending';
}

/** Items that are open, one for each number of attempts: which of them it is makes no difference. */
function pendingItems(run: Run): readonly string[] {
  const byAttempts = new Map<number, string>();
  for (const [key, { status, attempts }] of Object.entries(run.work.items ?? {}))
    if (status === 'pending' && !byAttempts.has(attempts)) byAttempts.set(attempts, key);
  return [...byAttempts.values()];
}

/** What an agent may report beside `ok`. */
const REPORTED: readonly Outcome[] = ['fail', 'iterate'];

/** The last item is done, and the agent expects to get somewhere else: a run then stands there joined. */
function refusedJoin(
  run: Run,
  command: Command & { readonly kind: 'complete' },
  { abstraction, words }: { readonly abstraction: Abstraction; readonly words: string },
): readonly Move[] {
  const open = Object.values(run.work.items ?? {}).filter(({ status }) => status !== 'completed');
  if (command.item === undefined || open.length !== 1) return [];
  // No phase is called that, so a run that expects to get there does not move on.
  const told = `${words}, and the way on is refused`;
  const stays = ({ decision: { events } }: Move) =>
    events[0]?.type === 'item_completed' &&
    events.every(
      (event) =>
        event.type === 'item_completed' ||
        (event.type === 'phase_refused' && !event.counted && event.reopens !== true),
    );
  const moves = decided(run, { ...command, target: '' }, { abstraction, words: told }).filter(stays);
  const outcomes = moves.map(({ decision }) => outcomeIn(decision.events[0]));
  // What its checks said makes no difference where they let it pass.
  return moves.filter((_, place) => outcomes.indexOf(outcomes[place]) === place);
}

function outcomeIn(event: RunEvent | undefined): Outcome | undefined {
  return event?.type === 'item_completed' ? event.outcome : undefined;
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
          : { ...decision, run: keeping(run, keptIn(decision.run)) },
      words: told,
    }));
  });
  if (gate.timeout === null) return [...moves, ...dividedVotes(run, gate)];
  const expired = decide(run, { kind: 'expire' }, { ...by('engine'), now: LATER });
  return [...moves, { decision: expired, words: `nobody decides at \`${gate.id}\` in time` }];
}

/** Everyone who may decide has, and no option has votes enough: nothing brings the gate to an end then. */
function dividedVotes(run: Run & { readonly status: 'waiting' }, gate: HumanGate): readonly Move[] {
  const approvers = [...new Set(gate.approvers)];
  const most = gate.quorum - 1;
  if (run.wait.for !== 'gate' || run.wait.votes.length > 0) return [];
  if (approvers.length === 0 || approvers.length > gate.options.length * most) return [];
  const command = { kind: 'decide' as const, gate: run.wait.gate, input: 'yes', shown: '', signature: '' };
  let divided: Run = run;
  const events: Decision['events'][number][] = [];
  const words: string[] = [];
  for (const [place, name] of approvers.entries()) {
    // One after another takes the options, so that as many as can be are chosen.
    const { label } = gate.options[place % gate.options.length] as HumanGate['options'][number];
    const cast = decide(divided, { ...command, option: label }, by('human', name));
    divided = cast.run;
    events.push(...cast.events);
    words.push(`\`${name}\` chooses \`${label}\``);
  }
  const told = `${words.join(', ')} at \`${gate.id}\`, and nobody else may decide`;
  return [{ decision: { verdict: { allowed: true }, events, run: divided }, words: told }];
}

/** Decides with every answer that what the engine asks for can have, and every number of items where they are made. */
function decided(
  run: Run,
  command: Command,
  asked: { readonly abstraction: Abstraction; readonly words: string; readonly human?: string },
): Move[] {
  const { abstraction } = asked;
  const { lists } = abstraction;
  const { sizes } = keptIn(run);
  const moves: Move[] = [];
  const circumstance = asked.human === undefined ? by('agent') : by('human', asked.human);
  const here = phaseById(run.workflow, run.phase);
  const declared = here === undefined ? [] : (abstraction.declared.get(here.id) ?? []);
  const nameOf = (look: Look) => rememberedAs(look, command, here);
  const open: Open[] = [{ facts: {}, words: asked.words, sizes, answers: {} }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { facts, words } = next;
    const considered = decideOrLook(withLists(run, lists, next.sizes), command, { ...circumstance, facts });
    if ('looks' in considered) {
      const remembered = (look: Look) => answerTo(look, nameOf(look), keptIn(run).answers);
      const { looks } = considered;
      for (const answered of answersTo(looks, { run, abstraction, remembered }).toReversed())
        open.push({
          ...next,
          facts: { ...facts, ...answered.facts },
          answers: { ...next.answers, ...answersFrom(looks, answered.facts, { nameOf, declared }) },
          words: [words, ...answered.words].join(', '),
        });
      continue;
    }
    const list = unsized(considered.events, lists, next.sizes);
    if (list === null) {
      const left = considered.events.some(({ type }) => type === 'phase_completed');
      const answers = { ...(left ? {} : keptIn(run).answers), ...next.answers };
      moves.push({ decision: { ...considered, run: keeping(considered.run, { sizes, answers }) }, words });
      continue;
    }
    for (const size of SIZES.toReversed())
      open.push({
        ...next,
        sizes: { ...next.sizes, [list.name]: size },
        words: [words, ...sizeWords({ [list.phase]: size })].join(', '),
      });
  }
  return moves;
}

interface Open {
  readonly facts: Circumstance['facts'];
  readonly words: string;
  readonly sizes: Sizes;
  readonly answers: Answers;
}

/** The first list that something was entered with and of which nobody has said how long it is. */
function unsized(
  events: readonly RunEvent[],
  lists: Abstraction['lists'],
  sizes: Sizes,
): { readonly name: string; readonly phase: PhaseId } | null {
  if (lists.size === 0) return null;
  for (const event of events) {
    if (event.type !== 'phase_completed' || event.next === null) continue;
    const list = lists.get(event.next);
    if (list !== undefined && !Object.hasOwn(sizes, list.name)) return { name: list.name, phase: event.next };
  }
  return null;
}

function by(kind: 'agent' | 'human' | 'engine', name = 'human'): Circumstance {
  const principal =
    kind === 'agent' ? AGENT : kind === 'human' ? { kind, name } : { kind, name: 'phasegate' as const };
  return { principal, now: NOW, facts: {}, shown: '' };
}
