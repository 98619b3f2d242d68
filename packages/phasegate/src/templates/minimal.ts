import { minimalContract } from './minimalContract.ts';
import type { Template } from './template.ts';

/** Two phases and a human between them: the smallest workflow that shows what a gate is. */
export const minimalTemplate: Template = {
  name: 'minimal',
  summary: 'two phases and a human gate',
  workflow: 'minimal',
  path: 'agent_workflow.yaml',
  contract: { path: 'agent_workflow.contract.yaml', text: minimalContract },
  text: `workflow: minimal
title: Propose, then do
description: The agent proposes, a human decides, the agent does it

gates:
  proposal:
    human:
      prompt: Do it as proposed?
      options:
        - { label: Approve, next: DO }
        - { label: Reject, next: PROPOSE, requires_input: true }

phases:
  PROPOSE:
    name: Propose
    instructions: |
      Look at the task and the code. Submit \`proposal\`: a summary and the steps you would take.
      Change nothing yet.
    allowed_tools: [read_files, list_files, grep]
    writes: []
    required_artifacts:
      - type: proposal
        description: what you want to do, and how
        schema:
          type: object
          required: [summary, steps]
          additionalProperties: false
          properties:
            summary: { type: string, minLength: 10 }
            steps: { type: array, minItems: 1, items: { type: string, minLength: 1 } }
    gate: proposal
    next: DO

  DO:
    name: Do
    instructions: |
      Do what was approved, no more. Submit \`report\`: what you did, and how you made sure it works.
    allowed_tools: [read_files, list_files, grep, write_files, bash]
    writes: ["src/**", "lib/**", "test/**"]
    required_artifacts:
      - type: report
        description: what was done
        schema:
          type: object
          required: [done, checked]
          properties:
            done: { type: array, minItems: 1, items: { type: string } }
            checked: { type: string, minLength: 10 }
    next: null
`,
};
