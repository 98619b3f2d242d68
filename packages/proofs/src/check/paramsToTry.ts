import type { Json, JsonObject, Workflow } from '@phasegate/core/model';
import { domainOf, type Expression, pathsOf } from '@phasegate/core/model';
import { atomsOf, isDecidable } from './partialTruth.ts';
import type { Finding } from './report.ts';

/** The params whose values decide something by themselves, and every combination of these values. */
export interface ParamsToTry {
  readonly tried: ReadonlySet<string>;
  readonly starts: readonly JsonObject[];
  readonly notes: readonly Finding[];
}

interface Domain {
  readonly name: string;
  readonly size: number;
  values(): readonly Json[];
}

/** Finds them; a param with too many values is left out and said so, and conditions on it are taken both ways. */
export function paramsToTry(
  workflow: Workflow,
  expressions: readonly Expression[],
  most: number,
): ParamsToTry {
  const notes: Finding[] = [];
  const domains = namedIn(workflow, expressions).flatMap((name): Domain[] => {
    const domain = finiteDomain(workflow, name);
    if (domain !== null) return [domain];
    const message = `param \`${name}\` has no end of values, so conditions on it are taken both ways: give it \`choices\` or, if it is an integer, \`min\` and \`max\``;
    notes.push(note('infinite_domain', name, message));
    return [];
  });
  const taken: Domain[] = [];
  let product = 1;
  for (const domain of domains.sort((one, other) => one.size - other.size)) {
    if (product * domain.size > most) {
      const message = `param \`${domain.name}\` has ${domain.size} values, which with the others makes more than ${most} combinations, so conditions on it are taken both ways: give it fewer values`;
      notes.push(note('huge_product', domain.name, message));
      continue;
    }
    product *= domain.size;
    taken.push(domain);
  }
  let starts: readonly JsonObject[] = [{}];
  for (const { name, values } of taken) {
    const given = [...values().map((value) => ({ [name]: value })), ...leftOut(workflow, name)];
    starts = starts.flatMap((start) => given.map((one) => ({ ...start, ...one })));
  }
  return { tried: new Set(taken.map(({ name }) => name)), starts, notes };
}

/** Params that some part of a condition depends on alone. */
function namedIn(workflow: Workflow, expressions: readonly Expression[]): readonly string[] {
  const tried = new Set(Object.keys(workflow.params));
  const atoms = expressions.flatMap(atomsOf).filter((atom) => isDecidable(atom, { tried, iteration: 1 }));
  const paths = atoms.flatMap(pathsOf).filter(({ root }) => root === 'params');
  return [...new Set(paths.map(({ steps }) => String(steps[0])))];
}

function finiteDomain(workflow: Workflow, name: string): Domain | null {
  const param = workflow.params[name];
  const domain = param?.domain ?? (param?.type === 'boolean' ? BOOLEANS : null);
  const values = domain === null ? null : domainOf(domain);
  if (domain === null || values === null) return null;
  const size =
    domain.kind === 'bounded_int'
      ? domain.hi - domain.lo + 1
      : 'choices' in domain
        ? domain.choices.length
        : 1;
  return { name, size, values: () => [...values] };
}

const BOOLEANS = { kind: 'choice_set' as const, choices: [true, false] };

/** One that may be left out and has no default is a value of its own: a condition on it has no answer then. */
function leftOut(workflow: Workflow, name: string): readonly JsonObject[] {
  const param = workflow.params[name];
  return param?.required || param?.default !== undefined ? [] : [{}];
}

function note(code: Finding['code'], name: string, message: string): Finding {
  return { code, severity: 'note', message, phases: [], about: { kind: 'param', name }, trace: [] };
}
