import { type PlacedObject, type Reading, readYamlTree } from './jsonTree.ts';
import { WITHOUT_MEANING } from './keysWithoutMeaning.ts';
import { frontMatterOf } from './markdownText.ts';
import { PlacedFields } from './placedFields.ts';
import type { MarkdownFile } from './workflowFolder.ts';

/** The keys above the text of a phase, each with its place in the file; null where there are none. */
export function readPhaseFrontMatter({ path, text }: MarkdownFile, reading: Reading): PlacedObject | null {
  const { end } = frontMatterOf(text);
  if (end === 0) return null;
  // An empty line stands for the first mark, so that every line keeps its number.
  const lines = text.split(/\r?\n/).slice(1, end - 1);
  const source = readYamlTree(path, ['', ...lines].join('\n'), reading);
  if (source !== null)
    new PlacedFields(source, reading.report).refuseUnknown([], WITHOUT_MEANING.frontMatter);
  return source;
}
