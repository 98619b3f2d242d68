import { PhasegateError } from '@phasegate/core';
import { verifyHumanSignature } from './humanKeys.ts';
import { goodPasskey } from './passkeys/humanSigned.ts';
import type { HumanRecord, UnlockedHuman } from './ports.ts';

/** The record of the human who acts. The key of somebody who was removed since, or added anew, changes nothing any more. */
export function demandPresent(humans: readonly HumanRecord[], by: UnlockedHuman): HumanRecord {
  const { name } = by.principal;
  const human = humans.find((record) => record.name === name);
  if (human !== undefined && holdsKeyOf(human, by)) return human;
  throw new PhasegateError('not_permitted', `\`${name}\` is no longer a human of this project`);
}

function holdsKeyOf(human: HumanRecord, by: UnlockedHuman): boolean {
  const { passkey } = by;
  if (passkey !== undefined) return goodPasskey(human, passkey) !== undefined;
  const asked = `may ${human.name} change the humans?`;
  return verifyHumanSignature(human.publicKey, asked, by.sign(asked));
}
