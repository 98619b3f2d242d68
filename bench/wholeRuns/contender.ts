import { newArtifact, SCHEMA } from '../transitions/workload.ts';

/** A way to take durable runs from their start through four steps, each with an artifact of about 1.2 KB. */
export interface Contender {
  /** Takes so many runs to their end, so many at a time. */
  walk(count: number, parallel: number): Promise<void>;
  /** Bytes of all files it wrote, once everything is folded into the database. */
  close(): Promise<void>;
}

/** The four steps of a run. */
export const STEPS = ['PLAN', 'TDD', 'IMPL', 'REVIEW'] as const;

const NOTES = 'what the next phase should know, '.repeat(8);

/** What is submitted at a step: another one at each, of the same size. */
export function newEvidence() {
  const artifact = newArtifact();
  return { ...artifact, notes: `${artifact.steps[0]?.title} ${NOTES}` };
}

/** What the artifact is held against. */
export const EVIDENCE_SCHEMA = {
  ...SCHEMA,
  properties: { ...SCHEMA.properties, notes: { type: 'string' } },
};

/** The workflow file of our own contender; with tools, of runs whose calls are judged as well. */
export function workflowText(id = 'bench', tools: readonly string[] = []): string {
  const schema = JSON.stringify(EVIDENCE_SCHEMA);
  const allowed = tools.length === 0 ? '' : `allowed_tools: [${tools.join(', ')}], `;
  const phases = STEPS.map(
    (step) => `  ${step}: { ${allowed}required_artifacts: [{ type: work, schema: ${schema} }] }`,
  );
  return `workflow: ${id}\nphases:\n${phases.join('\n')}\n`;
}

/** Calls the walk of each run, so many at a time. */
export async function atATime(
  count: number,
  parallel: number,
  walkOne: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await walkOne(index);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
