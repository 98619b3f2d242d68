import type { Command, Facts, Look } from '../../engine/command.ts';
import type { Phase } from '../../model/workflow.ts';
import { conditionOf } from './phaseConditions.ts';

/** Answers about evidence, by what was asked. */
export type Answers = Readonly<Record<string, boolean>>;

/**
 * The name under which an answer is remembered while the evidence stays what it is; null where the world may answer
 * otherwise the next time. On the run as it would be, an option of a gate has answers of its own.
 */
export function rememberedAs(look: Look, command: Command, from: Phase | undefined): string | null {
  if (look.kind === 'handler') return null;
  if (look.kind === 'condition') return look.id;
  const { check, id } = look;
  const [stage = ''] = id.split(':', 1);
  if (stage !== 'enter' && stage !== 'join') return null;
  const readable = check.use === 'function' || conditionOf(check) !== null || check.frozen === true;
  // What a human chooses and writes is part of it.
  if (!readable || /\b(?:gateDecision|decisions)\b/u.test(JSON.stringify(check.with))) return null;
  if (stage === 'join' || id !== `enter:${check.id}`) return id;
  if (command.kind !== 'decide') return id;
  // With a condition the engine itself looks before a gate opens, at what is not known here: it lets nobody wait for nothing.
  if (check.frozen === true && from?.next.kind === 'when') return null;
  return `enter:${command.option}:${check.id}`;
}

/** What these facts say, under the names they are remembered by; a question without an answer may yet get one. */
export function answersFrom(
  looks: readonly Look[],
  facts: Facts,
  nameOf: (look: Look) => string | null,
): Answers {
  const answers: Record<string, boolean> = {};
  for (const look of looks) {
    const name = nameOf(look);
    const fact = facts[look.id];
    if (name === null || fact === undefined) continue;
    if (fact.kind === 'check') answers[name] = fact.result.status === 'passed';
    if (fact.kind === 'condition' && fact.result.ok) answers[name] = fact.result.value;
  }
  return answers;
}
