import { PhasegateError } from '@phasegate/core';
import type { HumanRecord, HumanStore, Role } from './ports.ts';

/** Every role, the least first. */
export const ROLES: readonly Role[] = ['viewer', 'approver', 'admin'];

/** A human's role. One from before there were roles is an admin. */
export function roleOf({ role }: Pick<HumanRecord, 'role'>): Role {
  return role ?? 'admin';
}

/**
 * Refuses an act to a human whose role is less than it needs. INVARIANT: asked by the runtime for every door, of the
 * sealed records, and never of what a caller brings. Before a human is set up there are no roles.
 */
export async function demandRole(
  store: Pick<HumanStore, 'humans'>,
  { name }: { readonly name: string },
  { least, what }: { readonly least: Role; readonly what: string },
): Promise<void> {
  const humans = await store.humans();
  if (humans.length === 0) return;
  const human = humans.find((record) => record.name === name);
  if (human === undefined) {
    throw new PhasegateError('not_permitted', `\`${name}\` is not a human of this project`);
  }
  const role = roleOf(human);
  if (ROLES.indexOf(role) >= ROLES.indexOf(least)) return;
  const admins = humans.filter((record) => roleOf(record) === 'admin').map((record) => record.name);
  throw new PhasegateError(
    'not_permitted',
    `${what} needs ${least === 'admin' ? 'an admin' : 'an approver'}, and \`${name}\` is ${role === 'approver' ? 'an approver' : 'a viewer'}`,
    { hint: `ask ${admins.join(' or ')}` },
  );
}
