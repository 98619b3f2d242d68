import type { IndexWarning } from '@phasegate/core/ports';
import { type Chunk, chunking } from './chunkMarkdown.ts';
import { type Breathe, inSteps, LINES_PER_STEP, type Steps } from './inSteps.ts';
import { readFrontMatter } from './readFrontMatter.ts';
import { shortened } from './sectionsOf.ts';

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
export async function documentOf(
  path: string,
  text: string,
  breathe: Breathe = () => undefined,
): Promise<Document> {
  const lines = await inSteps(linesOf(text.replace(/^\uFEFF/, '')), breathe);
  const { matter, start, warnings } = await readFrontMatter(lines);
  const chunks = await inSteps(chunking(lines, start), breathe);
  const asked = await inSteps(hooksIn(lines, start), breathe);
  const tags = matter.tags.length > 0 ? matter.tags : foldersOf(path);
  return {
    title: shortened(
      matter.title ?? chunks.find(({ headings }) => headings.length > 0)?.headings[0] ?? nameOf(path),
    ),
    phase: matter.phase ?? phaseInPath(path),
    tags: [...new Set(tags.map((tag) => tag.toLowerCase()))],
    workflows: matter.workflows.length > 0 ? matter.workflows : workflowsInPath(path),
    closed: matter.workflows.length > 0 && (matter.phase ?? phaseInPath(path)) !== null,
    hooks: [nameOf(path), ...tags, ...matter.hooks, ...asked].join('\n'),
    chunks,
    warnings,
  };
}

function* linesOf(text: string): Steps<readonly string[]> {
  const lines: string[] = [];
  let from = 0;
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
    if (lines.push(text.slice(from, index)) % LINES_PER_STEP === 0) yield;
    from = index + end.length;
  }
  lines.push(text.slice(from));
  return lines;
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
function* hooksIn(lines: readonly string[], start: number): Steps<readonly string[]> {
  const hooks: string[] = [];
  let asked = false;
  for (let index = start; index < lines.length && hooks.length < MOST_HOOKS; index++) {
    if (index % LINES_PER_STEP === 0) yield;
    const line = lines[index] ?? '';
    if (line === '') continue;
    const keywords = keywordsIn(line);
    if (keywords !== '') hooks.push(keywords);
    if (/^#{1,6}\s/.test(line)) asked = asksQuestions(line);
    else if (asked && /^\s*(?:[-*+]|\d+[.)])\s/.test(line)) hooks.push(line.trim());
  }
  return hooks;
}

// Both look for one thing and then behind it: a pattern for all of it would try every way to cut a long line.
function keywordsIn(line: string): string {
  const [lead] = /^[\s>*_-]*keywords(?: for search)?[*_]*:[*_]*/i.exec(line) ?? [];
  return lead === undefined ? '' : line.slice(lead.length).trimStart();
}

function asksQuestions(heading: string): boolean {
  const asked = /questions (?:this|it|the)\b/i.exec(heading);
  return asked !== null && /\banswers/i.test(heading.slice(asked.index + asked[0].length));
}

const MOST_HOOKS = 50;
