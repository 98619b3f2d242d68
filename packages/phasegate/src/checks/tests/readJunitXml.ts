import type { SAXParser } from 'sax';
import { idOf, MOST_TESTS, type ReadReport, type TestCase, unreadable } from './testReport.ts';

/** Makes a strict parser; it is loaded where there is XML to read. */
export type Parser = (strict: true) => SAXParser;

/** Reads JUnit XML as pytest, `node --test`, Maven, Gradle and many others write it. */
export function readJunitXml(output: string, parserOf: Parser): ReadReport | null {
  const pieces = [...output.matchAll(/<(testsuites?)[\s>/]/g)].filter(
    ({ index }) => !isInside(output, index),
  );
  const start = pieces[0]?.index;
  if (start === undefined) return null;
  const root = pieces[0]?.[1] as string;
  const closing = `</${root}>`;
  const end = output.lastIndexOf(closing);
  const isEmpty = /^<testsuites?[^>]*\/>/.exec(output.slice(start))?.[0];
  const text = isEmpty ?? (end === -1 ? null : output.slice(start, end + closing.length));
  if (text === null) return unreadable('its XML report is cut off');
  return parse(text, parserOf(true));
}

/** Whether a tag stands in a line of words, such as what a test printed, and not at the head of a document. */
function isInside(output: string, at: number): boolean {
  // Not the whole line: one that is long, and full of such tags, would be read again for each of them.
  const near = output.slice(Math.max(0, at - MOST_BEFORE), at);
  const before = near.slice(near.lastIndexOf('\n') + 1).trim();
  return before !== '' && !before.endsWith('?>');
}

/** Longer than the head of a document. */
const MOST_BEFORE = 300;

function parse(text: string, parser: SAXParser): ReadReport {
  const tests: TestCase[] = [];
  const broken: string[] = [];
  const suites: Suite[] = [];
  let open: Open | null = null;
  let problem: string | null = null;
  parser.onerror = ({ message }) => {
    problem ??= `its XML report cannot be read: ${message.replaceAll('\n', ', ')}`;
  };
  parser.onopentag = (tag) => {
    if (tag.name === 'testsuite') suites.push({ tag, cases: 0, failures: 0 });
    if (tag.name === 'testcase')
      open = { tag, names: suites.map(nameOfSuite), outcome: 'passed', message: '' };
    if (open !== null) open = withInside(open, tag);
  };
  parser.onclosetag = (name) => {
    if (name === 'testsuite') problem ??= liesOf(suites.pop());
    if (name !== 'testcase' || open === null) return;
    for (const suite of suites) {
      suite.cases += 1;
      if (open.outcome === 'failed' || open.outcome === 'errored') suite.failures += 1;
    }
    if (isNotLoaded(open)) broken.push(attribute(open.tag, 'name'));
    else tests.push({ id: nameOf(open), outcome: open.outcome, file: fileOf(open) });
    open = null;
    if (tests.length > MOST_TESTS) problem ??= `its report has more than ${MOST_TESTS} tests`;
  };
  // A report of many tests is read piece by piece, so that nothing is kept of it but what counts.
  for (let at = 0; at < text.length && problem === null; at += READ_AT_ONCE)
    parser.write(text.slice(at, at + READ_AT_ONCE));
  if (problem === null) parser.close();
  return problem === null ? { ok: true, report: { tests, broken } } : unreadable(problem);
}

const READ_AT_ONCE = 100_000;

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Open {
  readonly tag: Tag;
  readonly names: readonly string[];
  readonly outcome: TestCase['outcome'];
  readonly message: string;
}

/** What was found in a suite, to be held against what it says of itself. */
interface Suite {
  readonly tag: Tag;
  cases: number;
  failures: number;
}

function nameOfSuite({ tag }: Suite): string {
  return attribute(tag, 'name');
}

function withInside(open: Open, tag: Tag): Open {
  if (tag.name === 'skipped') return { ...open, outcome: 'skipped' };
  if (tag.name === 'failure') return { ...open, outcome: 'failed' };
  if (tag.name !== 'error') return open;
  return { ...open, outcome: 'errored', message: attribute(tag, 'message') };
}

function liesOf(suite: Suite | undefined): string | null {
  if (suite === undefined) return null;
  const { tag, cases, failures } = suite;
  const count = (name: string) => (attribute(tag, name) === '' ? null : Number(attribute(tag, name)));
  const [all, failed, errors] = [count('tests'), count('failures'), count('errors')];
  const isWrong = (all !== null && all !== cases) || (failed !== null && failed + (errors ?? 0) !== failures);
  if (!isWrong) return null;
  return `its report counts ${all ?? '?'} tests with ${(failed ?? 0) + (errors ?? 0)} that do not pass, and lists ${cases} with ${failures}`;
}

/** pytest reports a module it could not import as a test without a class; others with the words of their compiler. */
function isNotLoaded({ outcome, tag, message }: Open): boolean {
  return outcome === 'errored' && (message === 'collection failure' || attribute(tag, 'classname') === '');
}

function nameOf({ tag, names }: Open): string {
  const own = attribute(tag, 'classname');
  const outer = own === '' || own === 'test' ? names : [own];
  return idOf([attribute(tag, 'file'), ...outer, attribute(tag, 'name')]);
}

/** pytest tells the module instead, with dots. */
function fileOf({ tag }: Open): string {
  return attribute(tag, 'file') || attribute(tag, 'classname');
}

function attribute(tag: Tag, name: string): string {
  const value = tag.attributes[name];
  return typeof value === 'string' ? value : '';
}
