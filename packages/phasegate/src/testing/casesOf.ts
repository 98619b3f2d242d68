import { PhasegateError, type Problem, type Workflow } from '@phasegate/core';
import { type Domain, generateInputs, type TestInput } from '@phasegate/sdk/testing';

/** Where the values of a param are written. */
export type PlaceOfParam = (param: string) => Promise<Pick<Problem, 'file' | 'line' | 'column'>>;

/** Every case of a workflow. Where there is no end of them, or too many, this is told with the place of what makes them. */
export async function casesOf(
  workflow: Workflow,
  domains: Readonly<Record<string, Domain>>,
  { placeOf, file }: { readonly placeOf: PlaceOfParam; readonly file: string },
): Promise<Iterable<TestInput>> {
  try {
    return generateInputs(workflow, { domains });
  } catch (error) {
    if (!(error instanceof PhasegateError)) throw error;
    const { message, hint } = error;
    const place = await placeOf(blamed(workflow, domains));
    const problem: Problem = { ...place, code: 'cases', message, severity: 'error' };
    throw new PhasegateError('usage', `not every case of \`${workflow.id}\` can be tried, so none was`, {
      cause: error,
      problems: [problem],
      // The hint is also given to programs, which have no such file.
      ...(hint === undefined
        ? {}
        : { hint: hint.replace('under `domains`', `under \`domains\` in \`${file}\``) }),
    });
  }
}

/** The param with most values; one without end has more than any other. */
function blamed(workflow: Workflow, domains: Readonly<Record<string, Domain>>): string {
  const sizes = Object.entries(workflow.params).map(([name, { type, domain }]) => {
    const given = Object.hasOwn(domains, name) ? domains[name] : undefined;
    const size = given === undefined ? sizeOf(type, domain) : countUpTo(given);
    return { name, size };
  });
  const most = sizes.reduce((largest, one) => (one.size > largest.size ? one : largest), {
    name: '',
    size: 0,
  });
  return most.name;
}

function sizeOf(type: string, domain: Workflow['params'][string]['domain']): number {
  switch (domain?.kind) {
    case 'bounded_int':
      return domain.hi - domain.lo + 1;
    case 'choice_set':
      return domain.choices.length;
    case 'constant':
      return 1;
    default:
      return type === 'boolean' ? 2 : Number.POSITIVE_INFINITY;
  }
}

function countUpTo(domain: Domain): number {
  return 'lo' in domain ? domain.hi - domain.lo + 1 : [...domain].length;
}
