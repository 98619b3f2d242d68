import { frontMatterOf } from '@phasegate/core/model';
import { type PlacedObject, type Reading, readYamlTree } from './jsonTree.ts';
import { WITHOUT_MEANING } from './keysWithoutMeaning.ts';
import { PlacedFields } from './placedFields.ts';
import type { MarkdownFile } from './workflowFolder.ts';

/** The keys above the text of a phase, each with its place in the file; null where there are none. */
export function readPhaseFrontMatter({ path, text }: MarkdownFile, reading: Reading): PlacedObject | null {
  const lines = text.split(/\r?\n/);
  const inside = lines.slice(1, Math.max(frontMatterOf(lines).end - 1, 1));
  if (inside.every((line) => line.trim() === '')) return null;
  // An empty line stands for the first mark, so that every line keeps its number.
  const source = readYamlTree(path, ['', ...inside].join('\n'), reading);
  if (source !== null)
    new PlacedFields(source, reading.report).refuseUnknown([], WITHOUT_MEANING.frontMatter);
  return source;
}
