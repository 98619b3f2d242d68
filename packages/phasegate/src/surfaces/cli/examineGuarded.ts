import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { People, Project } from '../../runtime/ports.ts';
import { attempt } from './attempt.ts';
import { broken, type Finding } from './finding.ts';

/** Files that changed while nobody looked. */
export async function examineGuarded(open: People, { catalog }: Project): Promise<readonly Finding[]> {
  const cards = await attempt(() => open.trust.guarded.cards());
  if (!cards.ok) return [broken('guarded files', cards.error)];
  if (cards.value.length === 0) return [];
  const listed = await attempt(() => catalog.list());
  const unread = listed.ok ? null : configFault(listed.error);
  return cards.value.map(({ path, change }): Finding => {
    const name = `guarded file ${oneLine(path)}`;
    const message = `${change} while no process of Phasegate was looking, not accepted by a human: no program is run`;
    // Nobody is to accept what cannot be read: how it is corrected is said where it was read.
    if (unread?.includes(path) === true)
      return { name, status: 'missing', message: `${message}; it cannot be read: correct it first` };
    return { name, status: 'missing', message, next_step: 'phasegate trust --guarded' };
  });
}

function configFault(error: unknown): string | null {
  return error instanceof PhasegateError && error.code === 'config_invalid' ? error.message : null;
}
