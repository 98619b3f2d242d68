import { Parser } from 'commonmark';

/** The lines of a document that are in a fence and not blank, and its headings, as CommonMark has them. */
export function blocksOf(text: string) {
  const lines = text.split('\n');
  const fenced: number[] = [];
  const headings: { readonly line: number; readonly level: number }[] = [];
  const walker = new Parser().parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { node, entering } = step;
    if (!entering || node.sourcepos === undefined) continue;
    const [[from], [to]] = node.sourcepos;
    if (node.type === 'heading') headings.push({ line: from, level: node.level });
    if (node.type !== 'code_block' || !node._isFenced) continue;
    for (let line = from; line <= to; line += 1) if (lines[line - 1]?.trim() !== '') fenced.push(line);
  }
  return { fenced, headings };
}
