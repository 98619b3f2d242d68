import { z } from '@hono/zod-openapi';
import { PAGE_LIMIT, PATH_LIMIT, TEXT_LIMIT } from '../limits.ts';
import { actProof, isObject, listOf, phaseId, textUpTo, time } from './values.ts';

const fencedPath = z.object({ path: z.string(), how: z.string(), by: z.string().nullable() });
const fenceAction = z.enum(['restore', 'quarantine', 'accept']);

/** How the workspace differs from what it was when the phase was entered. */
export const fenceState = z
  .object({
    run: z.string(),
    phase: phaseId,
    ring: z.string(),
    writes: listOf(z.string()).openapi({ description: 'what the phase may write' }),
    tree: z.string().nullable().openapi({ description: 'hash of the measure it is compared with' }),
    problem: z.string().nullable().openapi({ description: 'why nothing can be compared' }),
    shown: z.string().nullable().openapi({
      description:
        'hash of what is outside or noticed, which an order carries; where nothing can be compared, of the workspace',
    }),
    outside: listOf(fencedPath).openapi({ description: 'what refuses the phase' }),
    more: z.int().openapi({ description: 'how many more paths do' }),
    noticed: listOf(fencedPath).openapi({ description: 'what is on record and refuses nothing' }),
    inside: z.int().openapi({ description: 'how many paths changed inside the scope' }),
    notes: listOf(z.string()),
    settled: listOf(
      z.object({
        action: fenceAction,
        phase: phaseId,
        paths: listOf(z.string()),
        reason: z.string(),
        by: z.string(),
        at: time,
      }),
    ).openapi({ description: 'what humans did about it so far, in the whole run' }),
  })
  .openapi('FenceState');

/** How what was changed differs, as text. */
export const fenceDiff = z
  .object({ run: z.string(), diff: z.string(), truncated: z.boolean() })
  .openapi('FenceDiff');

/** What a human wants done about changed paths. */
export const fenceRequest = z
  .strictObject({
    ...actProof,
    action: fenceAction,
    paths: z
      .union([z.literal('all'), z.array(textUpTo(PATH_LIMIT)).min(1).max(PAGE_LIMIT).readonly()])
      .openapi({
        description: 'paths, or folders with all that changed in them; `all` goes with `accept` only',
      }),
    reason: textUpTo(TEXT_LIMIT).optional().openapi({ description: 'why; `accept` needs one' }),
    shown: textUpTo(64).openapi({
      description:
        '`shown` of the report that was displayed; where the workspace is another by now, nothing is done',
    }),
  })
  .refine(({ action, paths }) => action === 'accept' || paths !== 'all', {
    path: ['paths'],
    error: '`all` goes with `accept` only',
    when: isObject,
  })
  .refine(
    ({ action, reason }) => action !== 'accept' || (typeof reason === 'string' && reason.trim() !== ''),
    {
      path: ['reason'],
      error: 'accepting a change needs a reason',
      when: isObject,
    },
  )
  .openapi('FenceRequest', {
    example: {
      action: 'restore',
      paths: ['package.json'],
      shown: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    },
  });

/** What became of the paths a human settled. */
export const fenceSettled = z
  .object({
    run: z.string(),
    action: fenceAction,
    settled: z.boolean(),
    paths: listOf(z.object({ path: z.string(), what: z.string() })),
  })
  .openapi('FenceSettled');

/** Files that a phase changed until its gate opened. */
export const gateFiles = z
  .object({
    run: z.string(),
    files: listOf(
      z.object({
        path: z.string(),
        how: z.string(),
        outside: z.literal(true).optional().openapi({ description: "not in the phase's scope" }),
        permissions: z.string().optional(),
        before: z.string().nullable().openapi({ description: 'SHA-256 of what it held' }),
        after: z.string().nullable(),
        untold: z.string().optional().openapi({ description: 'why there is no text' }),
        added: z.int().optional(),
        removed: z.int().optional(),
        diff: z.string().optional(),
        lines_cut: z.int().optional(),
        lines_shortened: z.int().optional(),
      }),
    ),
    total: z.int().openapi({ description: 'how many files changed' }),
    next_offset: z.int().nullable(),
  })
  .openapi('GateFiles');
