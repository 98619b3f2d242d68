import { isJsonObject, type Json, type JsonObject, own, type Workflow } from '@phasegate/core';
import { CONTRACT_TOOLS, didYouMean, isToolName, readPhaseId } from '@phasegate/core/model';
import type { YamlPath } from '../yaml/yamlTree.ts';

/** Something that is not as the workflow has it, and where. */
export interface Meaning {
  readonly at: YamlPath;
  readonly key: boolean;
  readonly code: string;
  readonly message: string;
}

/** Names that the workflow does not have, values without end, and tests of one name. */
export function meaningProblems(value: JsonObject, workflow: Workflow): readonly Meaning[] {
  const found: Meaning[] = [];
  const say = (at: YamlPath, code: string, message: string, key = false) =>
    void found.push({ at, key, code, message });
  const phases = new Set<string>(workflow.phases.map(({ id }) => String(id)));
  const phase = (name: unknown, at: YamlPath, key = false) => {
    if (
      (typeof name !== 'string' && typeof name !== 'number') ||
      phases.has(String(readPhaseId(String(name))))
    )
      return;
    say(at, 'unknown_phase', `there is no phase \`${name}\`${didYouMean(String(name), [...phases])}`, key);
  };
  // The phases of a dynamic workflow are known only once a run has read its source.
  const open = workflow.templates !== null;
  const params = Object.keys(workflow.params);
  const labels = new Set(workflow.phases.flatMap(checkNames));
  const checks = (map: Json | undefined, at: YamlPath) => {
    for (const name of Object.keys(isJsonObject(map) ? map : {})) {
      if (labels.has(name) || open) continue;
      say(
        [...at, name],
        'unknown_check',
        `there is no check \`${name}\`${didYouMean(name, [...labels])}`,
        true,
      );
    }
  };
  const given = (map: Json | undefined, at: YamlPath) => {
    for (const name of Object.keys(isJsonObject(map) ? map : {})) {
      if (params.includes(name)) continue;
      say([...at, name], 'unknown_param', `there is no param \`${name}\`${didYouMean(name, params)}`, true);
    }
  };
  const keys = (map: Json | undefined, at: YamlPath) => {
    for (const name of open || !isJsonObject(map) ? [] : Object.keys(map)) phase(name, [...at, name], true);
  };
  given(value.params, ['params']);
  given(value.domains, ['domains']);
  keys(value.evidence, ['evidence']);
  keys(value.skip, ['skip']);
  checks(value.checks, ['checks']);
  domainProblems(value.domains, say);
  demandProblems(value, { say, phase: (name, at, key) => (open ? undefined : phase(name, at, key)) });
  const names = new Set<string>();
  listOf(value.tests).forEach((test, index) => {
    const at = ['tests', index];
    const name = String(own(test, 'name'));
    if (names.has(name)) say([...at, 'name'], 'duplicate_test', `there are two tests \`${name}\``);
    names.add(name);
    given(own(test, 'params'), [...at, 'params']);
    checks(own(test, 'checks'), [...at, 'checks']);
    keys(own(test, 'choose'), [...at, 'choose']);
    if (!open) choiceProblems(own(test, 'choose'), { workflow, say, at: [...at, 'choose'] });
    if (!open) phase(own(test, 'at'), [...at, 'at']);
    if (!open) phase(own(own(test, 'expect'), 'phase'), [...at, 'expect', 'phase']);
    listOf(own(test, 'steps')).forEach((step, place) => {
      const here = [...at, 'steps', place];
      checks(own(step, 'checks'), [...here, 'checks']);
      if (open) return;
      phase(own(own(step, 'agent'), 'complete'), [...here, 'agent', 'complete']);
      optionProblems(step, { workflow, say, at: here });
      phase(own(own(step, 'expect'), 'phase'), [...here, 'expect', 'phase']);
    });
  });
  return found;
}

interface Saying {
  say(at: YamlPath, code: string, message: string, key?: boolean): void;
  phase(name: unknown, at: YamlPath, key?: boolean): void;
}

interface Choosing {
  readonly workflow: Workflow;
  readonly at: YamlPath;
  readonly say: Saying['say'];
}

/** What a human is to choose at the gate of a phase must be one of its options. */
function choiceProblems(map: Json | undefined, { workflow, say, at }: Choosing): void {
  for (const [id, choice] of Object.entries(isJsonObject(map) ? map : {})) {
    const phase = workflow.phases.find((candidate) => String(candidate.id) === String(readPhaseId(id)));
    if (phase === undefined) continue;
    if (phase.humanGate === null) {
      say([...at, id], 'no_gate', `phase \`${id}\` has no human gate to choose at`, true);
      continue;
    }
    const label = isJsonObject(choice) ? own(choice, 'choose') : choice;
    const place = isJsonObject(choice) ? [...at, id, 'choose'] : [...at, id];
    if (typeof label === 'string')
      sayOption(label, labelsOf([phase]), (message) => say(place, 'unknown_option', message));
  }
}

/** A step that expects to be refused may choose what is not there. */
function optionProblems(step: Json, { workflow, say, at }: Choosing): void {
  const label = own(own(step, 'human'), 'choose');
  const expect = own(step, 'expect');
  if (typeof label !== 'string' || own(expect, 'code') !== undefined || own(expect, 'allowed') === false)
    return;
  const place = [...at, 'human', 'choose'];
  sayOption(label, labelsOf(workflow.phases), (message) => say(place, 'unknown_option', message));
}

function sayOption(label: string, labels: readonly string[], say: (message: string) => void): void {
  if (!labels.includes(label)) say(`there is no option \`${label}\`${didYouMean(label, labels)}`);
}

function labelsOf(phases: Workflow['phases']): readonly string[] {
  return phases.flatMap(({ humanGate }) => (humanGate?.options ?? []).map(({ label }) => label));
}

/** Values to try must come to an end. */
function domainProblems(domains: Json | undefined, say: Saying['say']): void {
  for (const [name, draft] of Object.entries(isJsonObject(domains) ? domains : {})) {
    const { min, max } = isJsonObject(draft) ? draft : {};
    if (own(draft, 'choices') !== undefined || own(draft, 'constant') !== undefined) continue;
    if (typeof min !== 'number' || typeof max !== 'number') {
      const message = `the values of \`${name}\` have no end: give \`choices\`, \`min\` and \`max\`, or a \`constant\``;
      say(['domains', name], 'endless_domain', message, true);
    } else if (min > max) {
      say(['domains', name], 'empty_domain', `\`${name}\` has no value from ${min} to ${max}`, true);
    }
  }
}

/** A demand on what is not there would always hold. */
function demandProblems(value: JsonObject, { say, phase }: Saying): void {
  const demands = own(value, 'demands');
  listOf(own(demands, 'gates')).forEach((id, index) => void phase(id, ['demands', 'gates', index]));
  for (const kind of ['evidence', 'forbidden']) {
    const map = own(demands, kind);
    for (const [id, names] of Object.entries(isJsonObject(map) ? map : {})) {
      phase(id, ['demands', kind, id], true);
      listOf(names).forEach((name, index) => {
        if (typeof name !== 'string') return;
        const at = ['demands', kind, id, index];
        const given = own(own(value, 'evidence'), id);
        if (kind === 'evidence' && own(given, name) === undefined) {
          const known = Object.keys(isJsonObject(given) ? given : {});
          const message = `\`evidence\` of \`${id}\` has no \`${name}\` to be left out${didYouMean(name, known)}`;
          say(at, 'unknown_evidence', message);
        }
        if (kind === 'forbidden' && !isToolName(name)) {
          say(at, 'unknown_tool', `there is no tool \`${name}\`${didYouMean(name, CONTRACT_TOOLS)}`);
        }
      });
    }
  }
}

function checkNames({
  preconditions,
  postconditions,
  blockers,
}: Workflow['phases'][number]): readonly string[] {
  return [...preconditions, ...postconditions, ...blockers].flatMap(({ id, label }) => [id, label]);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
