import type { KeptStore, SignInKind, SignInRows } from '../ports.ts';

/** The rows of all nodes of a store, sealed as everything that is kept there is, and by its clock. */
export function sharedRows(store: KeptStore, now: () => number): SignInRows {
  return {
    now,
    usedEvery: MINUTE,
    get: async (kind, key) => (await store.kept(KINDS[kind], key)) ?? null,
    all: (kind) => store.keptAll(KINDS[kind]),
    put: (kind, { key, data }, was) =>
      store.keep({ kind: KINDS[kind], key, data }, { run: null, audit: [], was }),
    drop: async (kind, key) => (await store.dropKept(KINDS[kind], key, true)) > 0,
  };
}

/** INVARIANT: of sign-ins alone. `session` among the kept records is that of a client's hooks. */
const KINDS: Readonly<Record<SignInKind, string>> = {
  session: 'sign_in',
  code: 'sign_in_code',
  challenges: 'sign_in_challenges',
};

const MINUTE = 60_000;
