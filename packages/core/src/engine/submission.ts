import { type Json, type JsonObject, own } from '../json.ts';
import { declaredNames, hasFreeResult, WORDS } from '../model/names.ts';
import { didYouMean } from '../model/suggest.ts';
import type { Phase } from '../model/workflow.ts';
import { blocker, completeAction } from './blockers.ts';
import type { Blocker } from './verdict.ts';

/** What was handed in, sorted by whose name it has. */
export interface Submission {
  /** What the phase declares; all of it where the phase has a free result. */
  readonly evidence: JsonObject;
  /** The agent's own words, which no condition reads; absent where it said none. */
  readonly word?: JsonObject;
  /** One refusal for each name that is neither. */
  readonly undeclared: readonly Blocker[];
  /** What is wrong with the words. */
  readonly problems: readonly string[];
}

/** Sorts a submission: what the phase declares is taken, what any agent may add is kept apart, the rest is refused. */
export function readSubmission(phase: Phase, submitted: JsonObject): Submission {
  const declared = declaredNames(phase);
  const free = hasFreeResult(phase);
  const evidence: [string, Json][] = [];
  const word: [string, Json][] = [];
  const undeclared: string[] = [];
  for (const [name, value] of Object.entries(submitted)) {
    if (declared.includes(name)) evidence.push([name, value]);
    else if (WORDS.includes(name)) word.push([name, value]);
    else if (free) evidence.push([name, value]);
    else undeclared.push(name);
  }
  const asIs = word.length === 0 && undeclared.length === 0;
  return {
    evidence: asIs ? submitted : Object.fromEntries(evidence),
    ...(word.length === 0 ? {} : { word: Object.fromEntries(word) }),
    undeclared: undeclaredBlockers(phase, undeclared, declared),
    problems: wordProblems(Object.fromEntries(word)),
  };
}

/** No refusal grows with what was submitted. */
function undeclaredBlockers(
  phase: Phase,
  names: readonly string[],
  declared: readonly string[],
): readonly Blocker[] {
  const told = names.slice(0, MOST_NAMES).map((name) => undeclaredBlocker(phase, name, declared));
  if (names.length <= MOST_NAMES) return told;
  const more = `and ${names.length - MOST_NAMES} more names that phase \`${phase.id}\` does not ask for`;
  return [...told, blocker('undeclared_evidence', more, completeAction(phase))];
}

const MOST_NAMES = 20;

function undeclaredBlocker(phase: Phase, name: string, declared: readonly string[]): Blocker {
  const shown = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
  const message = `phase \`${phase.id}\` does not ask for \`${shown}\`${didYouMean(name, declared)}; leave it out`;
  return blocker('undeclared_evidence', message, completeAction(phase));
}

const LONGEST_NAME = 100;

/** In bytes of UTF-8. */
const LONGEST_NOTES = 4096;
const LONGEST_COMMANDS = 16_384;

function wordProblems(word: JsonObject): readonly string[] {
  const problems: string[] = [];
  const notes = own(word, 'notes');
  if (notes !== undefined && (typeof notes !== 'string' || bytesOf(notes) > LONGEST_NOTES)) {
    problems.push(`notes (wrong type: expected a text of at most ${LONGEST_NOTES} bytes)`);
  }
  const commands = own(word, 'commands_executed');
  if (commands !== undefined && !areCommands(commands)) {
    const expected = `a list of commands, each a text, of at most ${LONGEST_COMMANDS} bytes together`;
    problems.push(`commands_executed (wrong type: expected ${expected})`);
  }
  return problems;
}

function areCommands(value: Json): boolean {
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  if (!list.every((command): command is string => typeof command === 'string')) return false;
  return list.reduce((sum, command) => sum + bytesOf(command), 0) <= LONGEST_COMMANDS;
}

function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
