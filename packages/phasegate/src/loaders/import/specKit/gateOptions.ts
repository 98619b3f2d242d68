import type { JsonObject } from '@phasegate/core';
import { at, type KeyLedger, type Spot, textOf, textsOf } from '../keyLedger.ts';

/** The answers of a gate of spec-kit: its options, of which `reject` and `abort` go where `on_reject` says. */
export function gateOptions(step: Spot, phase: string, ledger: KeyLedger): readonly JsonObject[] {
  const given = at(step, 'options');
  const labels = given.value === undefined ? ['approve', 'reject'] : textsOf(given);
  const onReject = textOf(at(step, 'on_reject')) ?? 'abort';
  if (!['abort', 'retry', 'skip'].includes(onReject)) {
    const hint = 'write `abort`, `retry` or `skip`';
    throw ledger.refusal(at(step, 'on_reject'), `\`${onReject}\` is not a way out of a gate`, hint);
  }
  const rejects = (label: string) => ['reject', 'abort'].includes(label.toLowerCase());
  if (labels.every(rejects)) {
    throw ledger.refusal(given, 'no option of the gate goes on', 'add an option such as `approve`');
  }
  ledger.mapped(given, `${phase}.gate.human.options`);
  ledger.mapped(
    at(step, 'on_reject'),
    onReject === 'skip' ? 'the option goes on, as it did there' : `${phase}.gate.human.options`,
  );
  return [...new Set(labels)].map((label) => {
    if (!rejects(label) || onReject === 'skip') return { label };
    return onReject === 'retry' ? { label, next: phase, requires_input: true } : { label, next: null };
  });
}
