import { asideRanges, isWithin, Lines } from '@phasegate/core/model';
import { demandsApproval } from './demandsApproval.ts';
import { cellsOf, isEvidenceHeader, isRule } from './evidenceTable.ts';
import { headingAt, linesOf } from './markdownText.ts';

/** A sentence that demands a human's approval or sign-off, and the line where the demand begins. */
export interface ApprovalLine {
  readonly line: number;
  readonly sentence: string;
}

interface ProseLine {
  readonly number: number;
  readonly text: string;
}

/** What demands a human's approval or sign-off in a text, outside code and comments. */
export function approvalLines(text: string): readonly ApprovalLine[] {
  const found: ApprovalLine[] = [];
  let paragraph: ProseLine[] = [];
  let table: ProseLine[] = [];
  const close = (): void => {
    found.push(...inParagraph(paragraph), ...inTable(table));
    paragraph = [];
    table = [];
  };
  for (const line of proseOf(text)) {
    if (line === null || line.text.trim() === '') {
      close();
    } else if (headingAt(line.text) !== null) {
      close();
      // A heading names something, unless it says that it is required.
      if (/\brequire[ds]?\b|\bmust\b|\bmandatory\b/i.test(line.text)) found.push(...inParagraph([line]));
    } else if (cellsOf(line.text) !== null) {
      if (paragraph.length > 0) close();
      table.push(line);
    } else {
      if (table.length > 0 || beginsAnew(line.text)) close();
      paragraph.push(line);
      if (/(?: {2}|\\)$/.test(line.text)) close();
    }
  }
  close();
  return found;
}

/** The lines with code and comments blanked; null for one that is code or front matter as a whole. */
function proseOf(text: string): readonly (ProseLine | null)[] {
  const asides = asideRanges(text);
  const lines = new Lines(text);
  return linesOf(text).map(({ number, text: line, aside }) => {
    if (aside !== null) return null;
    const start = lines.start(number);
    // By code unit, as the ranges count.
    const letters = line.split('').map((letter, column) => (isWithin(asides, start + column) ? ' ' : letter));
    return { number, text: letters.join('') };
  });
}

/** An item of a list, a quotation after none, or a label such as `**Approval**:` does not go on with the line above. */
function beginsAnew(text: string): boolean {
  return /^\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s|(?:\*\*|__)[^*_]+(?:\*\*:|__:|:\*\*|:__)|[A-Z][\w /-]{0,40}:\s)/.test(
    text,
  );
}

function inParagraph(lines: readonly ProseLine[]): readonly ApprovalLine[] {
  const joined = lines.map(({ text }) => text.replace(/^\s*(?:>\s?)+/, '')).join('\n');
  const seen = new Map<number, ApprovalLine>();
  let from = 0;
  for (const sentence of sentencesOf(joined)) {
    const start = joined.indexOf(sentence, from);
    from = start + sentence.length;
    if (!demandsApproval(sentence)) continue;
    const first = lines[joined.slice(0, start).split('\n').length - 1 + linesBefore(sentence)];
    const line = (first as ProseLine).number;
    if (!seen.has(line)) seen.set(line, { line, sentence: sentence.replace(/\s+/g, ' ').trim() });
  }
  return [...seen.values()];
}

/** How many lines of a sentence come before the demand: the rest still demands without them. */
function linesBefore(sentence: string): number {
  const lines = sentence.split('\n');
  for (let skipped = lines.length - 1; skipped > 0; skipped--) {
    if (demandsApproval(lines.slice(skipped).join('\n'))) return skipped;
  }
  return 0;
}

/** A question and its short answer are one sentence: "Approval needed? No." */
function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!;])\s+|(?<=\?)\s+(?!(?:no|none|false|n\/a)\b[.!]?(?:\s|$))/i);
}

/** A row says what its cells say one after another, and each cell what it says under its heading. */
function inTable(rows: readonly ProseLine[]): readonly ApprovalLine[] {
  const headed = rows.length > 2 && isRule(rows[1]?.text ?? '');
  const header = headed ? (cellsOf(rows[0]?.text ?? '') ?? []) : [];
  const evidence = headed && isEvidenceHeader(rows[0]?.text ?? '');
  return rows.slice(headed ? 2 : 0).flatMap(({ number, text }) => {
    const cells = cellsOf(text) ?? [];
    const headings = cells.map((cell, index) => `${header[index] ?? ''}: ${cell}`);
    // The cells of an evidence table beside each other say of a value that it is required, not of an approval.
    const said = evidence ? cells : [cells.join(': '), ...headings];
    const sentence = said.flatMap((one) => sentencesOf(one)).find(demandsApproval);
    return sentence === undefined ? [] : [{ line: number, sentence: sentence.trim() }];
  });
}
