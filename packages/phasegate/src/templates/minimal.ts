import { minimalContract } from './minimalContract.ts';
import { schemaLine } from './pieces.ts';
import type { Template } from './template.ts';

/** Two phases and a human after each: the smallest workflow that shows what a gate is. */
export const minimalTemplate: Template = {
  name: 'minimal',
  summary: 'propose and do, with a human after each; runs no tests',
  workflow: 'minimal',
  path: 'agent_workflow.yaml',
  runsTests: false,
  definition: () => [{ path: 'agent_workflow.yaml', text: TEXT }],
  beside: () => [
    { path: 'agent_workflow.contract.yaml', text: minimalContract },
    { path: 'agent_workflow.md', text: README },
  ],
};

const TEXT = `${schemaLine(0)}
workflow: minimal
title: Propose, then do
description: The agent proposes, a human decides, the agent does it, a human looks

gates:
  proposal:
    human:
      prompt: Do it as proposed?
      options:
        - { label: Approve, next: DO }
        - { label: Reject, next: PROPOSE, requires_input: true }
  result:
    human:
      prompt: Is it done, as you approved it?
      options:
        - { label: Accept }
        - { label: Not yet, next: DO, requires_input: true }

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
    gate: result
    next: null
`;

const README = `# Propose, then do

Written by \`phasegate init --template minimal\`; the workflow is [\`agent_workflow.yaml\`](agent_workflow.yaml), and it is
yours to change.

| phase | the agent | the engine or a human |
|---|---|---|
| PROPOSE | reads, and says what it would do | nothing; **a human approves the proposal** |
| DO | does it, and reports | nothing; **a human looks at it and accepts it** |

## What is only claimed

Everything the agent submits: \`proposal\` and \`report\`. The engine holds the order of phases, the write scope of the tools it
serves and the shape of the evidence, and waits for the human. It runs no tests, so there is no exit code that could mislead;
\`phasegate init --template tdd\` has a workflow in which the engine sees tests fail and pass.
`;
