import { WORKFLOW as POLICY } from '../check/policy.ts';
import { newArtifact, PHASES, SCHEMA } from '../transitions/workload.ts';
import { SERIAL } from './load.ts';

/** What the HTTP benchmarks ask for, in which workflow. */
export interface Asking {
  readonly path: string;
  readonly body: string;
  readonly workflow: string;
}

/** May this tool be used now? */
export const CHECK: Asking = {
  path: '/api/v1/tools/check',
  body: JSON.stringify({ tool: 'read_files', input: { path: 'src/parser.ts' } }),
  workflow: POLICY,
};

const ARTIFACT = newArtifact();

/** A step with a 1 KB artifact. */
export const TRANSITION: Asking = {
  path: '/api/v1/tasks/transition',
  body: JSON.stringify({
    artifacts: { work: { ...ARTIFACT, summary: `${SERIAL} ${ARTIFACT.summary}` } },
  }),
  workflow: `workflow: bench
schemas: { work: ${JSON.stringify(SCHEMA)} }
phases:
${PHASES.map((phase) => `  ${phase}: { instructions: Do it, required_artifacts: [{ type: work, schema: work }] }`).join('\n')}
`,
};
