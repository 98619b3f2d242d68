import { isJsonObject, type Json, type JsonObject, own, type PhaseId } from '@phasegate/core';
import { readPhaseId } from '@phasegate/core/model';
import type {
  ContractStep,
  ContractTest,
  ContractTests,
  Demands,
  Expectation,
  HumanChoice,
} from '../../runtime/ports.ts';
import { camelCase } from '../yaml/spelling.ts';
import type { YamlPath } from '../yaml/yamlTree.ts';

/** Translates a file whose shape was found right. `lineOf` says where a part of it stands. */
export function contractOf(
  value: JsonObject,
  file: string,
  lineOf: (path: YamlPath) => number,
): ContractTests {
  const params = mapOf(value.params);
  const target = textOf(value.target);
  const checks = mapOf(value.checks) as ContractTests['checks'];
  const real = value.real === true;
  const tests = (value.tests as readonly JsonObject[]).map((test, index): ContractTest => {
    const steps = (own(test, 'steps') ?? []) as readonly JsonObject[];
    return {
      name: String(test.name),
      params: { ...params, ...mapOf(test.params) },
      target: textOf(test.target) ?? target,
      checks: { ...checks, ...(mapOf(test.checks) as ContractTests['checks']) },
      real: typeof test.real === 'boolean' ? test.real : real,
      agent: (test.agent ?? null) as ContractTest['agent'],
      at: test.at === undefined ? null : phaseOf(test.at),
      choose: Object.fromEntries(
        Object.entries(mapOf(test.choose)).map(([phase, choice]) => [phase, choiceOf(choice)]),
      ),
      steps: steps.map((step, place) => stepOf(step, lineOf(['tests', index, 'steps', place]))),
      expect: test.expect === undefined ? null : endExpectation(test.expect),
    };
  });
  return {
    file,
    params,
    target,
    checks,
    real,
    tests,
    evidence: mapOf(value.evidence) as ContractTests['evidence'],
    domains: mapOf(value.domains) as ContractTests['domains'],
    skip: mapOf(value.skip) as ContractTests['skip'],
    demands: demandsOf(mapOf(value.demands)),
  };
}

function demandsOf({ gates, evidence, forbidden }: JsonObject): Demands {
  return {
    gates: Array.isArray(gates) ? gates.map((id) => String(phaseOf(id))) : [],
    evidence: mapOf(evidence) as Demands['evidence'],
    forbidden: mapOf(forbidden) as Demands['forbidden'],
  };
}

function stepOf(step: JsonObject, line: number): ContractStep {
  const expect = expectationOf(step.expect);
  const checks = mapOf(step.checks) as ContractStep['checks'];
  return { line, act: actOf(step), checks, expect };
}

function actOf({ agent, human, tool }: JsonObject): ContractStep['act'] {
  if (isJsonObject(agent)) {
    return {
      who: 'agent',
      complete: phaseOf(agent.complete),
      evidence: mapOf(agent.evidence),
      outcome: (agent.outcome ?? null) as (ContractStep['act'] & { who: 'agent' })['outcome'],
      reason: textOf(agent.reason),
      item: textOf(agent.item),
      readsTasks: spelt(agent, 'reads_tasks') !== false,
    };
  }
  if (isJsonObject(human)) {
    if (typeof human.resume === 'string') return { who: 'human', resume: human.resume };
    return { who: 'human', ...choiceOf(human) };
  }
  const use = mapOf(tool);
  return { who: 'tool', use: { tool: String(use.tool), input: mapOf(use.input) } };
}

function choiceOf(value: Json): HumanChoice {
  if (!isJsonObject(value)) return { choose: String(value), input: null, as: null };
  return { choose: String(value.choose), input: textOf(value.input), as: textOf(value.as) };
}

/** A refusal by its code is a refusal; nothing said is that it is allowed. */
function expectationOf(value: Json | undefined): Expectation {
  const given = mapOf(value);
  const code = textOf(given.code);
  return {
    allowed: typeof given.allowed === 'boolean' ? given.allowed : code === null,
    code,
    phase: given.phase === undefined || given.phase === null ? given.phase : phaseOf(given.phase),
    status: textOf(given.status),
  };
}

/** Of a whole test: where nothing is said about a refusal, its last step has said it. */
function endExpectation(value: Json): Expectation {
  const expect = expectationOf(value);
  return own(value, 'allowed') === undefined && expect.allowed === true
    ? { ...expect, allowed: null }
    : expect;
}

function phaseOf(value: Json | undefined): PhaseId {
  return typeof value === 'number' ? value : readPhaseId(String(value));
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function spelt(value: JsonObject, key: string): Json | undefined {
  return own(value, key) ?? own(value, camelCase(key));
}
