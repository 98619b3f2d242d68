import type { HumanSession, RestParts } from './parts.ts';

/** Whether whose session it is looks after the project: an admin, or the operator while nobody is set up. */
export async function isAdmin(
  project: RestParts['project'],
  { name, operator }: Pick<HumanSession, 'name' | 'operator'>,
): Promise<boolean> {
  if (operator) return true;
  return (await project.humans.list()).some((human) => human.name === name && human.role === 'admin');
}
