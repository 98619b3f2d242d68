import { existsSync } from 'node:fs';
import type { ToolImplementation } from '../runtime/ports.ts';
import { defineTool } from './defineTool.ts';
import { PROGRAM_INPUTS, runInWorkspace } from './runInWorkspace.ts';

/** Runs a command line in the workspace. */
export const bash: ToolImplementation = defineTool({
  name: 'bash',
  description: 'Runs a command line in the workspace; gives its exit code and the end of what it printed',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['command'],
    properties: {
      command: { type: 'string', minLength: 1, maxLength: 100_000, description: 'A line for bash' },
      ...PROGRAM_INPUTS,
    },
  },
  async run(input, context) {
    // The engine reads lines as bash does, so bash it is where there is one.
    const shell = existsSync('/bin/bash') ? ['--noprofile', '--norc', '-c'] : ['-c'];
    const program = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
    return runInWorkspace({ argv: [program, ...shell, String(input.command)], input }, context);
  },
});
