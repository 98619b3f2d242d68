import type { Stop } from '../test-generation/walk.ts';

/** The gate of each phase, as `specs/payments-retry/tasks.md` has it. */
export const GATES: Readonly<Record<number, readonly string[]>> = {
  1: [
    'All unit tests of `billing/reasons.ts` and `billing/schedule.ts` pass',
    'Neither module imports the database, the provider client or the clock',
    'FR-1 and FR-2 are named in the tests that prove them',
  ],
  2: [
    'The kill test passes a hundred times in a row',
    "The provider's sandbox shows exactly one charge for each key after the test",
    'FR-4 is proven by a test with two real workers on a real database',
  ],
  3: [
    'A simulated month with ten thousand failures ends with no open schedule and no double charge',
    'Log output of that month holds no card number and no provider payload',
    'FR-3, FR-5 and FR-6 each have a test that was seen to fail',
  ],
  4: [
    'Support has used the page on three real cases and signed it off by name',
    'The switch was turned off and on again in production without a restart',
    'FR-7 is shown in the recorded walkthrough',
  ],
};

const PROOFS: Readonly<Record<number, readonly string[]>> = {
  1: [
    'npm test billing: 41 passed, 0 failed',
    'grep for db, provider and Date in both files finds nothing',
    'reasons.test.ts:8 names FR-1, schedule.test.ts:12 names FR-2',
  ],
  2: [
    'ran kill.test.ts in a loop, 100 of 100 green',
    'sandbox export: 400 keys, 400 charges',
    'twoWorkers.test.ts:20 on PostgreSQL 17, two processes',
  ],
  3: [
    'simulate --failures 10000: open 0, double 0',
    'scanned 2.1 million log lines with the card pattern, no hit',
    'each was run against a broken build first, see the log of the branch',
  ],
  4: [
    'Mira, Jon and Aylin of support signed in the ticket',
    'switched off 10:02, on 10:09, process start time unchanged',
    'recording of Tuesday, minute 4',
  ],
};

const NAMES = [
  'Understand the specification',
  'Reasons and schedule',
  'Storage without double charges',
  'The worker and the customer',
  'Support view and rollout',
];

const READ = {
  spec_summary:
    'Failed card charges are tried again up to four times before the subscription is cancelled. ' +
    'Customers with a card that fails for a day keep what they pay for. Support sees what happens.',
  requirement_ids: ['FR-1', 'FR-2', 'FR-3', 'FR-4', 'FR-5', 'FR-6', 'FR-7'],
  risks: ['a card is charged twice when an answer is lost'],
  open_questions: [],
};

const TASK_COUNTS = [2, 3, 4, 4, 3];

/** What an agent hands in at phase 0 and at the four phases of the specification: at first too little. */
export const STOPS: readonly Stop[] = NAMES.map((name, phase) => {
  if (phase === 0) {
    const { risks: _, ...withoutRisks } = READ;
    return { phase, name, wrong: { ...withoutRisks, requirement_ids: [] }, right: READ };
  }
  const proofs = PROOFS[phase] ?? [];
  const validation_gate = Object.fromEntries(proofs.map((proof, index) => [`item_${index + 1}`, proof]));
  const { item_3: _, ...unfinished } = validation_gate;
  const tasks_completed = Array.from(
    { length: TASK_COUNTS[phase] ?? 0 },
    (_, index) => `${phase}.${index + 1}`,
  );
  return {
    phase,
    name,
    wrong: { validation_gate: { ...unfinished, item_1: 'yes' } },
    right: { tasks_completed, validation_gate },
  };
});
