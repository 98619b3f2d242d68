import { canonicalJson, type JsonObject } from '@phasegate/core';
import type { SignInKind, SignInRows } from '../ports.ts';

/** The rows of one process, which end with it: no sign-in is on disk. */
export function memoryRows(now: () => number): SignInRows {
  const kinds = new Map<SignInKind, Map<string, JsonObject>>();
  const of = (kind: SignInKind) => {
    const rows = kinds.get(kind) ?? new Map<string, JsonObject>();
    kinds.set(kind, rows);
    return rows;
  };
  return {
    now,
    usedEvery: 0,
    get: async (kind, key) => of(kind).get(key) ?? null,
    all: async (kind) => [...of(kind)].map(([key, data]) => ({ key, data })),
    async put(kind, { key, data }, was) {
      // Nothing is awaited between the look and the write: of two who saw the same row, one writes.
      const found = of(kind).get(key) ?? null;
      if (found !== was && canonicalJson(found) !== canonicalJson(was)) return false;
      of(kind).set(key, data);
      return true;
    },
    drop: async (kind, key) => of(kind).delete(key),
  };
}
