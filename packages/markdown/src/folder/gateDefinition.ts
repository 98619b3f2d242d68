import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { didYouMean, EVIDENCE_RULES, type EvidenceRule } from '@phasegate/core/model';
import {
  type CrossRule,
  type EvidenceDraft,
  type EvidenceFieldDraft,
  type FieldType,
  resultPath,
  TYPE_NAMES,
  typeNamed,
  usualRule,
} from './evidence.ts';
import { type PlacedObject, type Reading, readYamlTree } from './jsonTree.ts';
import { WITHOUT_MEANING } from './keysWithoutMeaning.ts';
import { PlacedFields } from './placedFields.ts';
import { splitLambda, translateRule } from './pythonCondition.ts';
import { type Report, topOf } from './report.ts';
import { conditionProblem, readValidator } from './validators.ts';

const KEYS = [
  'checkpoint',
  'evidence_schema',
  'validators',
  ...['cross_field_validation', 'cross_field_rules', 'cross_field'],
];
const FIELD_KEYS = ['type', 'required', 'description', 'validator', 'validator_params', 'rule', 'false_ok'];

/** What a gate file says: its evidence, and the file for the keys it shares with contracts. */
export interface GateFile extends EvidenceDraft {
  readonly source: PlacedObject;
}

/**
 * Reads a `gate-definition.yaml`. A gate that cannot be read in full is reported as an error: there is no gate that
 * passes because it was not understood. Null after such a report.
 */
export function readGateDefinition(file: string, text: string, reading: Reading): GateFile | null {
  const { reader, report } = reading;
  const tree = readYamlTree(file, text, reading);
  if (tree === null) return null;
  const fields = new PlacedFields(tree, report);
  judgeKeys(fields, KEYS, WITHOUT_MEANING.gate);
  const checkpoint = fields.below('checkpoint');
  if (checkpoint !== undefined) judgeKeys(checkpoint, [], WITHOUT_MEANING.checkpoint);
  const schema = fields.below('evidence_schema');
  if (schema === undefined || Object.keys(schema.object).length === 0) {
    const keys = [...Object.keys(fields.object), ...Object.keys(checkpoint?.object ?? {})];
    // A file that asks for a human or for checks is a gate, whatever the agent hands in.
    if (keys.some(reader.isPhaseKey)) return { fields: [], crossRules: [], source: tree };
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
  return { fields: read, crossRules: readCrossRules(fields, read), source: tree };
}

/** What would make the gate let things pass is said and not done. */
const LAX = [
  ['strict', false, '`strict: false` is not obeyed: evidence that is wrong does not pass'],
  [
    'allow_override',
    true,
    '`allow_override: true` is not obeyed: a phase is left by its evidence, or by a human at a gate',
  ],
  ['enabled', false, '`enabled: false` is not obeyed: remove the file to have no gate'],
] as const;

function judgeKeys(place: PlacedFields, read: readonly string[], withoutMeaning: readonly string[]): void {
  const lax = LAX.filter(([key, value]) => withoutMeaning.includes(key) && place.flag(key) === value);
  for (const [key, , message] of lax) place.note(key, 'not_obeyed', message);
  place.refuseUnknown([...read, ...lax.map(([key]) => key)], withoutMeaning);
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
  const rule = readRuleKey(field);
  if (rule !== undefined && named !== undefined)
    field.error('rule', 'conflict', `\`rule\` and \`validator\` say the same thing; give one of them`);
  const falseOk = field.flag('false_ok');
  if (falseOk !== undefined && type !== undefined && type !== 'bool')
    field.error(
      'false_ok',
      'bad_value',
      `evidence \`${name}\` is not a boolean, so \`false\` is nothing it can be`,
    );
  if (type === undefined) return null;
  const base = { name, type, description: field.text('description') ?? '', at: field.at(undefined, 'key') };
  if (named === undefined) {
    const wanted = rule ?? (falseOk === true ? 'present' : usualRule(type));
    const guessed = { rule: rule === undefined && falseOk === undefined && required };
    return {
      ...base,
      ...(required ? { rule: wanted } : heldWhen(false, name, { rule: rule ?? 'present' })),
      guessed,
    };
  }
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

function readRuleKey(field: PlacedFields): EvidenceRule | undefined {
  const named = field.text('rule');
  const rule = EVIDENCE_RULES.find((known) => known === named);
  if (named !== undefined && rule === undefined) {
    const known = EVIDENCE_RULES.map((one) => `\`${one}\``).join(', ');
    field.error('rule', 'bad_value', `\`rule\` is one of ${known}, not \`${named}\``);
  }
  return rule;
}

function noteBareBooleans(fields: readonly EvidenceFieldDraft[], report: Report): void {
  const bare = fields.filter(({ type, guessed }) => type === 'bool' && guessed?.rule === true);
  const [first] = bare;
  if (first === undefined) return;
  const names = bare.map(({ name }) => `\`${name}\``).join(', ');
  const message = `${names}: must be \`true\`, and is the agent's word; \`false_ok: true\` lets \`false\` pass, a list or a text would be proof`;
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
