import type { SourceCriterion } from '@phasegate/core/ports';
import type { Line } from './readLines.ts';

/** A list of criteria while it is being read. */
export interface Checklist {
  /** Takes a bullet: a further item, or a detail of the item above it. */
  add(line: Line): void;
  /** Takes a line of text that continues the item above; false when it does not. */
  extend(line: Line, afterBlank: boolean): boolean;
  /** The column of the last item, or -1 before the first. */
  indent(): number;
  items(): readonly SourceCriterion[];
}

interface Item {
  text: string;
  readonly checked: boolean;
  readonly indent: number;
  readonly boxed: boolean;
  hasBoxes: boolean;
}

/** Starts a list. Plain bullets below an item are part of it; a box below an item is an item of its own. */
export function createChecklist(): Checklist {
  const items: Item[] = [];
  // The items the next bullet may be below, outermost first.
  const open: Item[] = [];
  return {
    add(line) {
      while ((open.at(-1)?.indent ?? -1) >= line.indent) open.pop();
      const parent = open.at(-1);
      const last = items.at(-1);
      if (parent !== undefined && last !== undefined && line.box === 'none') {
        last.text += `\n${' '.repeat(Math.max(0, line.indent - last.indent))}- ${criterionText(line.text)}`;
        return;
      }
      if (parent !== undefined) parent.hasBoxes = true;
      const item: Item = {
        text: criterionText(line.text),
        checked: line.box === 'ticked' || (line.box === 'none' && isMarkedDone(line.text)),
        indent: line.indent,
        boxed: line.box !== 'none',
        hasBoxes: false,
      };
      items.push(item);
      open.push(item);
    },
    extend(line, afterBlank) {
      const last = items.at(-1);
      if (last === undefined || (afterBlank && line.indent <= last.indent)) return false;
      last.text += afterBlank ? `\n${line.text}` : ` ${line.text}`;
      return true;
    },
    indent: () => items.at(-1)?.indent ?? -1,
    items: () =>
      items
        // A bullet without a box over bullets with boxes is the name of a group.
        .filter((item) => item.text !== '' && (item.boxed || !item.hasBoxes))
        .map(({ text, checked }) => ({ text, checked })),
  };
}

/** A criterion's words without the marks that say whether it is met. */
export function criterionText(text: string): string {
  return text
    .replace(/^(?:[✅✔☑❌✗☐⬜🔲]\uFE0F?\s*)+/u, '')
    .replace(/\s*\(?[✅✔☑❌✗⬜]\uFE0F?(?:\s*\/\s*[✅✔☑❌✗⬜]\uFE0F?)*\)?$/u, '')
    .trim();
}

function isMarkedDone(text: string): boolean {
  if (/[✅✔☑]\uFE0F?\s*\/\s*[❌✗]|[❌✗]\uFE0F?\s*\/\s*[✅✔☑]/u.test(text)) return false;
  return /^[✅✔☑]|[✅✔☑]\uFE0F?$/u.test(text);
}
