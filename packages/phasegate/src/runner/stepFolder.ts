import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Step } from './parts.ts';
import { readStateFile, writeStateFile } from './stateFiles.ts';

/** Where a step's things are kept: under the run, one place per visit and item, so that a new start finds them. */
export interface StepFolder {
  /** What a sub-agent keeps between its invocations: `PHASEGATE_STATE_DIR`. */
  readonly state: string;
  readonly promptFile: string;
  /** The end of what the newest attempt printed. */
  readonly logFile: string;
}

/** The places of a step; `stateDir` is the project's. */
export function stepFolder(stateDir: string, { run, phase, item }: Step): StepFolder {
  const visit = run.visits[String(phase.id)] ?? 1;
  const name = `${fileName(String(phase.id))}-${visit}`;
  const base = join(stateDir, 'runs', fileName(run.id), name);
  const state = item === null ? base : join(base, fileName(item));
  return { state, promptFile: `${state}.prompt.md`, logFile: `${state}.log` };
}

/** Keeps the end of what a step printed, for the human who may have to look at it. */
export async function keepTail(stateDir: string, folder: StepFolder, tail: string): Promise<void> {
  await writeStateFile(stateDir, folder.logFile, tail);
}

/** The last lines of what a step printed; none where nothing was kept, as in another state directory. */
export async function lastLines(
  stateDir: string,
  folder: StepFolder,
  count = 20,
): Promise<readonly string[]> {
  const text = await readStateFile(stateDir, folder.logFile);
  return text === null ? [] : text.trimEnd().split('\n').slice(-count);
}

/** A name that is one path component whatever the author called it, and never that of another. */
export function fileName(name: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,59}$/.test(name)) return name;
  const slug = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40);
  return `${slug}.${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}
