import type { Json, JsonObject } from '@phasegate/core';
import { idFrom, type WorkflowDraft } from '../draft.ts';
import { at, type KeyLedger, others, type Spot, textOf } from '../keyLedger.ts';
import { StepBuilder } from './stepBuilder.ts';

/** Imports a workflow file of GitHub's spec-kit: steps that are commands, prompts, gates and branches. */
export function importSpecKitWorkflow(ledger: KeyLedger): WorkflowDraft {
  const { root } = ledger;
  const about = at(root, 'workflow');
  const title = textOf(at(about, 'name')) ?? textOf(at(about, 'id')) ?? 'Imported workflow';
  const draft: WorkflowDraft = {
    id: idFrom(textOf(at(about, 'id')) ?? title.toLowerCase()),
    title,
    version: textOf(at(about, 'version')),
    description: textOf(at(about, 'description')),
    head: {},
    phases: [],
    added: [],
  };
  for (const [key, to] of Object.entries({
    id: 'workflow',
    name: 'title',
    version: 'version',
    description: 'description',
  }))
    ledger.mapped(at(about, key), to);
  ledger.leftOut(at(about, 'author'), 'who wrote it is in the history of the file');
  for (const key of ['integration', 'model', 'options'])
    ledger.leftOut(at(about, key), 'which agent works is said when it is attached');
  ledger.leftOut(at(root, 'schema_version'), 'the version of the other format');
  ledger.leftOut(at(root, 'requires'), 'what the other tool needed; nothing was refused by it during a run');
  importInputs(at(root, 'inputs'), draft, ledger);
  new StepBuilder(draft, ledger).build(at(root, 'steps'));
  if (draft.phases.length === 0)
    throw ledger.refusal(at(root, 'steps'), 'there is no step', 'it needs a list `steps`');
  return draft;
}

const TYPES = ['string', 'number', 'boolean'];

function importInputs(spot: Spot, draft: WorkflowDraft, ledger: KeyLedger): void {
  const params: Record<string, JsonObject> = {};
  for (const input of others(spot, [])) {
    const name = String(input.path.at(-1));
    const type = textOf(at(input, 'type')) ?? 'string';
    if (!TYPES.includes(type)) {
      throw ledger.refusal(at(input, 'type'), `there is no type \`${type}\``, `types: ${TYPES.join(', ')}`);
    }
    const fallback = at(input, 'default').value;
    const choices = at(input, 'enum').value;
    const description = textOf(at(input, 'prompt')) ?? textOf(at(input, 'description'));
    params[name] = {
      type,
      ...(description === undefined ? {} : { description }),
      ...(Array.isArray(choices) ? { choices: choices as readonly Json[] } : {}),
      ...(fallback === undefined || fallback === null ? {} : { default: fallback }),
      ...(at(input, 'required').value === true ? { required: true } : {}),
    };
    for (const key of ['type', 'default', 'enum', 'prompt', 'description', 'required'])
      ledger.mapped(at(input, key), `params.${name}`);
  }
  if (Object.keys(params).length > 0) draft.head.params = params;
}
