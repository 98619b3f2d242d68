/** Whether a word is the id of a run as it is made; anything else may be the beginning of one. */
export function isRunId(word: string): boolean {
  return RUN_ID.test(word);
}

/** The first id of a run in a text; null where there is none. */
export function runIdIn(text: string): string | null {
  return /\brun-[0-9a-f]{20}\b/.exec(text)?.[0] ?? null;
}

const RUN_ID = /^run-[0-9a-f]{20}$/;
