import type { EvidenceRule } from '@phasegate/core/model';
import {
  type EvidenceFieldDraft,
  type FieldType,
  letsFalsePass,
  saysPlainly,
  usualRule,
} from './evidence.ts';
import { headingAt, type MarkdownLine } from './markdownText.ts';
import type { Report } from './report.ts';

const MARKERS = ['must provide', 'required:', 'evidence:', 'checkpoint:'];
/** The line and the two after it. */
const WINDOW = 3;

/** Whether a line asks for evidence. */
export function isEvidenceRequirement(line: string): boolean {
  const lower = line.toLowerCase();
  return MARKERS.some((marker) => lower.includes(marker));
}

/** The name of the evidence a line asks for, or `unknown_field`. */
export function fieldNameIn(line: string): string {
  const words = line.split(/\s+/).filter((word) => word !== '');
  for (const word of words) {
    if (word.length > 2 && word.startsWith('`') && word.endsWith('`')) return word.replace(/^`+|`+$/g, '');
    // A marker in bold is the label of the line, not what it asks for.
    if (word.length > 4 && word.startsWith('**') && word.endsWith('**') && !isEvidenceRequirement(word))
      return word.replace(/^\*+|\*+$/g, '').toLowerCase();
  }
  const snake = words.find((word) => word.includes('_') && /^[\p{L}\p{N}]+$/u.test(word.replaceAll('_', '')));
  if (snake !== undefined) return snake;
  // Only where the words as they stand name nothing: `name`: and (`name`) mean `name` too.
  const touching = words
    .map((word) => /^\(?`([^`]+)`[:,.;)]+$/.exec(word)?.[1])
    .find((name) => name !== undefined);
  return touching ?? UNKNOWN_FIELD;
}

/** What stands for a name where a line has none. */
export const UNKNOWN_FIELD = 'unknown_field';

const TYPE_WORDS: readonly (readonly [FieldType, readonly string[]])[] = [
  ['int', ['count', 'number', 'quantity']],
  ['list', ['list', 'array', 'collection']],
  ['str', ['output', 'text', 'command']],
  ['bool', ['flag', 'boolean', 'true/false', 'true or false']],
];

/** The type a line speaks of; where it says nothing, what its continuation says. */
export function inferType(line: string, context: readonly string[] = []): FieldType {
  for (const text of [line, ...context]) {
    const lower = text.toLowerCase();
    const found = TYPE_WORDS.find(([, words]) => words.some((word) => lower.includes(word)));
    if (found !== undefined) return found[0];
  }
  return 'str';
}

const RULE_WORDS: readonly (readonly [EvidenceRule, readonly string[]])[] = [
  ['positive', ['greater than', 'at least', 'non-zero']],
  ['non_empty', ['non-empty', 'must contain']],
  ['optional', ['optional', 'may be empty']],
];

/** The rule a line speaks of; where it says nothing, what its continuation says. */
export function inferRule(line: string, context: readonly string[] = []): EvidenceRule {
  const whole = [line, ...context].join(' ');
  for (const text of [line, ...context]) {
    const lower = text.toLowerCase();
    // What lets evidence be left out must be said plainly: "not optional" does not say it.
    const found = RULE_WORDS.find(([rule, words]) =>
      words.some((word) => lower.includes(word) && (rule !== 'optional' || saysPlainly(whole, word))),
    );
    if (found !== undefined) return found[0];
  }
  return 'present';
}

/** A line as a description: without the marks around it. */
export function describeLine(line: string): string {
  return line.replace(/^[*#\-:`"\s]+|[*#\-:`"\s]+$/g, '');
}

/** A document requirements are read from. */
export interface Document {
  readonly file: string;
  /** The line of the file the first of `lines` is. */
  readonly from: number;
  readonly lines: readonly MarkdownLine[];
}

/**
 * Every requirement in the prose of the documents; a later one of the same name replaces the earlier.
 * A line that asks for evidence and names none is an error: what it wants would be lost.
 */
export function readRequirements(
  documents: readonly Document[],
  report: Report,
  { beside = false }: { readonly beside?: boolean } = {},
): ReadonlyMap<string, EvidenceFieldDraft> {
  const found = new Map<string, EvidenceFieldDraft>();
  // Beside a gate file, which says what completes the phase, a sentence nobody understands loses nothing.
  const unclear: Unclear = (at, remark) => (beside ? report.note(at, remark) : report.error(at, remark));
  for (const document of documents) readDocument(document, { report, unclear }, found);
  return found;
}

type Unclear = Report['error'];

function readDocument(
  { file, from, lines }: Document,
  { report, unclear }: { readonly report: Report; readonly unclear: Unclear },
  found: Map<string, EvidenceFieldDraft>,
): void {
  const listed = introducedItems(lines);
  lines.forEach((line, index) => {
    if (isTableRow(line.text) || !(isEvidenceRequirement(line.text) || listed.has(index))) return;
    const at = {
      file,
      line: from + line.number - 1,
      column: 1 + (line.text.length - line.text.trimStart().length),
    };
    if (line.aside === 'front_matter') return;
    if (line.aside === 'fence') {
      const message = 'this looks like a requirement and stands in a code block, so it is not read as one';
      report.note(at, { code: 'requirement_in_code', message });
      return;
    }
    const name = fieldNameIn(line.text);
    if (name === UNKNOWN_FIELD) {
      if (!introduces(lines, index) && !isIntroduction(lines, index)) unclear(at, unnamed(line.text));
      return;
    }
    const context = continuation(lines, index);
    const type = inferType(line.text, context);
    const said = inferRule(line.text, context);
    const any = letsFalsePass([line.text, ...context].join(' '));
    const rule = said === 'present' && !any ? usualRule(type) : said;
    const problem = contradiction(type, rule);
    if (problem !== null) {
      const message = `\`${name}\` is understood as ${type} ${problem}; say which it is, or use an evidence table`;
      unclear(at, { code: 'unclear_requirement', message });
      return;
    }
    const others = namesIn(line.text).filter((other) => other !== name);
    if (others.length > 0) {
      const message = `a line asks for one piece of evidence, here \`${name}\`; ${others.map((other) => `\`${other}\``).join(', ')} is not read as another`;
      report.note(at, { code: 'one_per_line', message });
    }
    const guessed = { type: true, rule: said === 'present' && !any };
    found.set(name, { name, type, rule, description: describeLine(line.text), guessed, at });
  });
}

/** What looks like names of evidence: words with an underscore, in backticks. */
function namesIn(line: string): readonly string[] {
  return [...line.matchAll(/`([A-Za-z]\w*_\w+)`/g)].map((match) => match[1] as string);
}

function unnamed(line: string): { readonly code: string; readonly message: string } {
  const shown = describeLine(line).slice(0, 80);
  const message = `\`${shown.replaceAll('`', "'")}\` asks for evidence and names none (${UNKNOWN_FIELD}): put the name in backticks`;
  return { code: UNKNOWN_FIELD, message };
}

/**
 * A heading or label that names nothing itself is fine where requirements follow before the next heading:
 * then it introduces them.
 */
function introduces(lines: readonly MarkdownLine[], index: number): boolean {
  const line = lines[index] as MarkdownLine;
  const heading = headingAt(line.text);
  const label = /(?:must provide|required:|evidence:|checkpoint:)[\s*_`]*$/i.test(line.text);
  if (heading === null && !label) return false;
  for (const next of lines.slice(index + 1)) {
    if (next.aside !== null) continue;
    const below = headingAt(next.text);
    if (below !== null && below.level <= (heading?.level ?? 6)) return false;
    if (isTableRow(next.text)) return true;
    if (isEvidenceRequirement(next.text) && fieldNameIn(next.text) !== UNKNOWN_FIELD) return true;
  }
  return false;
}

/** Whether a sentence without a name only says that a list follows: "before advancing you must provide:". */
function isIntroduction(lines: readonly MarkdownLine[], index: number): boolean {
  const text = lines[index]?.text ?? '';
  return /:[\s*_`]*$/.test(text) && itemsBelow(lines, index).length > 0;
}

/** The items of such lists that begin with a name: they are what is asked for. */
function introducedItems(lines: readonly MarkdownLine[]): ReadonlySet<number> {
  const found = new Set<number>();
  lines.forEach(({ text, aside }, index) => {
    if (aside !== null || !isEvidenceRequirement(text) || fieldNameIn(text) !== UNKNOWN_FIELD) return;
    if (!isIntroduction(lines, index)) return;
    for (const item of itemsBelow(lines, index)) {
      if (/^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?\**`[A-Za-z_][\w.-]*`/.test(lines[item]?.text ?? ''))
        found.add(item);
    }
  });
  return found;
}

function itemsBelow(lines: readonly MarkdownLine[], index: number): readonly number[] {
  const items: number[] = [];
  for (let next = index + 1; next < lines.length; next++) {
    const { text, aside } = lines[next] as MarkdownLine;
    if (text.trim() === '' && aside === null) continue;
    const item = aside === null && /^\s*(?:[-*+]|\d+[.)])\s/.test(text);
    if (item) items.push(next);
    else if (items.length === 0 || indentOf(text) === 0) break;
  }
  return items;
}

/** The lines of the window that go on with the sentence: not the next item, heading or requirement. */
function continuation(lines: readonly MarkdownLine[], index: number): readonly string[] {
  const going: string[] = [];
  for (const { text, aside } of lines.slice(index + 1, index + WINDOW)) {
    const ends =
      text.trim() === '' || headingAt(text) !== null || isTableRow(text) || isEvidenceRequirement(text);
    const item = /^\s*(?:[-*+]|\d+[.)])\s/.test(text);
    if (aside !== null || ends || (item && indentOf(text) <= indentOf(lines[index]?.text ?? ''))) break;
    going.push(text);
  }
  return going;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

function isTableRow(text: string): boolean {
  return /^\s*\|.*\|\s*$/.test(text);
}

/** Words that contradict each other could never be satisfied, or never fail. */
function contradiction(type: FieldType, rule: EvidenceRule): string | null {
  if (type === 'int' && rule === 'non_empty') return 'that must not be empty, and a number has no length';
  if (type === 'bool' && (rule === 'non_empty' || rule === 'positive'))
    return 'with a size, and true or false has none';
  return null;
}
