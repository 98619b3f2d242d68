import { didYouMean } from '@phasegate/core/model';
import { type EvidenceFieldDraft, letsFalsePass, TYPE_NAMES, typeNamed, usualRule } from './evidence.ts';
import type { MarkdownLine } from './markdownText.ts';
import type { Report } from './report.ts';
import { isNoValidator, readValidator } from './validators.ts';

/** The fields of every evidence table: one with a column for the evidence and one for its type. */
export function readEvidenceTables(
  file: string,
  lines: readonly MarkdownLine[],
  report: Report,
): ReadonlyMap<string, EvidenceFieldDraft> {
  const found = new Map<string, EvidenceFieldDraft>();
  for (let index = 0; index < lines.length; index++) {
    const columns = lines[index]?.aside === null ? columnsOf(lines[index]?.text ?? '') : null;
    if (columns === null || !isRule(lines[index + 1]?.text ?? '')) continue;
    for (index += 2; index < lines.length; index++) {
      const line = lines[index] as MarkdownLine;
      const cells = cellsOf(line.text);
      if (cells === null || line.aside !== null) break;
      const field = readRow(cells, columns, { file, line: line.number, column: 1 }, report);
      if (field !== null) found.set(field.name, field);
    }
  }
  return found;
}

/** Whether a row is the heading of a table of evidence. */
export function isEvidenceHeader(text: string): boolean {
  return columnsOf(text) !== null;
}

interface Columns {
  readonly name: number;
  readonly type: number;
  readonly validator: number;
  readonly required: number;
  readonly description: number;
}

function columnsOf(text: string): Columns | null {
  const cells = cellsOf(text)?.map((cell) => bare(cell).toLowerCase());
  if (cells === undefined) return null;
  const find = (pattern: RegExp) => cells.findIndex((cell) => pattern.test(cell));
  const columns = {
    name: find(/^(?:evidence|field)(?: (?:field|name|key))?$/),
    type: find(/^type$/),
    validator: find(/^(?:validator|validation|rule)$/),
    required: find(/^required\??$/),
    description: find(/^(?:description|meaning|what)$/),
  };
  return columns.name === -1 || columns.type === -1 ? null : columns;
}

function readRow(
  cells: readonly string[],
  columns: Columns,
  at: EvidenceFieldDraft['at'],
  report: Report,
): EvidenceFieldDraft | null {
  const cell = (index: number) => (index === -1 ? '' : (cells[index] ?? ''));
  const name = bare(cell(columns.name));
  if (!/^[A-Za-z_][\w.-]*$/.test(name)) {
    const message = `\`${name}\` is not a name for evidence: use letters, digits and \`_\``;
    report.error(at, { code: 'bad_name', message });
    return null;
  }
  const typeName = bare(cell(columns.type));
  const type = typeNamed(typeName);
  if (type === undefined) {
    const message = `evidence \`${name}\` has the unknown type \`${typeName}\`${didYouMean(typeName, TYPE_NAMES)}`;
    report.error(at, { code: 'bad_type', message });
    return null;
  }
  const required = bare(cell(columns.required)).toLowerCase();
  if (!['', 'yes', 'true', 'required', 'no', 'false', 'optional'].includes(required)) {
    report.error(at, {
      code: 'bad_value',
      message: `\`required\` of \`${name}\` is yes or no, not \`${required}\``,
    });
    return null;
  }
  const validator = readValidator(bare(cell(columns.validator)), { name, type });
  if (!validator.ok) {
    report.error(at, { code: validator.code, message: `evidence \`${name}\`: ${validator.reason}` });
    return null;
  }
  const optional = ['no', 'false', 'optional'].includes(required);
  if (optional && (validator.condition !== undefined || !['present', 'optional'].includes(validator.rule))) {
    const message = `evidence \`${name}\` is optional and has a validator; a table cannot say both`;
    report.error(at, { code: 'unclear_requirement', message });
    return null;
  }
  const description = cell(columns.description).trim();
  const silent = isNoValidator(cell(columns.validator)) && !letsFalsePass(description);
  return {
    name,
    type,
    rule: optional ? 'optional' : silent ? usualRule(type) : validator.rule,
    description,
    guessed: { rule: silent && !optional },
    ...(validator.condition === undefined ? {} : { condition: validator.condition }),
    at,
  };
}

/** The cells of a row of a table, or null. */
export function cellsOf(text: string): readonly string[] | null {
  const row = /^\s*\|(.*)\|\s*$/.exec(text)?.[1];
  if (row === undefined) return null;
  return row.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

/** Whether a row is the rule below the heading of a table. */
export function isRule(text: string): boolean {
  return cellsOf(text)?.every((cell) => /^:?-+:?$/.test(cell)) ?? false;
}

function bare(cell: string): string {
  return cell.replace(/^[`*_\s]+|[`*\s]+$/g, '');
}
