import type {
  CatalogWorkflow,
  ContractTests,
  TestCategory,
  TestRequest,
  TestResult,
} from '../runtime/ports.ts';
import { casesOf, type PlaceOfParam } from './casesOf.ts';
import { faultText, runContract } from './contractRun.ts';
import { sampleDomains } from './sampleDomains.ts';
import { type CaseEnd, type CaseParts, runCase, testDomains } from './stepCase.ts';
import { domainTests, type PlainTest, structureTests } from './structureTests.ts';

/** What a workflow is tested with. */
export interface TestParts extends Omit<CaseParts, 'tests'> {
  readonly contracts: readonly ContractTests[];
  /** Loads the workflow again. */
  reload(): Promise<CatalogWorkflow>;
  /** Milliseconds of some clock. */
  readonly clock: () => number;
  readonly placeOf: PlaceOfParam;
}

type Wanted = Pick<TestRequest, 'filter' | 'category' | 'signal' | 'report'>;

/**
 * Runs every test of a workflow, in order of its kinds; a test that throws has failed. Once the signal is given no
 * further result is: anyone who gave it knows that there may be more.
 */
export async function testWorkflow(parts: TestParts, wanted: Wanted): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  for await (const { name, category, run } of testsOf(parts, wanted.category)) {
    if (wanted.signal.aborted) break;
    if (wanted.filter !== null && !name.includes(wanted.filter)) continue;
    const before = parts.clock();
    const end = await run().catch((error: unknown) => ({ skipped: false, message: faultText(error) }));
    // What was cut short says nothing about the workflow.
    if (wanted.signal.aborted) break;
    const status = end === null ? 'passed' : end.skipped ? 'skipped' : 'failed';
    const ms = Math.round(parts.clock() - before);
    const result: TestResult = { name, category, status, message: end?.message ?? '', ms };
    results.push(result);
    wanted.report(result);
  }
  return results;
}

interface Test {
  readonly name: string;
  readonly category: TestCategory;
  run(): Promise<CaseEnd>;
}

async function* testsOf(parts: TestParts, only: TestCategory | null): AsyncGenerator<Test> {
  const { found, contracts } = parts;
  const { workflow } = found;
  const wanted = (category: TestCategory) => only === null || only === category;
  // The first file says what is tried out; each file has tests of its own.
  const tests = contracts[0] ?? null;
  const plain = (category: TestCategory, list: readonly PlainTest[]) =>
    list.map(
      ({ name, run }): Test => ({
        name: `${workflow.id}: ${name}`,
        category,
        run: async () => failed(run()),
      }),
    );

  // Before anything is run: anyone who has too many cases should not wait for the others first.
  const file = tests?.file ?? `${workflow.id}.contract.yaml`;
  const named = testDomains(tests);
  const sampled = sampleDomains(workflow, named);
  const domains = { ...sampled, ...named };
  const inputs = wanted('steps') ? await casesOf(workflow, domains, { placeOf: parts.placeOf, file }) : [];
  if (wanted('import')) {
    yield {
      name: `${workflow.id}: loads, and loads again to the same workflow`,
      category: 'import',
      run: async () =>
        failed((await parts.reload()).hash === found.hash ? null : 'the second load gave another workflow'),
    };
  }
  if (wanted('structure')) yield* plain('structure', structureTests(workflow));
  if (wanted('domains')) {
    yield* plain('domains', domainTests(workflow, domains, { sampled: Object.keys(sampled), file }));
  }
  for (const input of inputs) {
    yield { name: input.id, category: 'steps', run: () => runCase({ ...parts, tests }, input) };
  }
  if (!wanted('contract')) return;
  for (const file of contracts) {
    for (const test of file.tests) {
      yield {
        name: `${workflow.id}: ${test.name}`,
        category: 'contract',
        run: async () => failed(await runContract(parts.beds, { found, tests: file }, test)),
      };
    }
  }
}

function failed(message: string | null): CaseEnd {
  return message === null ? null : { skipped: false, message };
}
