import { type McpTool, READING } from '../tool.ts';

/** `list_workflows`: what can be started. */
export const listWorkflows: McpTool = {
  name: 'list_workflows',
  title: 'List workflows',
  description: 'List the workflows of this project with their parameters. Start one with start_workflow.',
  input: {},
  required: [],
  output: {
    type: 'object',
    properties: {
      workflows: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            title: { type: 'string' },
            description: { type: 'string' },
            params: { type: 'object' },
            phases: { type: ['integer', 'null'], description: 'how many' },
            dynamic: { type: 'boolean', description: 'further phases come from a source when a run starts' },
            problem: { type: 'string' },
          },
          required: ['id', 'title', 'phases'],
        },
      },
    },
    required: ['workflows'],
  },
  annotations: READING,
  alwaysLoad: true,
  async call(_args, { catalog }) {
    return { workflows: await catalog.describe() };
  },
};
