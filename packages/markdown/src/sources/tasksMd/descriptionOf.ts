import type { Line } from './readLines.ts';

/**
 * Lines as one Markdown text. Boxes become plain bullets, so that ticking one changes no text; the indentation
 * all lines share is taken off.
 */
export function descriptionOf(lines: readonly Line[]): string {
  const filled = lines.filter(({ kind }) => kind !== 'blank');
  if (filled.length === 0) return '';
  const shared = filled.reduce((least, { indent }) => Math.min(least, indent), Number.MAX_SAFE_INTEGER);
  const text = lines
    .map((line) => dedent(textOf(line), shared))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const fences = lines.filter(
    ({ kind, text: code }) => kind === 'code' && /^(?:`{3,}|~{3,})/.test(code),
  ).length;
  // What the author left open must not swallow the text it is put into.
  return fences % 2 === 0 ? text : `${text}\n\`\`\``;
}

function textOf(line: Line): string {
  if (line.kind === 'heading') return `**${line.text.replace(/\*\*/g, '')}**`;
  if (line.kind === 'code') return line.raw.replace(/^([ \t>]*[-*+][ \t]+)\[[xX]\]/, '$1[ ]');
  if (line.box !== 'none') return `${' '.repeat(line.indent)}- ${line.text}`;
  return line.raw;
}

function dedent(text: string, columns: number): string {
  let cut = 0;
  for (let width = 0; width < columns && (text[cut] === ' ' || text[cut] === '\t'); cut++) {
    width += text[cut] === '\t' ? 4 : 1;
  }
  return text.slice(cut);
}
