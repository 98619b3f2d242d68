/**
 * Whether a variable of the environment is one of Phasegate's own: it may hold a secret of the operator's, so no
 * program that is started inherits it, and nobody's definition sets it.
 */
export function isOwnVariable(name: string): boolean {
  return OWN.test(name);
}

// Names of variables have no case on some systems.
const OWN = /^(?:PHASEGATE|ORCHESTRATOR)_/i;
