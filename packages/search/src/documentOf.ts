import type { IndexWarning } from '@phasegate/core/ports';
import { type Chunk, chunkMarkdown } from './chunkMarkdown.ts';
import { readFrontMatter } from './readFrontMatter.ts';

/** A document as the index holds it. */
export interface Document {
  readonly title: string;
  readonly phase: number | null;
  /** In lower case. */
  readonly tags: readonly string[];
  /** The workflows it belongs to: as its front matter says, else by the folder it lies in. */
  readonly workflows: readonly string[];
  /** Content of one phase of a workflow: found only by who asks for that workflow. */
  readonly closed: boolean;
  /** What its author expects to be asked with; weighs more than its text. */
  readonly hooks: string;
  readonly chunks: readonly Chunk[];
  readonly warnings: readonly Omit<IndexWarning, 'file'>[];
}

/** Understands one document. Metadata comes from front matter, else from its path, and is never guessed from its text. */
export async function documentOf(path: string, text: string): Promise<Document> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const { matter, start, warnings } = await readFrontMatter(lines);
  const chunks = chunkMarkdown(lines, start);
  const tags = matter.tags.length > 0 ? matter.tags : foldersOf(path);
  return {
    title: matter.title ?? chunks.find(({ headings }) => headings.length > 0)?.headings[0] ?? nameOf(path),
    phase: matter.phase ?? phaseInPath(path),
    tags: [...new Set(tags.map((tag) => tag.toLowerCase()))],
    workflows: matter.workflows.length > 0 ? matter.workflows : workflowsInPath(path),
    closed: matter.workflows.length > 0 && (matter.phase ?? phaseInPath(path)) !== null,
    hooks: [nameOf(path), ...tags, ...matter.hooks, ...hooksIn(lines, start)].join('\n'),
    chunks,
    warnings,
  };
}

/** The N of a folder `phases/N`. */
export function phaseInPath(path: string): number | null {
  const [, number] = /(?:^|\/)phases\/(\d{1,9})\//.exec(path) ?? [];
  return number === undefined ? null : Number(number);
}

function workflowsInPath(path: string): readonly string[] {
  return [...path.matchAll(/(?<=(?:^|\/)(?:docs|standards)\/)([^/]+)(?=\/)/g)].map(([name]) => name);
}

const PLACES = new Set(['docs', 'standards', '.praxis-os', 'phases']);

function foldersOf(path: string): readonly string[] {
  return path
    .split('/')
    .slice(0, -1)
    .filter((name) => !PLACES.has(name) && !/^\d+$/.test(name));
}

function nameOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.replace(/\.[^.]+$/, '').replaceAll(/[-_]+/g, ' ');
}

/** A line `Keywords for search: …`, and the list under `Questions this answers`. */
function hooksIn(lines: readonly string[], start: number): readonly string[] {
  const hooks: string[] = [];
  let asked = false;
  for (const line of lines.slice(start)) {
    const [, keywords] = /^[\s>*_-]*keywords(?: for search)?[*_]*:[*_]*\s*(.+)$/i.exec(line) ?? [];
    if (keywords !== undefined) hooks.push(keywords);
    if (/^#{1,6}\s/.test(line)) asked = /questions (?:this|it|the)\b.*\banswers/i.test(line);
    else if (asked && /^\s*(?:[-*+]|\d+[.)])\s/.test(line)) hooks.push(line.trim());
    if (hooks.length >= MOST_HOOKS) break;
  }
  return hooks;
}

const MOST_HOOKS = 50;
