import type { z } from '@hono/zod-openapi';
import { PhasegateError } from '@phasegate/core';
import { runPath } from '@phasegate/wire/schemas';
import { type Endpoint, endpoint, type Who } from './endpoint.ts';

/**
 * Routes of the contract that this release does not have. They fail closed: nothing is allowed by asking them. They are
 * not in the OpenAPI document until they are built.
 */
export const MISSING_ROUTES: readonly Endpoint[] = [
  missing(
    '/runs/{id}/override',
    'no override is in this release: a gate is decided, a run resumed or stopped',
    {
      operationId: 'override',
      tag: 'decisions',
      who: 'human',
      params: runPath,
    },
  ),
];

interface Missing {
  readonly operationId: string;
  readonly tag: string;
  readonly who: Who;
  readonly params: z.ZodType;
}

function missing(path: string, reason: string, { who, ...rest }: Missing): Endpoint {
  return endpoint({
    method: 'post',
    path,
    ...rest,
    who: [who],
    summary: 'Not in this release',
    description: `Answers 404 \`route_unknown\`: ${reason}.`,
    answers: {},
    problems: { 404: { description: reason } },
    async handle() {
      throw new PhasegateError('route_unknown', reason);
    },
  });
}
