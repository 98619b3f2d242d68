import type { Stop } from './walk.ts';

const names = [
  'Read the module',
  'Read what it logs',
  'Map its dependencies',
  'Find its callers',
  'Plan the cases',
  'Prepare the ground',
  'Write the tests',
  'Try to break them',
];

const right: readonly object[] = [
  {
    function_count: 21,
    method_count: 15,
    branch_count: 36,
    ast_command_output: 'def compile()...',
    functions_list: ['compile', 'parse'],
  },
  {
    logger_call_count: 5,
    logging_patterns: ['module logger, lazy arguments', 'leak: test.py:98 whole entry in debug output'],
    logger_search_command: "grep -nE 'getLogger|logging' test.py",
  },
  {
    external_dependencies: ['requests.get', 'RATES_URL'],
    internal_dependencies: ['billing.accounts'],
    replacement_targets: ['test.requests.get', 'test.RATES_URL'],
    seam_notes: 'RATES_URL is read at import, so the attribute is replaced and not the environment.',
  },
  {
    call_site_count: 5,
    usage_patterns: ['compile: called once with a path, its answer kept for the process'],
    caught_exceptions: ['SyntaxError'],
  },
  {
    planned_cases: ['test_compile_keeps_names_in_order', 'test_parse_names_the_line_that_is_wrong'],
    line_coverage_goal: 94,
    branch_coverage_goal: 88,
  },
  {
    runner_command: 'uv run pytest -q',
    lint_command: 'uv run ruff check .',
    baseline_output: '412 passed, 9 skipped in 71.40s',
    fixtures_found: ['tmp_path', 'rates'],
  },
  {
    test_file: 'tests/test_test.py',
    test_count: 27,
    first_run_output: '27 passed in 0.61s',
    findings: [],
  },
  {
    passed_count: 27,
    failed_count: 0,
    branch_coverage: 88,
    mutants_made: 10,
    mutants_killed: 8,
    lint_output: 'All checks passed!',
    summary:
      'compile and parse, with every promise of their callers. Two faults survive that nobody can see.',
  },
];

const wrong: readonly object[] = [
  { function_count: 21 },
  { ...right[1], logger_call_count: 'five' },
  { ...right[2], replacement_targets: [] },
  { ...right[3], usage_patterns: [] },
  { ...right[4], branch_coverage_goal: 40 },
  { ...right[5], baseline_output: '' },
  { ...right[6], test_count: 0 },
  { ...right[7], mutants_killed: 11 },
];

/** What an agent hands in at each of the eight phases: at first something is missing or wrong. */
export const STOPS: readonly Stop[] = names.map((name, index) => ({
  phase: index + 1,
  name,
  wrong: wrong[index] as object,
  right: right[index] as object,
}));
