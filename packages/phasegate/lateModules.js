/**
 * Modules that a short command nearly never runs, though what it loads imports them. Each of these families is loaded
 * when something of it is first asked for. INVARIANT: nothing of `everyday` asks for that while it is being loaded, or
 * every command would load it; `test/startup.test.ts` looks at what commands load.
 */
const LATE = {
  /** What only some phases have: conditions, gates, items, tools, scopes; and a project's config. */
  rules: {
    'core/dist/contract': 'databases principalName signedTexts',
    'core/dist/engine':
      'before capabilities databaseMoved events failure foreignText gate gateCard gateContext gateDiff gateMeaning gateWays gateWork itemDone itemWork joining judgeTool keyMaker knownNames oneRun outsideTexts ownWork questionRelay repeatedRefusal scope stepInput time toolPolicy underWay values',
    'core/dist/model':
      'approval approvalGate capabilities checkpointPath consequences domains duration fitJson goal jsonEqual jsonFault lineDiff lines markdownHeading maskedUrl onlyWhen problems readings rulePlaces target template tools whoMay workerOf',
    'core/dist/model/expression':
      'evaluateExpression expression expressionTokens expressionTree parseExpression printExpression',
    'core/dist/model/git': 'gitOptions readGitCommand',
    'core/dist/model/glob': 'glob globsMeet',
    'core/dist/model/pattern': 'linearPattern patternProgram patternSpans patternTree patternWalk',
    'core/dist/model/schema': 'schemaFormats schemaPattern',
    'core/dist/model/shell': 'shellTokens shellWords',
    'phasegate/dist/config': 'anchorFaults faultsOf isOutside refuseUnsupported sandboxFaults serverFaults',
    'phasegate/dist/runtime':
      'changesMore judgeProtected phaseWork roles runTool shownCard toolContext treesAround',
    'phasegate/dist/runtime/feed': 'catchingUp',
    'phasegate/dist/runtime/fence': 'allowedCall callsInAudit diffAtGate heldIn keptCalls',
    'phasegate/dist/runtime/guard': 'guardedChanges guardedChecks',
    'phasegate/dist/runtime/trust': 'acceptance',
    'phasegate/dist/surfaces/cli/text':
      'describeWaiting foreignLines heldClass localPackages provenLines unacceptedText wrapped',
    'wire/dist': 'blockers fence',
  },
  /** What other commands do with runs, and what is said of a fault. */
  acts: {
    'audit/dist': 'archivedStub auditSource leaseSeal sameHumans',
    'core/dist/contract': 'importEntry isLoopbackHost ownVariables',
    'core/dist/engine': 'claim fenceAct interventions migrate override start',
    'core/dist/model': 'frontMatter hosts params unloadable',
    'core/dist/model/compile':
      'checkGraph checkNames checkOwnDecision checkTimeouts compileCheck compileCondition compileDatabase compileProperties compileVerifications',
    'core/dist/model/pattern': 'samplePattern',
    'phasegate/dist': 'namedFiles sameKeys',
    'phasegate/dist/limits': 'byTurns',
    'phasegate/dist/runtime':
      'archiveRuns calledWrongly humanKeys lateRefusal look lookingAgain mayHaveRun outlivedToken presentHuman projectTarget receipts recordings sealedKey startRun stuckRuns toldAs unknownRun untilKept watch',
    'phasegate/dist/runtime/hooks': 'sessionCalls sessionReports',
    'phasegate/dist/runtime/leases': 'unseenWork',
    'phasegate/dist/runtime/listing':
      'fileFacts hasWorkflows keptListing listingIndex places projectFiles shared sharedIds',
    'phasegate/dist/runtime/passkeys': 'assertion humanSigned',
    'phasegate/dist/runtime/tokens': 'tokenFaults',
    'phasegate/dist/runtime/webhooks': 'webhookDelivery webhookEvents',
    'phasegate/dist/stores': 'namedHumans',
    'phasegate/dist/surfaces/cli':
      'atRun auditRecords demandSandbox durationOption inWorktree letCodeIn markRun notesOn params programFromHere progress refuse required showWork',
    'phasegate/dist/surfaces/cli/commands': 'task',
    'phasegate/dist/surfaces/cli/text': 'describeJson describeServer',
    'wire/dist': 'fault limits records session sources standards started tools',
  },
};

/** The families that are loaded when something of them is first asked for, and which modules are in each. */
export const LATE_FAMILIES = Object.entries(LATE).map(([name, folders]) => {
  const paths = new Set(
    Object.entries(folders).flatMap(([folder, modules]) =>
      modules.split(' ').map((module) => `packages/${folder}/${module}.js`),
    ),
  );
  return { name, paths };
});
