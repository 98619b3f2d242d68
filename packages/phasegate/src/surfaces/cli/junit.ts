import type { TestResult } from '../../runtime/ports.ts';

/** Test results as JUnit XML, one suite for each kind of test. */
export function junit(workflow: string, results: readonly TestResult[]): string {
  const suites = [...new Set(results.map(({ category }) => category))].map((category) => {
    const tests = results.filter((result) => result.category === category);
    const cases = tests.map((test) => caseOf(workflow, test));
    return [
      `  <testsuite name="${escaped(`${workflow}.${category}`)}" ${counts(tests)}>`,
      ...cases,
      '  </testsuite>',
    ];
  });
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(workflow)}" ${counts(results)}>`,
    ...suites.flat(),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

function caseOf(workflow: string, { name, category, status, message, ms }: TestResult): string {
  const head = `    <testcase classname="${escaped(`${workflow}.${category}`)}" name="${escaped(name)}" time="${ms / 1000}"`;
  if (status === 'passed') return `${head}/>`;
  const tag = status === 'failed' ? 'failure' : 'skipped';
  return `${head}><${tag} message="${escaped(message)}"/></testcase>`;
}

function counts(results: readonly TestResult[]): string {
  const having = (status: TestResult['status']) =>
    results.filter((result) => result.status === status).length;
  const seconds = results.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  return `tests="${results.length}" failures="${having('failed')}" skipped="${having('skipped')}" time="${seconds}"`;
}

/** What XML has signs of its own for, and what it cannot hold at all. */
function escaped(text: string): string {
  return [...text.toWellFormed()].map((sign) => SIGNS[sign] ?? (isHeld(sign) ? sign : '\ufffd')).join('');
}

const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
};

function isHeld(sign: string): boolean {
  const code = sign.codePointAt(0) ?? 0;
  return code >= 0x20 && code !== 0xfffe && code !== 0xffff;
}
