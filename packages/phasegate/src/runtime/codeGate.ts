import type { AskedCode, CodeGate, Store } from './ports.ts';
import { closureHash, mayRun } from './trust/acceptance.ts';

/** Where the gate finds out what was accepted. */
export interface CodeGateParts {
  /** Whether the project has any state; without it there is no human either. */
  hasState(): boolean;
  /** Opens the project's store for one question. */
  openStore(): Promise<Store>;
}

/** The gate of a project whose store may be open or not. */
export interface ProjectGate {
  readonly gate: CodeGate;
  /** A store that is open is asked from now on; gives what is to be called when it closes. */
  opened(store: Store): () => void;
}

/**
 * The one place that says whether a workflow's code may be run. Once a human is set up, only files a human accepted
 * may, or files a human lets this one process run.
 */
export function createCodeGate({ hasState, openStore }: CodeGateParts): ProjectGate {
  const stores: Store[] = [];
  let letIn: ((closure: string) => void) | null = null;

  async function ask(code: AskedCode): Promise<boolean> {
    const [open] = stores;
    if (open !== undefined) return mayRun(code, open);
    if (!hasState()) return true;
    const store = await openStore();
    try {
      return await mayRun(code, store);
    } finally {
      await store.close();
    }
  }

  return {
    gate: {
      async refusal(code) {
        if (await ask(code)) return null;
        if (letIn === null) return 'no human has accepted it as it is now';
        letIn(closureHash(code.files));
        return null;
      },
      letIn(_human, tell) {
        letIn = tell;
      },
    },
    opened(store) {
      stores.push(store);
      return () => {
        const at = stores.indexOf(store);
        if (at !== -1) stores.splice(at, 1);
      };
    },
  };
}
