export { type Activity, type AgentActivity, type Denial, encodeActivity } from './activity.ts';
export { encodeRunMap, encodeScope } from './runMap.ts';
export type * from './watched.ts';
export { encodeGlance, encodeInboxItem, lineHolds } from './watched.ts';
export {
  encodeWorkflowPage,
  type PhaseRecord,
  recordOfPhases,
  type WorkflowPage,
} from './workflowPage.ts';
