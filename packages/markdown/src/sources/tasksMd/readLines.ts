import { codeLines } from './codeLines.ts';
import { type Label, labelsOf } from './labels.ts';
import { type Box, bulletOf, columns, headingOf, isRule } from './markup.ts';

const MAX_LINE = 4_000;
const NO_LABELS: readonly Label[] = [];

/** What a line is to the parser. */
export type LineKind = 'blank' | 'rule' | 'heading' | 'bullet' | 'text' | 'code';

/** One line of the document, looked at on its own. */
export interface Line {
  /** Counts from 1. */
  readonly number: number;
  readonly kind: LineKind;
  /** Columns before the first character, tabs as four; of a quote, those inside it. */
  readonly indent: number;
  /** Of a heading; 0 otherwise. */
  readonly level: number;
  readonly box: Box;
  /** Without hashes, bullet and box. */
  readonly text: string;
  /** The labels it starts with; looked for in text and in bullets without a box. */
  readonly labels: readonly Label[];
  readonly raw: string;
}

/** Splits a document into lines and says what each one is. */
export function readLines(document: string): readonly Line[] {
  const text = document.startsWith('\uFEFF') ? document.slice(1) : document;
  const raws = text.split(/\r\n|\n|\r/).map((raw) => raw.trimEnd());
  // A line of that length is data somebody pasted: kept, and never looked into.
  const code = codeLines(raws.map((raw) => (raw.length > MAX_LINE ? '' : raw)));
  return raws.map((raw, index) =>
    code[index] === true || raw.length > MAX_LINE
      ? plain('code', index + 1, raw)
      : classify(raw, index + 1, raws[index + 1] ?? ''),
  );
}

function classify(raw: string, number: number, next: string): Line {
  if (raw.trim() === '') return plain('blank', number, raw);
  if (isRule(raw) || /^={3,}$/.test(raw)) return plain('rule', number, raw);
  // A quoted line says the same as an unquoted one: authors set gates and goals in quotes.
  const quoted = /^ {0,3}>+[ \t]?(.*)$/.exec(raw);
  const bare = quoted === null ? raw : (quoted[1] ?? '');
  if (bare.trim() === '') return plain('blank', number, raw);
  const heading = headingOf(bare);
  if (heading !== null) return { ...plain('heading', number, raw), ...heading };
  if (/^={3,}$/.test(next) && bulletOf(bare) === null) {
    return { ...plain('heading', number, raw), level: 1, text: bare.trim() };
  }
  const found = bulletOf(bare);
  if (found !== null) {
    const labels = found.box === 'none' ? labelsOf(found.text) : NO_LABELS;
    return { ...plain('bullet', number, raw), ...found, labels };
  }
  const text = bare.trim();
  return {
    ...plain('text', number, raw),
    indent: columns(/^[ \t]*/.exec(bare)?.[0] ?? ''),
    text,
    labels: labelsOf(text),
  };
}

function plain(kind: LineKind, number: number, raw: string): Line {
  const indent = columns(/^[ \t]*/.exec(raw)?.[0] ?? '');
  return { number, kind, indent, level: 0, box: 'none', text: raw.trim(), labels: NO_LABELS, raw };
}
