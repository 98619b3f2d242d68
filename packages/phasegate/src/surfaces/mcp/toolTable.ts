import type { McpTool } from './tool.ts';
import { askHuman } from './tools/askHuman.ts';
import { completePhase } from './tools/completePhase.ts';
import { getCurrentPhase } from './tools/getCurrentPhase.ts';
import { getPhase } from './tools/getPhase.ts';
import { getTask } from './tools/getTask.ts';
import { getWorkflowState } from './tools/getWorkflowState.ts';
import { listWorkflows } from './tools/listWorkflows.ts';
import { readMore } from './tools/readMore.ts';
import { reportBlocked } from './tools/reportBlocked.ts';
import { searchStandards } from './tools/searchStandards.ts';
import { startWorkflow } from './tools/startWorkflow.ts';

// INVARIANT: no verb here approves, answers a gate, overrides, skips or forces.
/** Every tool an agent has. The list is static: what a phase allows is judged when a tool is called. */
export const TOOLS: readonly McpTool[] = [
  listWorkflows,
  startWorkflow,
  getWorkflowState,
  getCurrentPhase,
  getPhase,
  getTask,
  completePhase,
  askHuman,
  reportBlocked,
  searchStandards,
  readMore,
];
