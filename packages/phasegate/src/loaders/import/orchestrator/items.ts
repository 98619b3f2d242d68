import type { JsonObject } from '@phasegate/core';
import { idFrom, nameIn, type PhaseDraft, type WorkflowDraft } from '../draft.ts';
import { at, inBrackets, type KeyLedger, others, type Spot, textOf, textsOf } from '../keyLedger.ts';
import { headOf, phaseAt } from './head.ts';

/** Imports a list of items of workflow-orchestrator: phases of items, each of which may be verified or skipped. */
export function importItems(ledger: KeyLedger): WorkflowDraft {
  const { root } = ledger;
  const draft = headOf(root, ledger);
  const settings = new Map(
    others(at(root, 'settings'), []).flatMap((spot) => {
      const text = textOf(spot);
      return text === undefined ? [] : [[String(spot.path.at(-1)), text] as const];
    }),
  );
  for (const spot of ledger.list(at(root, 'phases'))) {
    const phase = phaseAt(spot, draft, ledger);
    for (const item of ledger.list(at(spot, 'items'))) importItem(item, phase, { ledger, settings });
    importRest(spot, phase, ledger);
    draft.phases.push(phase);
  }
  if (draft.phases.length === 0) {
    throw ledger.refusal(at(root, 'phases'), 'there is no phase', 'an item list has a list `phases`');
  }
  importSettings(at(root, 'settings'), ledger);
  return draft;
}

interface Reading {
  readonly ledger: KeyLedger;
  readonly settings: ReadonlyMap<string, string>;
}

function importItem(spot: Spot, phase: PhaseDraft, { ledger, settings }: Reading): void {
  const given = textOf(at(spot, 'id'));
  const name = textOf(at(spot, 'name')) ?? given;
  if (given === undefined || name === undefined) {
    throw ledger.refusal(spot, 'an item has no `id`', 'give every item an id');
  }
  const step = textOf(at(spot, 'step_type'));
  const firm = step === 'gate' || step === 'required' || at(spot, 'skippable').value === false;
  const wanted = at(spot, 'required').value !== false;
  const skip = !firm || !wanted;
  phase.tasks.push({ name, instructions: instructionsOf(spot, { name, skip, settings }) });
  const evidence = nameIn(phase.id, idFrom(given));
  if (evidence in phase.evidence) {
    throw ledger.refusal(
      at(spot, 'id'),
      `item \`${given}\` is defined twice`,
      'give every item an id of its own',
    );
  }
  phase.evidence[evidence] = {
    type: 'str',
    rule: 'non_empty',
    description: skip ? `${name}: what was done, or why it was skipped` : `${name}: what was done`,
  };
  for (const key of ['id', 'name', 'description', 'notes', 'evidence_prompt'])
    ledger.mapped(at(spot, key), 'tasks');
  ledger.mapped(at(spot, 'skip_conditions'), skip ? 'tasks' : 'no meaning: the item cannot be skipped');
  ledger.leftOut(at(spot, 'agent'), 'a phase is not tied to an agent; use `capabilities` or `dispatch`');
  const verified = importVerification(ledger.map(at(spot, 'verification')), phase, {
    ledger,
    settings,
    name,
    skip,
  });
  if (skip && wanted) {
    phase.confirm.push(`${name}: it was done, or there was a reason to skip it`);
    const said = ['required', 'skippable', 'step_type'].some((key) => at(spot, key).value !== undefined);
    if (!said)
      ledger.human(
        at(spot, 'id'),
        'without `skippable: false` it could be skipped on the agent’s word: a human looks',
      );
  }
  for (const key of ['required', 'skippable', 'step_type']) {
    if (skip && wanted) ledger.human(at(spot, key), 'it could be skipped on the agent’s word: a human looks');
    else
      ledger.mapped(
        at(spot, key),
        wanted ? 'required_evidence' : 'optional there: told, not asked for by a check',
      );
  }
  if (step === 'gate' && !verified) {
    phase.confirm.push(`${name}: it was passed`);
    ledger.human(at(spot, 'step_type'), 'a gate without a check: a human confirms it');
  }
  const schema = at(spot, 'evidence_schema');
  if (textOf(schema) !== undefined) {
    phase.confirm.push(`${name}: the evidence holds what ${textOf(schema)} asks for`);
    ledger.human(schema, 'a type in the code of that project: a human confirms what it asks for');
  }
}

function instructionsOf(
  spot: Spot,
  { name, skip, settings }: Pick<Reading, 'settings'> & { readonly name: string; readonly skip: boolean },
): string {
  const conditions = skip ? textsOf(at(spot, 'skip_conditions')) : [];
  const texts = [
    textOf(at(spot, 'description')) ?? name,
    conditions.length === 0 ? '' : `It may be skipped when: ${conditions.join(', ')}.`,
    textOf(at(spot, 'evidence_prompt')) ?? '',
    ...textsOf(at(spot, 'notes')),
  ];
  return texts
    .filter((text) => text !== '')
    .map((text) => fill(text, settings).text)
    .join('\n\n');
}

/** True where the engine looks for itself or a human decides. */
function importVerification(
  spot: Spot,
  phase: PhaseDraft,
  { ledger, settings, name, skip }: Reading & { readonly name: string; readonly skip: boolean },
): boolean {
  const type = textOf(at(spot, 'type')) ?? 'none';
  if (spot.value === undefined || spot.value === null) return false;
  if (type === 'none') {
    ledger.mapped(spot, 'nothing is verified');
    return false;
  }
  const known = {
    file_exists: ['path'],
    command: ['command', 'expect_exit_code'],
    manual_gate: [] as string[],
  };
  const strange = others(spot, ['type', 'description', ...(known[type as keyof typeof known] ?? [])]);
  const check = strange.length > 0 ? null : checkOf(type, spot, settings);
  if (check !== null) {
    const severity = skip ? { severity: 'warning' } : {};
    phase.blockers.push({ ...check, label: name, message: `${name}: not verified`, ...severity });
    ledger.mapped(spot, skip ? 'gate.blockers, as a warning: the item may be skipped' : 'gate.blockers');
    return true;
  }
  const description = textOf(at(spot, 'description')) ?? type;
  const text = `${description}${inBrackets(others(spot, ['type', 'description']))}`;
  if (type === 'manual_gate') phase.approvals.push(`${name}: ${text}`);
  else phase.confirm.push(`${name}: ${text}`);
  ledger.human(
    spot,
    type === 'manual_gate' ? 'a human decides' : 'no check of ours asks this: a human confirms it',
  );
  return true;
}

function checkOf(type: string, spot: Spot, settings: ReadonlyMap<string, string>): JsonObject | null {
  if (type === 'file_exists') {
    const path = fill(textOf(at(spot, 'path')) ?? '', settings);
    return path.open || path.text === ''
      ? null
      : { check: 'files', with: { exist: [path.text] }, needs: 'verified' };
  }
  if (type !== 'command') return null;
  const command = fill(textOf(at(spot, 'command')) ?? '', settings);
  const code = at(spot, 'expect_exit_code').value ?? 0;
  if (command.open || command.text === '' || typeof code !== 'number') return null;
  const asked = { shell: command.text, expect_exit: code };
  // In a room where there can be one; a machine without a sandbox is warned and not kept out.
  return { check: 'command', with: asked, verify: true, needs: 'observed' };
}

/** Settings put into a text; `open` where one is not set. */
function fill(
  text: string,
  settings: ReadonlyMap<string, string>,
): { readonly text: string; readonly open: boolean } {
  let open = false;
  const filled = text.replace(/\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g, (whole, name: string) => {
    const value = settings.get(name);
    if (value === undefined) open = true;
    return value ?? whole;
  });
  return { text: filled, open };
}

function importRest(spot: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const exit = at(spot, 'exit_gate');
  if (textOf(exit) !== undefined) {
    phase.confirm.push(`the exit gate ${textOf(exit)} is passed`);
    ledger.human(exit, 'a gate that only its name describes: a human decides');
  }
  for (const review of ledger.list(at(spot, 'required_reviews'))) {
    phase.confirm.push(`the review ${textOf(review) ?? 'asked for'} was done`);
    ledger.human(review, 'a human confirms that the review was done');
  }
  phase.instructions.push(...textsOf(at(spot, 'notes')));
  ledger.mapped(at(spot, 'notes'), 'instructions');
  for (const key of ['agent', 'executor']) {
    ledger.leftOut(at(spot, key), 'a phase is not tied to an agent; use `capabilities` or `dispatch`');
  }
  ledger.leftOut(
    at(spot, 'phase_type'),
    'every phase is strict here: all its tasks are fetched and all evidence given',
  );
  ledger.leftOut(at(spot, 'intended_tools'), 'nothing held an agent to them; write `allowed_tools` to do so');
}

function importSettings(spot: Spot, ledger: KeyLedger): void {
  const used = new Set(
    [...JSON.stringify(ledger.root.value).matchAll(/\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g)].map(
      ([, name]) => name,
    ),
  );
  ledger.leftOut(at(spot, 'supervision_mode'), 'human gates are decided by a human, whatever the mode was');
  ledger.leftOut(at(spot, 'reviews'), 'no reviews are started here; a phase asks for their evidence');
  for (const one of others(spot, ['supervision_mode', 'reviews'])) {
    if (textOf(one) === undefined) ledger.leftOut(one, 'not a text that an item could use');
    else if (used.has(String(one.path.at(-1)))) ledger.mapped(one, 'put where an item uses it');
    else ledger.leftOut(one, 'no item uses it');
  }
}
