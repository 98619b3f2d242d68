import { canonicalJson, type JsonObject, PhasegateError, type Run } from '@phasegate/core';
import type { AuditDraft, KeptRecord, KeptStore } from '../runtime/ports.ts';

/** The kept records of a store in memory, with the means to read, to write and to go on with a chain. */
export function createMemoryKept(means: {
  readonly asking: <T>(question: () => T) => Promise<T>;
  readonly changing: <T>(work: () => T) => Promise<T>;
  readonly runOf: (run: string) => Run | undefined;
  readonly append: (run: string | null, drafts: readonly AuditDraft[]) => void;
}): KeptStore {
  const { asking, changing, runOf, append } = means;
  // As text, so that what is kept is what a file would give back.
  const kinds = new Map<string, Map<string, string>>();

  function of(kind: string): Map<string, string> {
    const known = kinds.get(kind) ?? new Map<string, string>();
    kinds.set(kind, known);
    return known;
  }

  function find(kind: string, key: string): JsonObject | undefined {
    const data = of(kind).get(key);
    return data === undefined ? undefined : (JSON.parse(data) as JsonObject);
  }

  function matching(kind: string, prefix: string): readonly string[] {
    return [...of(kind).keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  return {
    kept: (kind, key) => asking(() => find(kind, key)),
    keptAll: (kind, prefix = '', part) =>
      asking(() => {
        const keys = matching(kind, prefix).filter((key) => part?.before === undefined || key < part.before);
        const some = part === undefined ? keys : keys.slice(-part.limit);
        return some.map((key): KeptRecord => ({ kind, key, data: find(kind, key) ?? {} }));
      }),
    keep: ({ kind, key, data }, { run, audit, epoch, was }) =>
      changing(() => {
        if (!key.isWellFormed())
          throw new PhasegateError('request_invalid', `the key of a ${kind} is not valid Unicode`);
        const before = run === null ? null : runOf(run);
        if (before === undefined || (epoch !== undefined && before?.epoch !== epoch)) return false;
        if (was !== undefined && canonicalJson(was) !== canonicalJson(find(kind, key) ?? null)) return false;
        const told = canonicalJson(data);
        if (audit.length > 0) append(run, audit);
        of(kind).set(key, told);
        return true;
      }),
    dropKept: (kind, prefix, isKey = false) =>
      changing(() => {
        const keys = matching(kind, prefix).filter((key) => !isKey || key === prefix);
        for (const key of keys) of(kind).delete(key);
        return keys.length;
      }),
  };
}
