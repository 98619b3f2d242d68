import { type Json, type JsonObject, own } from '@phasegate/core';
import { EVIDENCE_CLASSES } from '@phasegate/core/model';

/** As what a check of a gate's card was established, and why that is less than `verified`, where that is known. */
export interface Held {
  readonly class: string;
  readonly lack: string | null;
}

/**
 * As what a check held. `needs` is the least that will do: what came of it stands under `proven`, by its label, or by
 * that behind the name of each item. Where there are several the weakest counts.
 */
export function heldClass(card: JsonObject, check: Json): Held {
  const [label, phase] = [String(own(check, 'check')), own(card, 'phase')];
  const proven = own(card, 'proven');
  const about = (Array.isArray(proven) ? proven : []).filter((one) => {
    const name = String(own(one, 'check'));
    return own(one, 'phase') === phase && (name === label || name.endsWith(`: ${label}`));
  });
  const [weakest] = about.sort((one, other) => rank(one) - rank(other));
  if (weakest === undefined)
    return { class: own(check, 'needs') === 'observed' ? 'observed' : 'verified', lack: null };
  const lack = own(weakest, 'lack');
  return { class: String(own(weakest, 'class')), lack: typeof lack === 'string' ? lack : null };
}

/** A class that nobody knows is below all others. */
function rank(one: Json): number {
  return CLASSES.indexOf(own(one, 'class'));
}

const CLASSES: readonly unknown[] = EVIDENCE_CLASSES;
