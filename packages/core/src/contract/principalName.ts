/** Whether a human or an agent can be called this: letters, digits, `.`, `_`, `@` and `-`. */
export function isPrincipalName(name: string): boolean {
  return NAME.test(name);
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
