import type { Problem } from '../errors.ts';

/** What a loader answers when it could not do its work at all: a loader never throws. */
export function unloadable(
  path: string,
  what: string,
  error: unknown,
): { readonly workflow: null; readonly problems: readonly Problem[]; readonly files: Record<string, never> } {
  const message = `${what}: ${error instanceof Error ? error.message : String(error)}`;
  const problem = { file: path, line: 1, column: 1, code: 'internal', message, severity: 'error' as const };
  return { workflow: null, problems: [problem], files: {} };
}
