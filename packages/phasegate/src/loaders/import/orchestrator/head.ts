import { idFrom, newPhase, type PhaseDraft, type WorkflowDraft } from '../draft.ts';
import { at, type KeyLedger, type Spot, textOf } from '../keyLedger.ts';

/** The name, version and description of a workflow of workflow-orchestrator, which all its formats have. */
export function headOf(spot: Spot, ledger: KeyLedger): WorkflowDraft {
  const title = textOf(at(spot, 'name')) ?? 'Imported workflow';
  ledger.mapped(at(spot, 'name'), 'workflow, title');
  ledger.mapped(at(spot, 'version'), 'version');
  ledger.mapped(at(spot, 'description'), 'description');
  return {
    id: idFrom(title.toLowerCase()),
    title,
    version: textOf(at(spot, 'version')),
    description: textOf(at(spot, 'description')),
    head: {},
    phases: [],
    added: [],
  };
}

/** A phase with its id, name and description. */
export function phaseAt(spot: Spot, draft: WorkflowDraft, ledger: KeyLedger): PhaseDraft {
  const given = textOf(at(spot, 'id'));
  if (given === undefined) throw ledger.refusal(spot, 'a phase has no `id`', 'give every phase an id');
  if (draft.phases.some(({ id }) => id === idFrom(given))) {
    const hint = 'give every phase an id of its own';
    throw ledger.refusal(at(spot, 'id'), `phase \`${given}\` is defined twice`, hint);
  }
  const phase = newPhase(idFrom(given), textOf(at(spot, 'name')) ?? given);
  phase.instructions.push(textOf(at(spot, 'description')) ?? '');
  ledger.mapped(at(spot, 'id'), 'id');
  ledger.mapped(at(spot, 'name'), 'name');
  ledger.mapped(at(spot, 'description'), 'instructions');
  return phase;
}
