import { oneLine } from '@phasegate/core/model';
import type { People } from '../../runtime/ports.ts';
import { attempt } from './attempt.ts';
import { broken, type Finding } from './finding.ts';

/** Files that changed while nobody looked. */
export async function examineGuarded(open: People): Promise<readonly Finding[]> {
  const cards = await attempt(() => open.trust.guarded.cards());
  if (!cards.ok) return [broken('guarded files', cards.error)];
  return cards.value.map(({ path, change }): Finding => {
    const message = `${change} while no process of Phasegate was looking, not accepted by a human: no program is run`;
    return {
      name: `guarded file ${oneLine(path)}`,
      status: 'missing',
      message,
      next_step: 'phasegate trust --guarded',
    };
  });
}
