import { statSync } from 'node:fs';
import { type Accounts, readAccounts } from './accounts.ts';
import type { IsolationPlan } from './plan.ts';
import { firstProblem, propertiesOf } from './properties.ts';

/** Whether the engine is isolated, as of now. */
export interface Standing {
  /** What does not hold, or null. */
  problem(): string | null;
}

/**
 * Looks at everything again each time it is asked: some forty calls of `lstat`. Users and groups are read anew when
 * their files change.
 */
export function createStanding(plan: IsolationPlan, program: readonly string[]): Standing {
  let read: { readonly of: string; readonly accounts: Accounts } | undefined;
  const accounts = (): Accounts => {
    const of = FILES.map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return `${stats?.ino} ${stats?.ctimeMs} ${stats?.size}`;
    }).join();
    if (read?.of !== of) read = { of, accounts: readAccounts() };
    return read.accounts;
  };
  return {
    problem() {
      try {
        return firstProblem(propertiesOf({ plan, accounts: accounts(), program }));
      } catch (error) {
        return `it cannot be looked at: ${error instanceof Error ? error.message : String(error)}`;
      }
    },
  };
}

const FILES = ['/etc/passwd', '/etc/group'];
