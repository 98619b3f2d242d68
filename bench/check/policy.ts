import { GUARDED_PATHS } from '@phasegate/core/model';

/** One rule of the policy everyone is asked about. */
interface Rule {
  readonly phase: string;
  readonly tool: string;
  /** What the path must start with; all of them where it is empty. */
  readonly below: string;
  readonly effect: 'allow' | 'deny';
}

/** May this tool touch this path in this phase? */
export interface Question {
  readonly phase: string;
  readonly tool: string;
  readonly path: string;
}

const GUARDED = GUARDED_PATHS.map((glob) => glob.replace(/\*\*$/, '')).filter((path) => !path.includes('*'));
const READING = ['read_files', 'list_files', 'grep'];
const WRITING = ['write_files', 'edit_file'];
const READABLE = ['src/', 'test/', 'docs/'];
const SECRET = ['src/secrets/', 'test/fixtures/secrets/'];
const WRITES: Readonly<Record<string, readonly string[]>> = {
  PLAN: [],
  TDD: ['test/'],
  IMPL: ['src/', 'test/'],
  REVIEW: [],
  COMPLETE: ['docs/'],
};

/**
 * Reading but for secrets, and writing where the phase says so but for what Phasegate never lets an agent write. Of
 * those files the ones that are found by the end of their names are left out here: the others are spared them.
 */
export const RULES: readonly Rule[] = Object.entries(WRITES).flatMap(([phase, writes]) => {
  const rules = (
    tools: readonly string[],
    effect: Rule['effect'],
    paths: readonly string[],
  ): readonly Rule[] => tools.flatMap((tool) => paths.map((below) => ({ phase, tool, below, effect })));
  return [
    ...rules(READING, 'allow', READABLE),
    ...rules(READING, 'deny', SECRET),
    ...(writes.length === 0 ? [] : [...rules(WRITING, 'allow', writes), ...rules(WRITING, 'deny', GUARDED)]),
  ];
});

/** Asked in turn; half of them are to be refused. */
export const QUESTIONS: readonly (Question & { readonly allowed: boolean })[] = [
  { phase: 'PLAN', tool: 'read_files', path: 'src/parser.ts', allowed: true },
  { phase: 'PLAN', tool: 'read_files', path: 'src/secrets/key.pem', allowed: false },
  { phase: 'PLAN', tool: 'grep', path: 'test/parser.test.ts', allowed: true },
  { phase: 'PLAN', tool: 'write_files', path: 'src/parser.ts', allowed: false },
  { phase: 'PLAN', tool: 'list_files', path: 'src/model', allowed: true },
  { phase: 'PLAN', tool: 'read_files', path: 'package.json', allowed: false },
];

/** The policy as a workflow. */
export const WORKFLOW = `workflow: bench
enforcement: { workspace: shared }
phases:
${Object.entries(WRITES)
  .map(([phase, writes]) => {
    const globs = (list: readonly string[]) => `[${list.map((below) => `'${below}**'`).join(', ')}]`;
    const reading = `{ allowed: ${globs(READABLE)}, denied: ${globs(SECRET)} }`;
    const constraints = READING.map((tool) => `${tool}: ${reading}`).join(', ');
    const tools = [...READING, ...(writes.length === 0 ? [] : WRITING)];
    return `  ${phase}:\n    allowed_tools: [${tools.join(', ')}]\n    tool_constraints: { ${constraints} }${
      writes.length === 0 ? '' : `\n    writes: ${globs(writes)}`
    }`;
  })
  .join('\n')}
`;
