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
    'Human approval is required, no exceptions.',
    'Human approval required: agents cannot approve their own work.',
    'Human approval is required (not optional).',
    'Human approval is not optional.',
    'A human must approve this, not the agent.',
    'Manual approval required.',
    'PM approval required',
    'The PM must approve the plan.',
    'Approval is required from the one who owns the release.',
    'Human&nbsp;approval required',
    'Human&#160;approval required',
    'Human <b>approval</b> required',
    'Hu\u200bman appro\u200bval required',
    'Human\u00a0approval required',
    'Human approval is required, for example from the PM.',
    'Human approval is not required unless the interface changes.',
    'Human approval cannot be skipped.',
    'Nothing is released without human approval.',
    'Going on without human approval is forbidden.',
    'Approval of drafts is not required, but human approval is required for the release.',
    'Do not forget to obtain human approval.',
    'Run the approval tests, then obtain human approval.',
    '| Human approval | Required |',
    '| Release | Human approval is required, no exceptions. |',
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
    'Human approval is not required before the release.',
    'No human approval or sign-off is required.',
    'This\nphase does not\nneed human approval.',
    'Go on without human approval.',
    'It is not necessary to obtain human approval.',
    'Human approval required? No.',
    '| Human approval | Not required |',
    '| Phase | Human approval required |\n|---|---|\n| 1 | no |',
    '| Evidence | Type | Required |\n|---|---|---|\n| human_approval | bool | required |',
    '**Human Approval**: False\n**Tests**: required',
    'Neither human approval nor sign-off is needed.',
    'No human has to approve this.',
  ])('is not: %s', (text) => {
    expect(found(`# Phase\n\n${text}\n`)).toEqual([]);
  });

  test.each([
    ['First make both lists, then obtain human\napproval of both lists.', [3]],
    ['First make both lists,\nthen obtain human\napproval of both lists.', [4]],
    ['Do not proceed\nwithout human approval.', [3]],
    ['> Obtain human\n> approval.', [3]],
    ['- Obtain human\n  approval.\n- Human approval is required.', [3, 5]],
    ['| Phase | Human approval required |\n|---|---|\n| 1 | yes |\n| 2 | no |', [5]],
    ['🚨🚨 `code` text\n\nHuman approval is required.', [5]],
  ])('over several lines, with the line where it begins: %s', (text, lines) => {
    expect(found(`# Phase\n\n${text}\n`)).toEqual(lines);
  });
});
