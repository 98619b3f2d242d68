import type { Layout, ProjectTests } from './template.ts';

/** The line that tells an editor which schema a workflow has, for a file this many folders below the project. */
export function schemaLine(depth: 0 | 1): string {
  const up = depth === 0 ? './' : '../';
  return `# yaml-language-server: $schema=${up}node_modules/phasegate/schemas/workflow.schema.json`;
}

/** Words as a YAML list on one line. */
export function listOf(words: readonly (string | number)[]): string {
  return `[${words.map((word) => (typeof word === 'number' ? String(word) : yamlWord(word))).join(', ')}]`;
}

/** A write scope in which tests are run: what is said, and what the tools that run them leave behind. */
export function scopeOf(globs: readonly string[], layout: Layout): readonly string[] {
  const { caches, cacheInEach, code, tests } = layout;
  const isHeld = (folder: string) => globs.some((glob) => glob === `${folder}/**`);
  // Folder by folder rather than anywhere: what a sandbox holds back is then as much as before.
  const folders = [...new Set([...code, ...tests])].flatMap((glob) => {
    const folder = /^([^*?[{]+)\/\*\*$/u.exec(glob)?.[1];
    return folder === undefined || isHeld(folder) ? [] : [folder];
  });
  const inEach =
    cacheInEach === undefined
      ? []
      : [`${cacheInEach}/**`, ...folders.map((folder) => `${folder}/**/${cacheInEach}/**`)];
  return [...new Set([...globs, ...caches.map((folder) => `${folder}/**`), ...inEach])];
}

/** The words of a command line that needs no shell, or null. */
export function plainWords(command: string): readonly string[] | null {
  const words = command.trim().split(/\s+/u);
  return words.every((word) => /^[\w@%+:,./-]+$/u.test(word)) ? words : null;
}

/** The parameters of the `command` check that runs the tests. */
export function runTests({ command }: ProjectTests): string {
  const words = plainWords(command);
  const run = words === null ? `shell: ${JSON.stringify(command)}` : `argv: ${listOf(words)}`;
  return `${run}, timeout_seconds: 600`;
}

/** What is asked of tests that pass beside that they do. */
export interface GreenAsked {
  readonly why?: string;
  /** The phase whose tests must be as they were. */
  readonly unchanged?: string;
  /** Asked before the phase is entered, when there may be no run yet, and so nothing to copy. */
  readonly entering?: boolean;
}

/** The check that the engine saw the tests pass, as an item of a list of checks at this indent. */
export function greenCheck(
  tests: ProjectTests,
  indent: number,
  { why, unchanged, entering = false }: GreenAsked = {},
): string {
  const { report, layout } = tests;
  const message = `The engine ran the tests and did not see them pass${why === undefined ? '' : `: ${why}`}`;
  const asked =
    report === null
      ? ['  check: command', `  with: { ${runTests(tests)} }`]
      : [
          '  check: tests',
          '  with:',
          `    argv: ${listOf(report)}`,
          '    expect: green',
          '    allow_skipped: true',
          '    timeout_seconds: 600',
          ...(entering ? [] : [`    canary: { plant: ${listOf(layout.tests)} }`]),
          ...(unchanged === undefined || !seesRed(tests) ? [] : [`    unchanged: ${unchanged}`]),
        ];
  const manner = entering ? ['  needs: observed'] : MANNER;
  return block(indent, [
    '- name: tests_really_pass',
    ...asked,
    ...manner,
    `  message: ${JSON.stringify(message)}`,
  ]);
}

/** The check that the engine saw the tests fail; the tests that were written are then held for later phases. */
export function redCheck(tests: ProjectTests, indent: number): string {
  const { report, layout } = tests;
  const asked = seesRed(tests)
    ? [
        '  check: tests',
        '  with:',
        `    argv: ${listOf(report ?? [])}`,
        '    expect: red',
        '    timeout_seconds: 600',
        '    # Each test file of this phase has a test that fails, and no later phase finds it changed.',
        `    changed: ${listOf(layout.tests)}`,
        `    freeze: ${listOf(layout.tests)}`,
        `    canary: { plant: ${listOf(layout.tests)} }`,
      ]
    : [
        '  check: command',
        '  # The exit codes of tests that fail; a program that is missing ends with 127, which is not among them.',
        `  with: { ${runTests(tests)}, expect_exit: ${listOf(tests.red)} }`,
      ];
  return block(indent, [
    '- name: tests_really_fail',
    ...asked,
    ...MANNER,
    '  message: The engine ran the tests and did not see them fail',
  ]);
}

/** Whether red is what tests say. Where a test of what is missing does not compile, only an exit code can be seen. */
export function seesRed({ report, layout }: ProjectTests): boolean {
  return report !== null && !layout.compiled;
}

/** Where tests are run: what a machine without a sandbox is given is told, and not kept silent. */
export const MANNER: readonly string[] = [
  '  # In a sandbox, on a copy of the tree, with frozen dependencies, where there can be (`phasegate deps freeze`); else in',
  '  # the workspace, which is told. `needs: verified` refuses the second.',
  '  verify: true',
  '  needs: observed',
];

/** The constraint that keeps tests out of a write scope of code; a comment where no test lies in it. */
export function deniedTests({ testsAmongCode }: Layout): string {
  const globs = Object.keys(testsAmongCode);
  if (globs.length === 0) return '      # Tests lie outside of the write scope below.';
  return `      write_files: { denied: ${listOf(globs)} }`;
}

/** Rules of a phase that changes code as a human approved it, and no test: tools, scope, artifact and gates. */
export function codeWithinPlan(layout: Layout, command: string): string {
  return `    allowed_tools: [reading, write_files, bash]
    forbidden_tools: [git]
    tool_constraints:
      bash: { allowed: ${listOf([command])} }
${deniedTests(layout)}
    writes: ${listOf(scopeOf(layout.code, layout))}
    required_artifacts:
      - type: changes
        description: paths that were changed
        schema: { type: array, minItems: 1, uniqueItems: true, items: { type: string, minLength: 1 } }
    gates: [within_plan, green]`;
}

/** Steps of a contract test: no test is written, wherever it lies. */
export function testsAreDenied({ testsAmongCode, sample }: Layout): string {
  const step = (path: string, code: string) =>
    `      - { tool: { tool: write_files, input: { path: ${yamlWord(path)} } }, expect: { code: ${code} } }`;
  const among = Object.values(testsAmongCode).map((path) => step(path, 'tool_constraint'));
  return (among.length === 0 ? [step(sample.test, 'outside_write_scope')] : among).join('\n');
}

/** The schema of a review, as the value of a key at this indent. */
export function reviewSchema(indent: number): string {
  return block(indent, [
    'type: object',
    'required: [decision, summary, files_read, findings]',
    'additionalProperties: false',
    'properties:',
    '  decision: { enum: [approved, changes_requested] }',
    '  summary: { type: string, minLength: 20 }',
    '  files_read: { type: array, minItems: 1, uniqueItems: true, items: { type: string, minLength: 1 } }',
    '  findings:',
    '    type: array',
    '    items:',
    '      type: object',
    '      required: [severity, text]',
    '      additionalProperties: false',
    '      properties:',
    '        severity: { enum: [MUST, SHOULD, COULD] }',
    '        file: { type: string, minLength: 1 }',
    '        text: { type: string, minLength: 10 }',
  ]);
}

/** A text as YAML writes it on one line. */
export function yamlWord(word: string): string {
  const plain = /^[A-Za-z][\w./-]*$/u.test(word) && !/^(?:true|false|null|yes|no|on|off|y|n)$/iu.test(word);
  return plain ? word : JSON.stringify(word);
}

function block(indent: number, lines: readonly string[]): string {
  return lines.map((line) => `${' '.repeat(indent)}${line}`).join('\n');
}
