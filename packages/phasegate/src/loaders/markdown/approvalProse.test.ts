import { describe, expect, test } from 'vitest';
import { approvalLines } from './approvalProse.ts';

const found = (text: string) => approvalLines(text).map(({ line }) => line);

describe("prose that demands a human's approval", () => {
  test.each([
    '**Human Approval**: **REQUIRED**',
    '8. **Obtain** human approval for production release',
    '**Purpose**: Test workflow end-to-end, refine, obtain human approval',
    '🚨 **CRITICAL**: This task REQUIRES human approval. AI agents cannot self-approve workflows.',
    'Present the workflow to a human reviewer for final approval before production release.',
    'Do not proceed without human approval.',
    "Never deploy until the user's approval is there.",
    'A human must review and approve the plan.',
    'The plan must be approved by the maintainer.',
    'Sign-off is required before release.',
    'Get sign off from the product owner.',
    'This phase needs approval from a stakeholder',
    'Stop here and wait for approval.',
    '- [ ] Ask for explicit approval',
    '## Human approval required',
    'No one is told. Human approval is mandatory.',
  ])('%s', (line) => {
    expect(found(`# Phase\n\n${line}\n`)).toEqual([3]);
  });

  test.each([
    '**Human Approval**: Not required',
    '**Human Approval**: False',
    'No approval needed.',
    'This phase does not need human approval.',
    'Human approval is optional here.',
    '## Human Approval',
    '# Task 8: Human Review',
    'Run the approval tests; they are required to pass.',
    '- Human approval flag',
    '**Status:** Draft - Pending Approval',
    'Format the report for human review',
    '- [ ] Code reviewed and approved',
    'If not explicitly approved to overwrite, STOP and request guidance',
    '| `human_approved` | boolean | is_true | Human reviewed and approved for production |',
    '- New specs start in `specs/review/` (awaiting approval)',
    'Write `human approval is required` into the file.',
    'The text "human approval is required" must not appear.',
    '```\nhuman approval is required\n```',
    '<!-- human approval is required -->',
    'The parser must handle the user-approved list.',
    'The user must log in and get a token.',
    'Generate human-readable design summary',
  ])('is not: %s', (text) => {
    expect(found(`# Phase\n\n${text}\n`)).toEqual([]);
  });
});
