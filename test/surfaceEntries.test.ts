// What the inner packages export, as literals. A red pin means "say so in the changelog", not "loosen the pin".
import * as core from '@phasegate/core';
import * as coreContract from '@phasegate/core/contract';
import * as coreEngine from '@phasegate/core/engine';
import * as coreModel from '@phasegate/core/model';
import * as corePorts from '@phasegate/core/ports';
import * as coreStoreContract from '@phasegate/core/store-contract';
import * as markdown from '@phasegate/markdown';
import * as markdownTasksMd from '@phasegate/markdown/tasks-md';
import * as proofs from '@phasegate/proofs';
import * as search from '@phasegate/search';
import { expect, test } from 'vitest';

test('@phasegate/core exports exactly these values', () => {
  expect(Object.keys(core).sort()).toEqual([
    'ERROR_CODES',
    'OUTCOMES',
    'PhasegateError',
    'apply',
    'canonicalJson',
    'checksFor',
    'checksForStart',
    'decide',
    'decideOrLook',
    'decideStart',
    'defineWorkflow',
    'fold',
    'isJsonObject',
    'judgeTool',
    'own',
    'phaseById',
    'viewFor',
  ]);
});

test('@phasegate/core/engine exports exactly these values', () => {
  expect(Object.keys(coreEngine).sort()).toEqual([
    'LARGEST_RECORDING',
    'QUESTION_RELAY_HANDLER',
    'RECORDING_VERSION',
    'RUN_EVENT_TYPES',
    'SUB_AGENT_QUESTION_FORMAT',
    'addSeconds',
    'apply',
    'artifactsOf',
    'begin',
    'canAccessPhase',
    'canClaim',
    'capabilitiesNeeded',
    'capabilityBlocker',
    'checkpointOf',
    'checksFor',
    'checksForStart',
    'claimability',
    'completedPhases',
    'constraintOn',
    'databaseOf',
    'decide',
    'decideOrLook',
    'decideStart',
    'denyRulesOf',
    'dependsOnWorkflow',
    'eventOfRecord',
    'evidenceProblems',
    'findPhase',
    'fold',
    'forAnyone',
    'freeItem',
    'gateCard',
    'gateDueAt',
    'goalAuthor',
    'goalOf',
    'goalText',
    'holds',
    'holdsAnItem',
    'isGuardedIn',
    'isParked',
    'isRunEvent',
    'itemsFor',
    'judgeTool',
    'judgedInput',
    'knownNames',
    'mayTouch',
    'mayWrite',
    'nextActionFor',
    'openItems',
    'outcomeOf',
    'overviewOf',
    'phaseAnswer',
    'phaseText',
    'previousAttempt',
    'progressOf',
    'quoteRest',
    'readRecording',
    'recorded',
    'recordedRefusal',
    'refuseUnderWay',
    'requiredEvidence',
    'resumeContextOf',
    'rulesAgainst',
    'runInTheWay',
    'scopeFor',
    'secondsBetween',
    'skippedPhase',
    'stepInputFor',
    'taskText',
    'timesOf',
    'validateCheckpoint',
    'valueAt',
    'viewFor',
    'whyContested',
    'withoutRecording',
  ]);
});

test('@phasegate/core/model exports exactly these values', () => {
  expect(Object.keys(coreModel).sort()).toEqual([
    'BoundedInt',
    'CAPABILITY',
    'CHECK_SEVERITIES',
    'CONTRACT_TOOLS',
    'ChoiceSet',
    'Constant',
    'DEFAULT_VISITS',
    'DEPTH_LIMIT',
    'ERROR_CODES',
    'EVIDENCE_CLASSES',
    'EVIDENCE_LIMIT',
    'EVIDENCE_RULES',
    'GOAL_LIMIT',
    'GRAPH_CODES',
    'GUARDED_PATHS',
    'KeptValues',
    'LEASE_SECONDS',
    'Lines',
    'MAX_RECLAIMS',
    'ONE_RUN_PER',
    'OUTCOMES',
    'PhasegateError',
    'RINGS',
    'Readings',
    'SCOPE_ROOTS',
    'WHOLE_CODES',
    'WRITING_TOOLS',
    'approvalGate',
    'approvalOf',
    'approvingTargets',
    'asideRanges',
    'asksHuman',
    'canonicalJson',
    'compileGlob',
    'compileSchema',
    'coveredBy',
    'coversTool',
    'declaredNames',
    'defineWorkflow',
    'didYouMean',
    'domainOf',
    'edgesOf',
    'evaluate',
    'fencedJson',
    'fillTemplate',
    'fitJson',
    'frontMatterOf',
    'globProblem',
    'goalProblem',
    'graphOf',
    'guardOf',
    'hasFreeResult',
    'isCapability',
    'isGuardedFolder',
    'isJsonObject',
    'isOwned',
    'isToolName',
    'isWithin',
    'jsonBytes',
    'jsonEqual',
    'jsonFault',
    'jsonProblem',
    'leadsBack',
    'linesOf',
    'markdownHeading',
    'matchCommand',
    'matchGlob',
    'nameIn',
    'normaliseGoal',
    'oneLine',
    'own',
    'paramProblem',
    'parseCommandLine',
    'parseExpression',
    'pathsOf',
    'phaseById',
    'placeholdersIn',
    'readParams',
    'readPhaseId',
    'reasonOf',
    'replaceUnseen',
    'sameTarget',
    'samplePattern',
    'sampleValue',
    'schemaAt',
    'segmentsOfGlob',
    'shellWord',
    'successorsOf',
    'suggest',
    'systemReason',
    'targetKey',
    'targetProblem',
    'targetWithin',
    'tooDeep',
    'unloadable',
    'unseenAsJson',
    'waysOf',
    'wordsOn',
    'workerOf',
  ]);
});

test('@phasegate/core/ports exports exactly these values', () => {
  expect(Object.keys(corePorts).sort()).toEqual([]);
});

test('@phasegate/core/contract exports exactly these values', () => {
  expect(Object.keys(coreContract).sort()).toEqual([
    'DEPTH_LIMIT',
    'EVIDENCE_LIMIT',
    'LARGEST_FILE',
    'LEAST_PASSPHRASE',
    'LONGEST_PASSPHRASE',
    'REQUEST_LIMIT',
    'RUN_STATUSES',
    'UNFINISHED_STATUSES',
    'decisionText',
    'isLoopbackHost',
    'isOwnVariable',
    'isPrincipalName',
    'kindOf',
    'trustText',
  ]);
});

test('@phasegate/core/store-contract exports exactly these values', () => {
  expect(Object.keys(coreStoreContract).sort()).toEqual([
    'afterDraft',
    'create',
    'requireStored',
    'sampleAgent',
    'sampleDraft',
    'sampleLease',
    'sampleWebhook',
    'sampleWorkflow',
    'samplesWith',
    'startedEvent',
    'storeContract',
  ]);
});

test('@phasegate/proofs exports exactly these values', () => {
  expect(Object.keys(proofs).sort()).toEqual([
    'DEFAULT_BOUNDS',
    'DEFAULT_STEPS',
    'FLIPS',
    'REPLAY_KINDS',
    'RateCounter',
    'checkWorkflow',
    'coverables',
    'coverageByKind',
    'coverageCount',
    'coverageOf',
    'markCoverage',
    'provesReachable',
    'rateProblems',
    'ratesFrom',
    'recordedSteps',
    'replayRun',
    'simulate',
    'startCoverage',
  ]);
});

test('@phasegate/search exports exactly these values', () => {
  expect(Object.keys(search).sort()).toEqual(['openStandards']);
});

test('@phasegate/markdown exports exactly these values', () => {
  expect(Object.keys(markdown).sort()).toEqual(['createMarkdownLoader']);
});

test('@phasegate/markdown/tasks-md exports exactly these values', () => {
  expect(Object.keys(markdownTasksMd).sort()).toEqual(['createSourceParsers']);
});
