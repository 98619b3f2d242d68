import type { EvidenceRule } from '@phasegate/core/model';
import type { EvidenceFieldDraft, FieldType } from './evidence.ts';
import type { Report } from './report.ts';

/**
 * What a gate file and the text of its phase ask for together: both hold, and every difference is reported.
 * A type guessed from a sentence, and a rule that nobody wrote, give way to what is written.
 */
export function mergeEvidence(
  gate: readonly EvidenceFieldDraft[],
  text: readonly EvidenceFieldDraft[],
  report: Report,
): readonly EvidenceFieldDraft[] {
  const asked = new Map(gate.map((field) => [field.name, field]));
  for (const field of text) {
    const known = asked.get(field.name);
    if (known === undefined) {
      const message = `\`${field.name}\` is asked for here and not in the gate file; it is asked for`;
      report.note(field.at, { code: 'evidence_differs', message });
      asked.set(field.name, field);
      continue;
    }
    const both = together(known, field, report);
    if (both !== null) asked.set(field.name, both);
  }
  if (text.length === 0) return [...asked.values()];
  const named = new Set(text.map(({ name }) => name));
  for (const { name, at } of gate) {
    if (named.has(name)) continue;
    const message = `\`${name}\` is asked for here and not in the text of the phase; it is asked for`;
    report.note(at, { code: 'evidence_differs', message });
  }
  return [...asked.values()];
}

function together(
  gate: EvidenceFieldDraft,
  text: EvidenceFieldDraft,
  report: Report,
): EvidenceFieldDraft | null {
  const type = commonType(gate, text);
  if (type === null) {
    const message = `\`${gate.name}\` is ${text.type} here and ${gate.type} in the gate file, and no value is both; say the same in both`;
    report.error(text.at, { code: 'unsatisfiable', message });
    return null;
  }
  const rule = commonRule(gate, text, type);
  const conditions = [gate, text].flatMap((field) => field.condition ?? []);
  const [condition] = conditions;
  const said = new Set(conditions);
  if (rule === 'is_true' && conditions.some((one) => one.endsWith(' === false'))) {
    const message = `\`${gate.name}\` must be \`true\` in one place and \`false\` in the other; say the same in both`;
    report.error(text.at, { code: 'unsatisfiable', message });
    return null;
  }
  const differs =
    (text.type !== gate.type && text.guessed?.type !== true) ||
    ruleFor(text, type) !== ruleFor(gate, type) ||
    text.condition !== gate.condition;
  if (differs) {
    const message = `\`${gate.name}\` is ${shown(text)} here and ${shown(gate)} in the gate file; both hold`;
    report.note(text.at, { code: 'evidence_differs', message });
  }
  const all = said.size > 1 ? [...said].map((one) => `(${one})`).join(' && ') : condition;
  return {
    ...gate,
    type,
    rule,
    description: gate.description || text.description,
    ...(all === undefined ? {} : { condition: all }),
  };
}

function commonType(gate: EvidenceFieldDraft, text: EvidenceFieldDraft): FieldType | null {
  if (gate.type === text.type || text.guessed?.type === true) return gate.type;
  const numbers = [gate.type, text.type].toSorted().join(' ') === 'int number';
  return numbers ? 'int' : null;
}

/** The usual rule is nobody's words: what the other says counts. Else the stricter of the two. */
function commonRule(gate: EvidenceFieldDraft, text: EvidenceFieldDraft, type: FieldType): EvidenceRule {
  if (text.guessed?.rule === true) return gate.rule;
  const [one, other] = [ruleFor(gate, type), ruleFor(text, type)];
  if (gate.guessed?.rule === true && type === 'bool') return other === 'optional' ? one : other;
  return STRICTNESS.indexOf(one) >= STRICTNESS.indexOf(other) ? one : other;
}

const STRICTNESS: readonly EvidenceRule[] = ['optional', 'present', 'non_empty', 'positive', 'is_true'];

/** A rule of a sentence whose type was only guessed may not fit the type that is written. */
function ruleFor({ rule }: EvidenceFieldDraft, type: FieldType): EvidenceRule {
  const numeric = type === 'int' || type === 'number';
  if (rule === 'non_empty' && (numeric || type === 'bool')) return 'present';
  if (rule === 'is_true' && type !== 'bool') return 'present';
  if (rule === 'positive' && !numeric) return type === 'bool' ? 'is_true' : 'non_empty';
  return rule;
}

function shown({ type, rule, condition }: EvidenceFieldDraft): string {
  return `${type} (${rule}${condition === undefined ? '' : `, \`${condition}\``})`;
}
