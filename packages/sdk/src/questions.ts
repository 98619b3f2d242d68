import type { Question } from '@phasegate/core/engine';

export { QUESTION_RELAY_HANDLER, SUB_AGENT_QUESTION_FORMAT } from '@phasegate/core/engine';

/** What a sub-agent's answer says: questions, none, or a block that cannot be passed on, with feedback. */
export type NeedsUserInput =
  | { readonly kind: 'none' }
  | { readonly kind: 'questions'; readonly questions: readonly Question[] }
  | { readonly kind: 'malformed'; readonly problems: readonly string[] };

const OPEN = '<needs_user_input>';
const CLOSE = '</needs_user_input>';
const MAX_BLOCK = 20_000;
const MAX_TEXT = 2000;
const MAX_OPTION = 500;

/**
 * Reads a sub-agent's answer. Only an answer that is one `<needs_user_input>` block and nothing else asks; a block
 * with anything around it is malformed, since what is around it would be lost. Prose never asks, whatever it says.
 */
export function parseNeedsUserInput(answer: string): NeedsUserInput {
  const text = answer.trim();
  const meant = text.startsWith('<needs_user_input') || (text.includes(OPEN) && text.includes(CLOSE));
  if (!meant) return { kind: 'none' };
  if (!text.startsWith(OPEN) || !text.endsWith(CLOSE)) {
    return malformed(`the answer must be one \`${OPEN}\` block and nothing else`);
  }
  if (text.length > MAX_BLOCK) return malformed(`the block is longer than ${MAX_BLOCK} characters`);
  const elements = childrenOf(text.slice(OPEN.length, -CLOSE.length), 'needs_user_input', ['question']);
  if (typeof elements === 'string') return malformed(elements);
  const problems: string[] = [];
  if (elements.length < 1 || elements.length > 3) {
    problems.push(`ask one to three questions at a time, not ${elements.length}`);
  }
  const questions = elements
    .slice(0, 3)
    .map(({ content }, index) => readQuestion(content, index + 1, problems));
  return problems.length > 0 ? { kind: 'malformed', problems } : { kind: 'questions', questions };
}

function malformed(problem: string): NeedsUserInput {
  return { kind: 'malformed', problems: [problem] };
}

function readQuestion(content: string, number: number, problems: string[]): Question {
  const parts = childrenOf(content, 'question', ['text', 'option']);
  if (typeof parts === 'string') {
    problems.push(`question ${number}: ${parts}`);
    return { text: '', options: [] };
  }
  const read = (name: string, limit: number) =>
    parts.flatMap((part) => (part.name === name ? [readText(part, { number, limit, problems })] : []));
  const texts = read('text', MAX_TEXT);
  const options = read('option', MAX_OPTION);
  if (texts.length !== 1) problems.push(`question ${number} needs exactly one \`<text>\``);
  if (options.length < 2 || options.length > 3 || new Set(options).size !== options.length) {
    problems.push(`question ${number} needs two or three distinct options`);
  }
  return { text: texts[0] ?? '', options };
}

function readText(
  { name, content }: Element,
  {
    number,
    limit,
    problems,
  }: { readonly number: number; readonly limit: number; readonly problems: string[] },
): string {
  const text = unescapeEntities(content).trim();
  if (content.includes('<')) problems.push(`question ${number}: \`<${name}>\` holds plain text only`);
  else if (text === '') problems.push(`question ${number} has an empty \`<${name}>\``);
  else if (text.length > limit)
    problems.push(`question ${number} has a \`<${name}>\` of more than ${limit} characters`);
  else if (/[^\P{Cc}\n\t]/u.test(text.replaceAll('\r\n', '\n')))
    problems.push(`question ${number} has control characters in its \`<${name}>\``);
  return text;
}

interface Element {
  readonly name: string;
  readonly content: string;
}

/** The elements directly inside one, where nothing but these and white space is allowed; or what is wrong. */
function childrenOf(inside: string, parent: string, allowed: readonly string[]): readonly Element[] | string {
  const elements: Element[] = [];
  let rest = inside.trim();
  while (rest !== '') {
    const name = allowed.find((candidate) => rest.startsWith(`<${candidate}>`));
    if (name === undefined) {
      const [start = ''] = rest.split(/\s/, 1);
      const expected = allowed.map((candidate) => `\`<${candidate}>\``).join(' or ');
      return `inside \`<${parent}>\` only ${expected} may stand, not \`${start.slice(0, 40)}\``;
    }
    const end = rest.indexOf(`</${name}>`);
    if (end === -1) return `a \`<${name}>\` is never closed`;
    elements.push({ name, content: rest.slice(name.length + 2, end) });
    rest = rest.slice(end + name.length + 3).trimStart();
  }
  return elements;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Once, so that an escaped entity stays what its author wrote. What is not an entity stays as it is. */
function unescapeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));/g, (whole, ...groups) => {
    const [decimal, hex, name] = groups as (string | undefined)[];
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    const exists = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return exists ? String.fromCodePoint(point) : whole;
  });
}
