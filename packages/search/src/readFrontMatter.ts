import { frontMatterOf } from '@phasegate/core/model';
import type { IndexWarning } from '@phasegate/core/ports';

/** What the block between two `---` at the top of a document says of it. */
export interface FrontMatter {
  readonly title: string | null;
  readonly phase: number | null;
  readonly tags: readonly string[];
  readonly workflows: readonly string[];
  /** Words and questions the author expects to be asked with. */
  readonly hooks: readonly string[];
}

/** A document cut in two; `start` is the line the text begins at, from 0. */
export interface CutDocument {
  readonly matter: FrontMatter;
  readonly start: number;
  readonly warnings: readonly Omit<IndexWarning, 'file'>[];
}

/** Reads the front matter. One that cannot be read is text like any other, with a warning: nothing is lost. */
export async function readFrontMatter(lines: readonly string[]): Promise<CutDocument> {
  const { end, closed } = frontMatterOf(lines);
  if (end === 0) return NONE;
  if (!closed) return asText('front matter has no end');
  const block = lines.slice(1, end - 1).join('\n');
  if (block.length > MOST_CHARACTERS) return asText(`front matter is over ${MOST_CHARACTERS} characters`);
  let value: unknown;
  try {
    // Loaded here because most documents have none, and the parser is slow to load.
    const { parse } = await import('yaml');
    value = parse(block);
  } catch (error) {
    const [reason = 'unreadable'] = String((error as Error).message).split('\n');
    return asText(`front matter is not YAML: ${reason.replace(/:$/, '')}`);
  }
  if (value === null) return { matter: NOTHING, start: end, warnings: [] };
  if (typeof value !== 'object' || Array.isArray(value)) return NONE;
  return { ...understood(new Map(Object.entries(value))), start: end };
}

function understood(values: ReadonlyMap<string, unknown>): Omit<CutDocument, 'start'> {
  const phase = phaseOf(values.get('phase'));
  const warnings =
    phase === undefined
      ? [
          {
            line: 1,
            message: `\`phase\` is ${JSON.stringify(values.get('phase'))}, which is not a whole number`,
          },
        ]
      : [];
  const [title = null] = textsOf(values.get('title'));
  return {
    matter: {
      title,
      phase: phase ?? null,
      tags: listOf(values.get('tags') ?? values.get('tag')),
      workflows: textsOf(values.get('workflow') ?? values.get('workflows')),
      hooks: ['keywords', 'questions', 'description'].flatMap((key) => textsOf(values.get(key))),
    },
    warnings,
  };
}

const NOTHING: FrontMatter = { title: null, phase: null, tags: [], workflows: [], hooks: [] };
const NONE: CutDocument = { matter: NOTHING, start: 0, warnings: [] };
const MOST_CHARACTERS = 65_536;

function asText(message: string): CutDocument {
  return { matter: NOTHING, start: 0, warnings: [{ line: 1, message: `${message}; it is read as text` }] };
}

/** Undefined where something is there that is not a phase. */
function phaseOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null) return null;
  const number = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}

function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  return text === '' ? [] : [text];
}

/** A list, or its short form `a, b`. */
function listOf(value: unknown): readonly string[] {
  return textsOf(value).flatMap((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
}
