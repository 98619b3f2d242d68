import { asideRanges, isWithin, Lines, placeholdersIn, type Templates } from '@phasegate/core/model';
import type { DynamicConfig } from './metadata.ts';
import type { Report } from './report.ts';
import type { MarkdownFile, WorkflowFolder } from './workflowFolder.ts';

/** Placeholders of a phase's template. */
export const PHASE_PLACEHOLDERS = [
  'PHASE_NUMBER',
  'PHASE_NAME',
  'PHASE_DESCRIPTION',
  'ESTIMATED_DURATION',
  'TASK_COUNT',
  'VALIDATION_GATE',
  'NEXT_PHASE_NUMBER',
] as const;

/** Placeholders of a task's template. */
export const TASK_PLACEHOLDERS = [
  'TASK_ID',
  'TASK_NAME',
  'PHASE_NUMBER',
  'PHASE_NAME',
  'TASK_DESCRIPTION',
  'ESTIMATED_TIME',
  'DEPENDENCIES',
  'ACCEPTANCE_CRITERIA',
  'NEXT_TASK_NUMBER',
] as const;

/** Reads both templates of a dynamic workflow; null after what is wrong with them was reported. */
export async function readTemplates(
  folder: WorkflowFolder,
  config: DynamicConfig,
): Promise<Templates | null> {
  const [phase, task] = await Promise.all([
    readTemplate(folder, config.templates.phase, PHASE_PLACEHOLDERS),
    readTemplate(folder, config.templates.task, TASK_PLACEHOLDERS),
  ]);
  return phase === null || task === null ? null : { phase, task };
}

const HINT = 'Check metadata.json template paths';

async function readTemplate(
  folder: WorkflowFolder,
  { path, at }: DynamicConfig['templates']['phase'],
  known: readonly string[],
): Promise<string | null> {
  const parts = path.split('/');
  if (path.startsWith('/') || path.includes('\\') || parts.includes('..')) {
    const message = `template \`${path}\` is outside the folder of the workflow`;
    folder.report.error(at, { code: 'path_outside', message, hint: HINT });
    return null;
  }
  const remark = { code: 'template_not_found', message: `Template ${path} not found`, hint: HINT };
  const file = await folder.readMarkdown(path, { at, remark });
  if (file === null) return null;
  reportUnresolved(file, known, folder.report);
  return file.text;
}

/** INVARIANT: what looks like a placeholder and has no value never reaches an agent. */
function reportUnresolved(file: MarkdownFile, known: readonly string[], report: Report): void {
  const lines = new Lines(file.text);
  for (const { text, offset } of unresolvedIn(file.text, known)) {
    const message = `\`${text}\` looks like a placeholder and nothing is known to put there; known here: ${known.map((name) => `[${name}]`).join(' ')}; \`\\[\` is a plain bracket`;
    report.error({ file: file.path, ...lines.at(offset) }, { code: 'unresolved_placeholder', message });
  }
}

const BRACKETED = /(?<![\w\])\\])\[([^[\]\n]+)\](?![([])/g;
const BRACES = /(?<![$\\])\{\{[^{}\n]+\}\}/g;

/**
 * Everything in a template that looks as if something should stand there instead. Code and comments are left alone,
 * and so is a bracket behind a backslash.
 */
export function unresolvedIn(
  template: string,
  known: readonly string[],
): readonly { readonly text: string; readonly offset: number }[] {
  const asides = asideRanges(template);
  const defined = new Set([...template.matchAll(/^ {0,3}\[([^\]\n]+)\]:/gm)].map((match) => match[1]));
  const found = [...template.matchAll(BRACKETED)].flatMap((match) => {
    const [text, inner = ''] = match;
    if (known.includes(inner) || defined.has(inner) || isWithin(asides, match.index)) return [];
    return isBlank(inner) ? [{ text, offset: match.index }] : [];
  });
  const names = new Set(found.map(({ text }) => text));
  // What the engine itself would fill counts also right behind a word.
  const others = placeholdersIn(template).filter((name) => !known.includes(name) && !names.has(`[${name}]`));
  const braces = [...template.matchAll(BRACES)].filter(({ index }) => !isWithin(asides, index));
  return [
    ...found,
    ...others.map((name) => ({ text: `[${name}]`, offset: template.indexOf(`[${name}]`) })),
    ...braces.map((match) => ({ text: match[0], offset: match.index })),
  ].toSorted((a, b) => a.offset - b.offset);
}

/** Words in brackets that a person was meant to replace: not a box, a footnote, an index, or a class of characters. */
function isBlank(inner: string): boolean {
  if (/^(?:\.{3}|…)/.test(inner)) return true;
  if (/^[A-Z]/.test(inner)) return !/^(?:[A-Za-z0-9]-[A-Za-z0-9])+[\w-]*$/.test(inner);
  return /^[a-z]\w*(?: \w+)+/.test(inner) && !/["',=]/.test(inner);
}
