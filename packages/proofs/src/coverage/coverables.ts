import { type DenyRule, denyRulesOf } from '@phasegate/core/engine';
import type { Check, Phase, PhaseId, Workflow } from '@phasegate/core/model';
import { type Way, waysOf, wordsOn } from '@phasegate/core/model';

/** What can be seen of a workflow, in the order it is told. A check has two sides: it held, and it refused. */
export const COVERABLE_KINDS = [
  'phase_entered',
  'phase_completed',
  'transition',
  'gate_opened',
  'gate_decided',
  'option',
  'precondition_held',
  'precondition_refused',
  'postcondition_held',
  'postcondition_refused',
  'blocker_held',
  'blocker_refused',
  'deny_rule',
] as const;

/** A kind of thing that can be seen. */
export type CoverableKind = (typeof COVERABLE_KINDS)[number];

/** One thing that a test or a run may show, or never does. */
export interface Coverable {
  /** Unique in the workflow, and the same in every version that has it. */
  readonly id: string;
  readonly kind: CoverableKind;
  readonly phase: PhaseId;
  /** What it is, in words. */
  readonly name: string;
  /** What a test does that shows it: `chooses it`. */
  readonly verb: string;
  /** What to write in a contract test to show it, as far as that can be said without knowing the evidence. */
  readonly hint: string;
}

/** Everything that can be seen of a workflow. */
export function coverables(workflow: Workflow): readonly Coverable[] {
  return workflow.phases.flatMap((phase) => [
    ...visitsOf(phase),
    ...waysOf(phase).map((way) => transition(phase, way)),
    ...gateParts(phase),
    ...checksOf(phase).flatMap(({ check, place }) => sidesOf(phase, check, place)),
    ...denyRulesOf(phase).map((rule) => denial(phase, rule)),
  ]);
}

/** The id of a thing that can be seen. */
export function coverableId(
  kind: CoverableKind,
  phase: PhaseId,
  ...rest: readonly (string | number | null)[]
): string {
  return JSON.stringify([kind, phase, ...rest]);
}

/** The id of a way out of a phase. */
export function wayId({ from, by, option, label, to }: Way): string {
  return coverableId('transition', from, by, option, label, to);
}

/** The id of a side of a check, by the place it stands in. */
export function checkId(phase: PhaseId, place: CheckPlace, side: 'held' | 'refused', check: Check): string {
  return coverableId(`${place}_${side}`, phase, check.id);
}

/** The id of a deny rule. */
export function ruleId(phase: PhaseId, rule: DenyRule): string {
  const more = [...('tool' in rule ? [rule.tool] : []), ...('pattern' in rule ? [rule.pattern] : [])];
  return coverableId('deny_rule', phase, rule.kind, ...more);
}

/** Where a check stands. */
export type CheckPlace = 'precondition' | 'postcondition' | 'blocker';

/** The checks of a phase with their places. */
export function checksOf(phase: Phase): readonly { readonly check: Check; readonly place: CheckPlace }[] {
  const at = (place: CheckPlace, checks: readonly Check[]) => checks.map((check) => ({ check, place }));
  return [
    ...at('precondition', phase.preconditions),
    ...at('postcondition', phase.postconditions),
    ...at('blocker', phase.blockers),
  ];
}

function visitsOf({ id }: Phase): readonly Coverable[] {
  const name = `phase \`${id}\``;
  const hint = `agent: { complete: ${yaml(id)}, evidence: … }`;
  return [
    {
      id: coverableId('phase_entered', id),
      kind: 'phase_entered',
      phase: id,
      name,
      verb: 'enters it',
      hint: 'go a way that leads there',
    },
    {
      id: coverableId('phase_completed', id),
      kind: 'phase_completed',
      phase: id,
      name,
      verb: 'completes it',
      hint,
    },
  ];
}

function transition(phase: Phase, way: Way): Coverable {
  const words = wordsOn(way);
  const to = way.to === null ? 'the end' : `\`${way.to}\``;
  const name = `way \`${way.from}\` → ${to}${words === '' ? '' : ` (${words})`}`;
  return {
    id: wayId(way),
    kind: 'transition',
    phase: way.from,
    name,
    verb: 'goes this way',
    hint: hintFor(phase, way),
  };
}

function hintFor(phase: Phase, way: Way): string {
  const chosen = way.by === 'option' ? way.label : way.option;
  const before = chosen === null ? '' : choosing(phase, chosen);
  switch (way.by) {
    case 'option':
      return before;
    case 'next':
      return before === '' ? `agent: { complete: ${yaml(way.from)}, evidence: … }` : before;
    case 'condition': {
      const holds =
        way.label === 'else'
          ? 'evidence with which the condition does not hold'
          : `evidence with which \`${way.label}\``;
      return before === '' ? holds : `${holds}, then ${before}`;
    }
    case 'outcome':
      return way.label === '_default'
        ? 'an outcome that is not in the map'
        : `agent: { complete: ${yaml(way.from)}, outcome: ${way.label} }`;
    case 'exhausted':
      return 'go back as often as the loop allows, and once more';
    case 'empty':
      return 'enter it with an empty list of items';
    case 'timeout':
      return 'let the time of the gate run out';
  }
}

/** An option that asks the human for a text is refused without one. */
function choosing({ humanGate }: Phase, label: string): string {
  const asks = humanGate?.options.find((option) => option.label === label)?.requiresInput === true;
  return `human: { choose: ${yaml(label)}${asks ? ', input: …' : ''} }`;
}

function gateParts(phase: Phase): readonly Coverable[] {
  const { id, humanGate } = phase;
  if (humanGate === null) return [];
  const name = `gate \`${humanGate.id}\` of \`${id}\``;
  const opens = `agent: { complete: ${yaml(id)}, evidence: … }, expect: { status: waiting }`;
  const first = humanGate.options[0]?.label ?? '';
  return [
    {
      id: coverableId('gate_opened', id),
      kind: 'gate_opened',
      phase: id,
      name,
      verb: 'opens it',
      hint: opens,
    },
    {
      id: coverableId('gate_decided', id),
      kind: 'gate_decided',
      phase: id,
      name,
      verb: 'decides there',
      hint: choosing(phase, first),
    },
    ...humanGate.options.map(
      ({ label }): Coverable => ({
        id: coverableId('option', id, label),
        kind: 'option',
        phase: id,
        name: `option \`${label}\` of gate \`${humanGate.id}\``,
        verb: 'chooses it',
        hint: choosing(phase, label),
      }),
    ),
  ];
}

function sidesOf({ id }: Phase, check: Check, place: CheckPlace): readonly Coverable[] {
  const side = (held: 'held' | 'refused'): Coverable => ({
    id: checkId(id, place, held, check),
    kind: `${place}_${held}`,
    phase: id,
    name: `${place} \`${check.label}\` of \`${id}\``,
    verb: held === 'held' ? 'sees it hold' : 'sees it refuse',
    hint: `checks: { ${yaml(check.label)}: ${held === 'held' ? 'pass' : 'fail'} }`,
  });
  return [side('held'), side('refused')];
}

function denial({ id }: Phase, rule: DenyRule): Coverable {
  const { name, hint } = inWords(rule);
  return {
    id: ruleId(id, rule),
    kind: 'deny_rule',
    phase: id,
    name: `${name} in \`${id}\``,
    verb: 'runs into it',
    hint: `${hint}, expect: { allowed: false }`,
  };
}

function inWords(rule: DenyRule): { readonly name: string; readonly hint: string } {
  const call = (tool: string, input: string) =>
    `tool: { tool: ${yaml(tool)}, input: ${input === '' ? '{}' : `{ ${input} }`} }`;
  switch (rule.kind) {
    case 'forbidden':
      return {
        name: `forbidden tool \`${rule.tool}\``,
        hint: call(rule.tool.replace(/\*$/, 'x'), inputOf(rule.tool)),
      };
    case 'not_listed':
      return { name: 'a tool that is not listed', hint: call('mcp:any/tool', '') };
    case 'denied':
      return {
        name: `\`${rule.tool}\` denied \`${rule.pattern}\``,
        hint: call(rule.tool, inputOf(rule.tool)),
      };
    case 'not_permitted':
      return {
        name: `\`${rule.tool}\` outside what it is allowed`,
        hint: call(rule.tool, inputOf(rule.tool)),
      };
    case 'write_scope':
      return { name: 'the write scope', hint: call('write_files', 'path: …') };
  }
}

function inputOf(tool: string): string {
  if (tool === 'bash' || tool === 'git') return 'command: …';
  return tool.startsWith('mcp:') || tool === 'fetch' || tool === 'spawn_agent' ? '' : 'path: …';
}

/** A word of YAML: quoted where it could be read as something else. */
function yaml(value: string | number): string {
  const text = String(value);
  const plain =
    /^[A-Za-z_][\w -]*[\w]$|^[A-Za-z_]$/.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return plain || typeof value === 'number' ? text : JSON.stringify(text);
}
