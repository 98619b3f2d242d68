import * as z from 'zod';
import { strictMap } from '../yaml/strictMap.ts';

// Which values mean something depends on the workflow, and is said by the simulation itself.
const some = z.union([z.number(), z.array(z.number())]).optional();
const share = z.number().optional();
const shares = z.record(z.string(), z.number()).optional();

/** The shape of a file of rates. */
export const ratesSchema: z.ZodType = strictMap(
  { description: 'Rates to simulate a workflow with.', needed: ['phases'] },
  {
    phases: z
      .record(
        z.string(),
        strictMap(
          { description: 'What is said of a phase.' },
          {
            pass: some,
            minutes: some,
            blocked: share,
            items: some,
            outcomes: shares,
            condition: share,
            options: shares,
            decide_minutes: some,
            resume: share,
            stop: share,
            resume_minutes: some,
          },
        ),
      )
      .optional(),
  },
);
