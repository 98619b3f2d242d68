import { didYouMean, isJsonObject, type JsonObject, own } from '@phasegate/core';
import {
  type CrossRule,
  type EvidenceDraft,
  type EvidenceFieldDraft,
  type FieldType,
  resultPath,
  TYPE_NAMES,
  typeNamed,
} from './evidence.ts';
import { readYamlTree } from './jsonTree.ts';
import { PlacedFields } from './placedFields.ts';
import { splitLambda, translateRule } from './pythonCondition.ts';
import { type Report, topOf } from './report.ts';
import { conditionProblem, readValidator } from './validators.ts';

const KEYS = [
  'checkpoint',
  'evidence_schema',
  'validators',
  'strict',
  'allow_override',
  ...['cross_field_validation', 'cross_field_rules', 'cross_field'],
];
const CHECKPOINT_KEYS = ['enabled', 'strict', 'allow_override'];
const DESCRIPTIVE = new Set(['name', 'title', 'description', 'phase', 'version', 'notes']);
const FIELD_KEYS = ['type', 'required', 'description', 'validator', 'validator_params'];

/**
 * Reads a `gate-definition.yaml`. A gate that cannot be read in full is reported as an error: there is no gate that
 * passes because it was not understood. Null after such a report.
 */
export function readGateDefinition(file: string, text: string, report: Report): EvidenceDraft | null {
  const tree = readYamlTree(file, text, report);
  if (tree === null) return null;
  const fields = new PlacedFields(tree, report);
  fields.noteUnknown(KEYS, DESCRIPTIVE);
  noteLaxity(fields);
  const schema = fields.below('evidence_schema');
  if (schema === undefined || Object.keys(schema.object).length === 0) {
    if (schema !== undefined || own(fields.object, 'evidence_schema') === undefined) {
      const message = `\`${file}\` asks for no evidence: \`evidence_schema\` names at least one field`;
      report.error(topOf(file), { code: 'empty_gate', message });
    }
    return null;
  }
  const validators = readOwnValidators(fields);
  const read = Object.keys(schema.object).flatMap((name): EvidenceFieldDraft[] => {
    const field = schema.below(name);
    const draft = field === undefined ? null : readField(name, field, validators);
    return draft === null ? [] : [draft];
  });
  noteBareBooleans(read, report);
  return { fields: read, crossRules: readCrossRules(fields, read) };
}

/** What would make the gate let things pass is said and not done. */
function noteLaxity(fields: PlacedFields): void {
  const checkpoint = fields.below('checkpoint');
  checkpoint?.noteUnknown(CHECKPOINT_KEYS, DESCRIPTIVE);
  for (const place of [fields, ...(checkpoint === undefined ? [] : [checkpoint])]) {
    if (place.flag('strict') === false)
      place.note(
        'strict',
        'not_obeyed',
        '`strict: false` is not obeyed: evidence that is wrong does not pass',
      );
    if (place.flag('allow_override') === true) {
      const message =
        '`allow_override: true` is not obeyed: a phase is left by its evidence, or by a human at a gate';
      place.note('allow_override', 'not_obeyed', message);
    }
  }
  if (checkpoint?.flag('enabled') === false)
    checkpoint.note(
      'enabled',
      'not_obeyed',
      '`enabled: false` is not obeyed: remove the file to have no gate',
    );
}

function readOwnValidators(fields: PlacedFields): Readonly<Record<string, string>> {
  const declared = fields.below('validators');
  const validators: Record<string, string> = {};
  for (const name of Object.keys(declared?.object ?? {})) {
    const rule = declared?.text(name);
    if (rule !== undefined) validators[name] = rule;
  }
  return validators;
}

function readField(
  name: string,
  field: PlacedFields,
  validators: Readonly<Record<string, string>>,
): EvidenceFieldDraft | null {
  for (const key of Object.keys(field.object)) {
    if (FIELD_KEYS.includes(key)) continue;
    // A key that is not understood may be the one that makes the field strict.
    field.error(
      key,
      'unknown_key',
      `\`${key}\` is nothing a field of evidence has${didYouMean(key, FIELD_KEYS)}`,
    );
  }
  const typeName = field.demandText('type');
  const type = typeName === undefined ? undefined : typeNamed(typeName);
  if (typeName !== undefined && type === undefined) {
    const message = `evidence \`${name}\` has the unknown type \`${typeName}\`${didYouMean(typeName, TYPE_NAMES)}`;
    field.error('type', 'bad_type', message);
  }
  const required = field.flag('required') ?? true;
  const params = field.below('validator_params')?.object;
  const named = field.text('validator');
  if (type === undefined) return null;
  const base = { name, type, description: field.text('description') ?? '', at: field.at(undefined, 'key') };
  if (named === undefined) return { ...base, rule: required ? 'present' : 'optional' };
  const validator = readValidator(
    named,
    { name, type, ...(params === undefined ? {} : { params }) },
    validators,
  );
  if (!validator.ok) {
    field.error('validator', validator.code, `evidence \`${name}\`: ${validator.reason}`);
    return null;
  }
  return { ...base, ...heldWhen(required, name, validator) };
}

/** What is optional may be left out, and is held to its validator where it is not. */
function heldWhen(
  required: boolean,
  name: string,
  { rule, condition }: { readonly rule: EvidenceFieldDraft['rule']; readonly condition?: string },
): Pick<EvidenceFieldDraft, 'rule' | 'condition'> {
  if (required) return { rule, ...(condition === undefined ? {} : { condition }) };
  const value = resultPath(name);
  const asked =
    condition ??
    (rule === 'positive' ? `${value} > 0` : rule === 'non_empty' ? `length(${value}) > 0` : undefined);
  if (asked === undefined) return { rule: 'optional' };
  const absent = `!(${JSON.stringify(name)} in result) || ${value} === null`;
  return { rule: 'optional', condition: `${absent} || ${asked}` };
}

function noteBareBooleans(fields: readonly EvidenceFieldDraft[], report: Report): void {
  const bare = fields.filter(({ type, condition }) => type === 'bool' && condition === undefined);
  const [first] = bare;
  if (first === undefined) return;
  const names = bare.map(({ name }) => `\`${name}\``).join(', ');
  const message = `${names}: a boolean is a claim, and \`false\` passes too; \`validator: is_true\` wants \`true\`, a list or a text would be proof`;
  report.note(first.at, { code: 'bare_boolean', message });
}

const RULE_KEYS = ['rule', 'expression', 'condition', 'check', 'validator'];
const MESSAGE_KEYS = ['message', 'error_message', 'error', 'description'];

function readCrossRules(fields: PlacedFields, evidence: readonly EvidenceFieldDraft[]): readonly CrossRule[] {
  return ['cross_field_validation', 'cross_field_rules', 'cross_field'].flatMap(
    (key): readonly CrossRule[] => {
      const value = own(fields.object, key);
      if (value === undefined || value === null) return [];
      const rules = Array.isArray(value)
        ? value.map((item, index) => ({ item, place: String(index) }))
        : isJsonObject(value)
          ? Object.entries(value).map(([place, item]) => ({ item, place }))
          : undefined;
      if (rules === undefined) {
        fields.error(key, 'wrong_type', `\`${key}\` must be a list of rules`);
        return [];
      }
      return rules.flatMap(({ item, place }) => readCrossRule({ fields, key, place, evidence }, item));
    },
  );
}

interface RulePlace {
  readonly fields: PlacedFields;
  readonly key: string;
  readonly place: string;
  readonly evidence: readonly EvidenceFieldDraft[];
}

function readCrossRule({ fields, key, place, evidence }: RulePlace, item: unknown): readonly CrossRule[] {
  const textAt = (keys: readonly string[]) => {
    const found = keys.map((one) => own(item, one)).find((value) => typeof value === 'string');
    return typeof found === 'string' ? found : undefined;
  };
  const rule = typeof item === 'string' ? item : isJsonObject(item) ? textAt(RULE_KEYS) : undefined;
  const at = fields.placeIn(key, place);
  if (rule === undefined) {
    fields.errorAt(at, 'bad_rule', `\`${key}\` \`${place}\` has no \`rule\``);
    return [];
  }
  const types: Record<string, FieldType> = Object.fromEntries(evidence.map(({ name, type }) => [name, type]));
  const translated = translateCross(rule, types);
  if (!translated.ok) {
    fields.errorAt(at, 'bad_rule', `the rule \`${rule}\` is not understood: ${translated.reason}`);
    return [];
  }
  const problem = conditionProblem(translated.condition, types);
  if (problem !== null) {
    fields.errorAt(at, 'unsatisfiable', `the rule \`${rule}\` can never hold: ${problem}`);
    return [];
  }
  const message =
    (typeof item === 'string' ? undefined : textAt(MESSAGE_KEYS)) ?? `\`${rule}\` does not hold`;
  return [{ condition: translated.condition, message, at }];
}

function translateCross(rule: string, types: JsonObject | Readonly<Record<string, FieldType>>) {
  const { args, body } = splitLambda(rule);
  return translateRule(body, (word) => {
    if (args[0] === word || (args.length === 0 && (word === 'evidence' || word === 'result')))
      return 'result';
    return Object.hasOwn(types, word) ? resultPath(word) : undefined;
  });
}
