import type { PhaseDraft } from '../draft.ts';
import { at, inBrackets, type KeyLedger, others, type Spot, textOf, textsOf } from '../keyLedger.ts';
import { type Artifacts, blockersFor } from './checks.ts';

const NOT_HUMANS = ['orchestrator', 'review_agent', 'agent', 'system'];

/** The gates of a phase: checks that exist here become blockers, everything else a human decides. */
export function importGates(
  phaseSpot: Spot,
  phase: PhaseDraft,
  { ledger, types }: { readonly ledger: KeyLedger; readonly types: Artifacts },
): void {
  for (const spot of ledger.list(at(phaseSpot, 'gates'))) {
    const name = textOf(at(spot, 'id')) ?? 'gate';
    ledger.mapped(at(spot, 'id'), 'gate');
    for (const blocker of ledger.list(at(spot, 'blockers'))) importBlocker(blocker, phase, { ledger, types });
    importType(spot, phase, { ledger, name });
    const named = textsOf(at(spot, 'approvers'));
    const people = named.filter((one) => !NOT_HUMANS.includes(one));
    // `human` means any of them.
    if (!people.includes('human')) phase.approvers.push(...people);
    const machines = named.filter((one) => NOT_HUMANS.includes(one));
    ledger.mapped(
      at(spot, 'approvers'),
      machines.length === 0
        ? 'gate.human.approvers'
        : `gate.human; here only a human approves, not ${machines.join(', ')}`,
    );
    for (const one of others(spot, KNOWN)) {
      phase.confirm.push(`gate ${name}: ${String(one.path.at(-1))} ${JSON.stringify(one.value)}`);
      ledger.human(one, 'not known here: a human confirms it');
    }
  }
}

const KNOWN = [
  'id',
  'type',
  'blockers',
  'approvers',
  'timeout_seconds',
  'auto_advance',
  'description',
  'name',
];

function importType(
  spot: Spot,
  phase: PhaseDraft,
  { ledger, name }: { readonly ledger: KeyLedger; readonly name: string },
): void {
  const type = textOf(at(spot, 'type'));
  const seconds = at(spot, 'timeout_seconds');
  const automatic = type === 'validation' && at(spot, 'auto_advance').value !== false;
  for (const key of ['name', 'description']) ledger.mapped(at(spot, key), 'gate.human.prompt');
  if (automatic) {
    ledger.mapped(at(spot, 'type'), 'gate.blockers');
    ledger.leftOut(seconds, 'checks have time limits of their own');
  } else {
    phase.approvals.push(textOf(at(spot, 'description')) ?? `Approve ${phase.name} (${name})?`);
    ledger.human(at(spot, 'type'), 'a human approves');
    if (typeof seconds.value === 'number' && seconds.value >= 1) {
      phase.gateTimeout = `${Math.floor(seconds.value)}s`;
      ledger.mapped(seconds, 'gate.human.timeout');
    } else ledger.leftOut(seconds, 'not a number of seconds');
  }
  ledger.mapped(
    at(spot, 'auto_advance'),
    automatic ? 'no human is asked where checks are enough' : 'a human is asked',
  );
}

function importBlocker(
  spot: Spot,
  phase: PhaseDraft,
  { ledger, types }: { readonly ledger: KeyLedger; readonly types: Artifacts },
): void {
  const check = textOf(at(spot, 'check')) ?? 'a check without a name';
  const severity = textOf(at(spot, 'severity')) ?? 'blocking';
  const message = textOf(at(spot, 'message')) ?? check;
  const strange = others(spot, ['check', 'severity', 'message']);
  const ours = strange.length === 0 ? blockersFor(check, types) : null;
  if (ours !== null) {
    const extra = severity === 'warning' ? { severity: 'warning' } : {};
    phase.blockers.push(...ours.map((one) => ({ ...one, message, ...extra })));
    ledger.mapped(spot, 'gate.blockers');
    return;
  }
  const text = `${message}${inBrackets(strange)}`;
  if (severity === 'warning') {
    phase.instructions.push(`Keep in mind: ${text}`);
    ledger.leftOut(
      spot,
      'a warning that only its name describes: the agent is told, nothing is refused, as there',
    );
    return;
  }
  phase.confirm.push(text);
  ledger.human(spot, 'no check of ours asks this: a human confirms it');
}
