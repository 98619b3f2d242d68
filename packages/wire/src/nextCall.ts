import { type NextAction, own, type RunView } from '@phasegate/core';

/** The next legal act, with all that a surface needs to spell it as a call of its own. */
export interface NextCall {
  readonly action: NextAction;
  readonly run: string;
  /** Who reads it: an agent is told its own call, a human theirs. */
  readonly reader: Reader;
  /** Names of the evidence to hand in, with `?` behind what may be left out; null where only the run's id is known. */
  readonly evidence: readonly string[] | null;
  /** What a human has to do first; null where only the run's id is known. */
  readonly human: HumansTurn | null;
}

/** Who reads an answer. */
export type Reader = 'agent' | 'human';

/** What a run waits for, where a human must act. */
export type HumansTurn =
  | { readonly act: 'decide'; readonly gate: string }
  | { readonly act: 'resume_or_stop' }
  | { readonly act: 'answer' };

/** How a surface spells the next legal act: the one thing of an answer that differs between surfaces. */
export type Spell = (call: NextCall) => string;

/** A surface's own words, for one reader. */
export interface Dialect {
  readonly spell: Spell;
  readonly reader: Reader;
  /** Whether `next_step`, the act in parts, stands beside its spelling. */
  readonly steps: boolean;
  /** How an agent hands its phase to a human there; absent where a human reads. */
  readonly ask?: (run: string) => string;
}

/** The engine's own words, where no call of a surface is meant. */
export const PLAIN: Dialect = { spell: ({ action }) => action.text, reader: 'agent', steps: false };

/** Where a run is, as far as the next call depends on it. A run that was not made has nothing but an id. */
export type Place = Pick<RunView, 'run' | 'phase' | 'status' | 'gate' | 'current'> | { readonly run: string };

/** Spells an act for a run. */
export function spellAction(action: NextAction, place: Place, { spell, reader }: Dialect): string {
  const known = 'status' in place;
  return spell({
    action,
    run: place.run,
    reader,
    evidence: known ? evidenceNames(action, place) : null,
    human: known ? humansTurn(place) : null,
  });
}

/** Spells what is to be done next in a run. */
export function spellNext(view: RunView, dialect: Dialect): string {
  return spellAction(view.nextAction, view, dialect);
}

type KnownPlace = Extract<Place, { readonly status: unknown }>;

function humansTurn({ gate, status }: KnownPlace): HumansTurn {
  if (gate !== null) return { act: 'decide', gate: gate.id };
  return { act: status === 'escalated' ? 'resume_or_stop' : 'answer' };
}

function evidenceNames(action: NextAction, { phase, current }: KnownPlace): readonly string[] {
  if (current === null || (action.phase !== undefined && action.phase !== phase)) return [];
  return Object.entries(current.requiredEvidence).map(([name, rule]) =>
    own(rule, 'validator') === 'optional' ? `${name}?` : name,
  );
}
