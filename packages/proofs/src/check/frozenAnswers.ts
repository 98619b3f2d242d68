import type { Command, Facts, Look } from '@phasegate/core/engine';
import type { Phase } from '@phasegate/core/model';
import { pathsOf } from '@phasegate/core/model';
import { conditionOf } from './phaseConditions.ts';

/** Answers about evidence, by what was asked. */
export type Answers = Readonly<Record<string, boolean>>;

/**
 * The name under which an answer is remembered while the evidence stays what it is; null where the world may answer
 * otherwise the next time. On the run as it would be, an option of a gate has answers of its own.
 */
export function rememberedAs(look: Look, command: Command, from: Phase | undefined): string | null {
  if (look.kind === 'handler' || look.kind === 'tree') return null;
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

/** What is known of a question: what was answered under its name, or that it cannot be a yes in this visit. */
export function answerTo(look: Look, name: string | null, answers: Answers): boolean | undefined {
  return answers[name ?? ''] ?? answers[neverOf(look)];
}

/** Of these answers those that last whatever is handed in next: a no about evidence of other phases. */
export function lastingNos(answers: Answers): Answers {
  return Object.fromEntries(Object.entries(answers).filter(([name]) => name.startsWith(NEVER)));
}

const NEVER = 'never ';

function neverOf({ id }: Look): string {
  return `${NEVER}${id}`;
}

/** Whether a condition reads only what other phases handed in: then nothing done in this one changes it. */
function isSettledBefore(look: Look, declared: readonly string[]): boolean {
  if (look.kind !== 'check' || look.check.use !== 'expression') return false;
  const expression = conditionOf(look.check);
  const paths = expression === null ? [] : pathsOf(expression);
  const elsewhere = ({ root, steps }: (typeof paths)[number]) =>
    (root === 'artifacts' || root === 'approved') && !declared.includes(String(steps[0]));
  return paths.some(elsewhere) && paths.every((path) => path.root === 'params' || elsewhere(path));
}

/** What these facts say, under the names they are remembered by; a question without an answer may yet get one. */
export function answersFrom(
  looks: readonly Look[],
  facts: Facts,
  { nameOf, declared }: { nameOf(look: Look): string | null; readonly declared: readonly string[] },
): Answers {
  const answers: Record<string, boolean> = {};
  for (const look of looks) {
    const name = nameOf(look);
    const fact = facts[look.id];
    // Beside one that fails the others are only taken to hold, so a yes says nothing lasting.
    if (fact?.kind === 'check' && fact.result.status !== 'passed' && isSettledBefore(look, declared))
      answers[neverOf(look)] = false;
    if (name === null || fact === undefined) continue;
    if (fact.kind === 'check') answers[name] = fact.result.status === 'passed';
    if (fact.kind === 'condition' && fact.result.ok) answers[name] = fact.result.value;
  }
  return answers;
}
