import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import type { MarkdownLine } from './markdownText.ts';

/** Examples of evidence in JSON code blocks, merged into one object. Only what is asked for is an example. */
export function readExamples(lines: readonly MarkdownLine[], wanted: ReadonlySet<string>): JsonObject {
  const examples: Record<string, Json> = {};
  for (const block of jsonBlocks(lines)) {
    for (const [name, value] of Object.entries(evidenceIn(block))) {
      if (wanted.has(name)) examples[name] = value;
    }
  }
  return examples;
}

function evidenceIn(block: JsonObject): JsonObject {
  return isJsonObject(block.evidence) ? block.evidence : block;
}

function jsonBlocks(lines: readonly MarkdownLine[]): readonly JsonObject[] {
  const blocks: JsonObject[] = [];
  let open: string[] | null = null;
  for (const { text, aside } of lines) {
    const mark = aside === 'fence' && /^ {0,3}(?:`{3,}|~{3,})/.test(text);
    if (!mark) {
      if (aside === 'fence') open?.push(text);
      continue;
    }
    if (open === null) {
      open = /^\W*json\b/i.test(text) ? [] : null;
      continue;
    }
    const value = parsed(open.join('\n'));
    if (isJsonObject(value)) blocks.push(value);
    open = null;
  }
  return blocks;
}

/** An example that is not JSON is not an example; nothing depends on it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
