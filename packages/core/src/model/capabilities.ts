/** What an agent can do, as a name: letters, digits and `._-`, at most 64 of them. */
export const CAPABILITY = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

const NAME = new RegExp(CAPABILITY);

/** True for a text that can name a capability. */
export function isCapability(name: string): boolean {
  return NAME.test(name);
}

/** What can name one, for a person who gave a name that cannot. */
export const CAPABILITY_FORM = 'use up to 64 letters, digits, `.`, `_` and `-`, with no sign first';
