// The model: what a workflow is, and the plain values it is made of.

export { ERROR_CODES, type ErrorCode, PhasegateError, type Problem, type Unaccepted } from './errors.ts';
export {
  canonicalJson,
  DEPTH_LIMIT,
  EVIDENCE_LIMIT,
  halfPairIn,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonBytes,
  jsonProblem,
  own,
  tooDeep,
} from './json.ts';
export { approvalOf, approvingTargets } from './model/approval.ts';
export { approvalGate, asksHuman } from './model/approvalGate.ts';
export { CAPABILITY, CAPABILITY_FORM, isCapability } from './model/capabilities.ts';
export { DEFAULT_VISITS } from './model/compile/checkGraph.ts';
export type { Known } from './model/compile/compileContext.ts';
export { GRAPH_CODES, WHOLE_CODES } from './model/consequences.ts';
export { type Defined, defineWorkflow, readPhaseId } from './model/defineWorkflow.ts';
export { BoundedInt, ChoiceSet, Constant, domainOf } from './model/domains.ts';
export type {
  ArtifactDraft,
  CheckDraft,
  DraftProblem,
  GateDraft,
  KnownCheck,
  ParamDraft,
  PhaseDraft,
  PropertyDraft,
  RouteDraft,
  WorkflowDraft,
} from './model/draft.ts';
export { parseDuration } from './model/duration.ts';
export { type Edge, edgesOf, leadsBack, successorsOf } from './model/edges.ts';
export type { Expression, ExpressionError, Scope } from './model/expression/expression.ts';
export { evaluate, parseExpression, pathsOf, SCOPE_ROOTS } from './model/expression/expression.ts';
export { type FittedJson, fitJson } from './model/fitJson.ts';
export { type FrontMatterPlace, frontMatterOf } from './model/frontMatter.ts';
export { type GitCommand, type GitWords, readGitCommand } from './model/git/readGitCommand.ts';
export { compileGlob, globProblem, matchGlob, segmentsOfGlob } from './model/glob/glob.ts';
export { GOAL_LIMIT, goalProblem, normaliseGoal } from './model/goal.ts';
export {
  type GraphCheck,
  type GraphCoverage,
  type GraphEdge,
  type GraphNode,
  graphOf,
  type NodeCoverage,
  type NodeStatus,
  type RunPlace,
  type TimesSeen,
  type Way,
  type WorkflowGraph,
  waysOf,
  wordsOn,
} from './model/graph.ts';
export {
  GUARDED_PATHS,
  guardOf,
  isClientSettings,
  isDefinition,
  isGuardedFolder,
  isInHome,
} from './model/guardedPaths.ts';
export { hostProblem } from './model/hosts.ts';
export { jsonEqual } from './model/jsonEqual.ts';
export { jsonFault } from './model/jsonFault.ts';
export { type DiffLine, lineDiff } from './model/lineDiff.ts';
export { Lines } from './model/lines.ts';
export { markdownHeading } from './model/markdownHeading.ts';
export { maskedUrl } from './model/maskedUrl.ts';
export { MASK, maskOf } from './model/masks.ts';
export { firstProblems, MOST_PROBLEMS } from './model/mostProblems.ts';
export { coveredBy, declaredNames, hasFreeResult, isOwned, nameIn } from './model/names.ts';
export { fencedJson, linesOf, oneLine, replaceUnseen, shellWord, unseenAsJson } from './model/oneLine.ts';
export { paramProblem, readParams } from './model/params.ts';
export { type CompiledPattern, compilePattern, type LinearPattern } from './model/pattern/linearPattern.ts';
export type { Span } from './model/pattern/patternSpans.ts';
export type { StepsLeft } from './model/pattern/patternWalk.ts';
export { samplePattern } from './model/pattern/samplePattern.ts';
export { KeptValues, Readings } from './model/readings.ts';
export { attachmentOf, holdsRing, isIsolated, isolatedWith } from './model/rings.ts';
export { placeOfRule, type Rule, type RulePlaces, rulePlaces } from './model/rulePlaces.ts';
export { compileSchema, type SchemaDefect, type SchemaProblem } from './model/schema/jsonSchema.ts';
export { sampleValue, schemaAt } from './model/schema/sampleValue.ts';
export { matchCommand, parseCommandLine } from './model/shell/shellWords.ts';
export { didYouMean, suggest, unknownKey } from './model/suggest.ts';
export { reasonOf, type SystemReason, systemReason } from './model/systemReason.ts';
export { sameTarget, targetKey, targetProblem, targetWithin } from './model/target.ts';
export { asideRanges, fillTemplate, isWithin, placeholdersIn, type TextRange } from './model/template.ts';
export {
  CONTRACT_TOOLS,
  coversTool,
  isToolName,
  PATH_TOOLS,
  READING_TOOLS,
  WRITING_TOOLS,
} from './model/tools.ts';
export { unloadable } from './model/unloadable.ts';
export { workerOf } from './model/workerOf.ts';
export {
  type Artifact,
  type Attachment,
  CHECK_SEVERITIES,
  type Check,
  type CheckSeverity,
  type Condition,
  type Content,
  type Enforcement,
  EVIDENCE_CLASSES,
  EVIDENCE_RULES,
  type EvidenceClass,
  type EvidenceField,
  type EvidenceRule,
  type EvidenceRules,
  type FunctionRef,
  type GateOption,
  type GateTimeout,
  type HumanGate,
  LEASE_SECONDS,
  MAX_RECLAIMS,
  type Mode,
  ONE_RUN_PER,
  type OneRunPer,
  OUTCOMES,
  type Outcome,
  type Parallel,
  type Param,
  type ParamDomain,
  type Phase,
  type PhaseId,
  type Property,
  type PropertySubject,
  phaseById,
  REPORTED_OUTCOMES,
  RINGS,
  type Ring,
  type Route,
  type Target,
  type Task,
  type Templates,
  type ToolConstraint,
  type ToolPolicy,
  WORKSPACE_USES,
  type Work,
  type Workflow,
  type WorkflowDatabase,
  type WorkspaceUse,
} from './model/workflow.ts';
export { isWorkflowId, notAnId } from './model/workflowId.ts';
