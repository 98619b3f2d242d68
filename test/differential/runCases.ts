/** A script: `node runCases.ts URL-OF-CORE FIRST-SEED CASES` prints how far that engine and the interpreter agree. */
import { agree } from './agree.ts';
import type { Engine } from './compare.ts';

const [core = '', first = '1', cases = '1000'] = process.argv.slice(2);
// The parts and not the whole package: a mutant is loaded twenty times.
const load = async (path: string): Promise<Partial<Engine>> => await import(new URL(path, core).href);
const engine = {
  ...(await load('engine/decide.ts')),
  ...(await load('engine/start.ts')),
  ...(await load('model/defineWorkflow.ts')),
} as Engine;
process.stdout.write(JSON.stringify(agree(engine, { first: Number(first), cases: Number(cases) })));
