import { type Json, type JsonObject, own } from '@phasegate/core';
import { goalAuthor } from '@phasegate/core/engine';
import { decodeGoal } from '@phasegate/wire';
import { describeJson } from './describeJson.ts';
import { foreignLines } from './foreignLines.ts';

// What the engine or the accepted workflow says. Whatever is not here is taken for somebody else's words.
const OURS: ReadonlySet<string> = new Set([
  'run',
  'workflow',
  'workflow_hash',
  'mode',
  'trusted',
  'ring',
  'started',
  'path',
  'decisions',
  'gate',
  'phase',
  'epoch',
  'opened_at',
  'checks',
  'submitted_by',
  'prompt',
  'outcome',
  'options',
]);

const LEGEND =
  'Lines that begin with | are words of others: of an agent, of a person, or what a program printed.';

/** The gate card on a screen: the whole of it, because its hash is what the human signs. */
export function cardText(card: JsonObject, width: number): string {
  const lines = Object.entries(card).flatMap(([key, value]) => sectionLines(key, value, width));
  return `${[LEGEND, '', ...lines].join('\n')}\n`;
}

function sectionLines(key: string, value: Json, width: number): readonly string[] {
  const text = describeJson(value, '  ');
  if (OURS.has(key)) return [`${key}:${text.startsWith('\n') ? text : ` ${text}`}${meaning(key, value)}`];
  if (key === 'goal') return goalLines(value, width);
  return [`${key}:`, ...foreignLines(describeJson(value).trimStart(), width)];
}

/** Whose words it is stands on a line of ours; the words do not. */
function goalLines(goal: Json, width: number): readonly string[] {
  const { goal: told } = decodeGoal({ goal: String(own(goal, 'text')), goal_by: String(own(goal, 'by')) });
  if (told === undefined) return [];
  return [`goal, ${goalAuthor(told)}:`, ...foreignLines(told.text, width)];
}

function meaning(key: string, value: Json): string {
  if (key === 'mode' && value === 'permissive')
    return ' (nothing is blocked: what would be refused is let through)';
  return key === 'trusted' && value === false ? ' (no human has accepted this workflow)' : '';
}
