import { type Json, own } from '@phasegate/core';
import type { CheckImplementation } from '../runtime/ports.ts';
import { display, scopePath } from './scopePath.ts';
import { listIn, measuredAgainst, newestArtifact, pass, refuse } from './submitted.ts';

/** Asks whether a submitted test names every acceptance criterion. A plan without criteria fails. */
export const testsForCriteria: CheckImplementation = {
  name: 'tests_exist_for_acceptance_criteria',
  summary: 'every acceptance criterion of the submitted plan is named by a submitted test',
  class: 'claimed',
  reads: 'subject',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: {
      criteria: {
        type: 'string',
        minLength: 1,
        description:
          'Artifact and path of the list of criteria, each a text or with an `id`; `plan.acceptance_criteria` by default',
      },
      tests: {
        type: 'string',
        minLength: 1,
        description:
          'Artifact and path of the list of tests, each with its `criterion` or `criteria`; `tests` by default',
      },
    },
  },
  async run({ with: { criteria = 'plan.acceptance_criteria', tests = 'tests' }, subject }) {
    if (typeof criteria !== 'string' || typeof tests !== 'string') {
      throw new TypeError('`criteria` and `tests` must be paths');
    }
    const asked = artifactPath(criteria, (type) => measuredAgainst(subject, type));
    const wanted = idsOf(asked);
    if (wanted === null || wanted.length === 0) {
      const given = display(asked);
      return refuse(
        `\`${criteria}\` is ${given}, expected a list of criteria, each a text or with an \`id\``,
      );
    }
    const written = artifactPath(tests, (type) => newestArtifact(subject.scope, type));
    const list = listIn(written ?? null, ['tests']);
    if (list === null) return refuse(`\`${tests}\` is ${display(written)}, expected a list of tests`);
    const covered = new Set(list.flatMap(criteriaOf));
    const open = wanted.filter((id) => !covered.has(id));
    if (open.length > 0) return refuse(`no test names ${open.map((id) => `\`${id}\``).join(', ')}`);
    return pass(`${wanted.length} acceptance criteria have tests`);
  },
};

/** The value at a path that starts with an artifact's type; a root such as `artifacts.` before it may be written. */
function artifactPath(path: string, find: (type: string) => Json | undefined): Json | undefined {
  const [type = '', ...steps] = path.replace(/^(?:result|artifacts|approved)\./u, '').split('.');
  const artifact = find(type);
  return artifact === undefined ? undefined : scopePath({ artifact }, ['artifact', ...steps]);
}

/** The ids of the criteria, or null where there is no list or one has none. */
function idsOf(criteria: Json | undefined): readonly string[] | null {
  if (!Array.isArray(criteria)) return null;
  const ids = criteria.map((item: Json) => textOf(item) ?? textOf(own(item, 'id')));
  return ids.every((id) => id !== null) ? ids : null;
}

function criteriaOf(item: Json): readonly string[] {
  const named = own(item, 'criteria') ?? own(item, 'criterion');
  const list = Array.isArray(named) ? named : [named];
  return list.map(textOf).filter((id) => id !== null);
}

/** An id as text: a number is as good as its digits, anything else is none. */
function textOf(value: Json | undefined): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
