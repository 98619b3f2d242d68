import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { approveOr, idFrom, nameIn, type PhaseDraft, type WorkflowDraft } from '../draft.ts';
import { at, inBrackets, type KeyLedger, others, type Spot, textOf } from '../keyLedger.ts';
import { type Artifacts, blockersFor } from './checks.ts';
import { importGates } from './gates.ts';
import { headOf, phaseAt } from './head.ts';
import { importTools } from './tools.ts';

/** Reads a file beside the source; undefined where it is not there. */
export type ReadBeside = (path: string) => Promise<Json | undefined>;

/** Imports an `agent_workflow.yaml` of workflow-orchestrator: phases with artifacts, gates and tools, and transitions. */
export async function importContract(ledger: KeyLedger, beside: ReadBeside): Promise<WorkflowDraft> {
  const { root } = ledger;
  const draft = headOf(root, ledger);
  for (const key of ['task', 'language', 'test_framework', 'test_command']) {
    ledger.leftOut(at(root, key), 'says what one task was about, not how work goes on');
  }
  const schemas = new Map<string, Json>();
  for (const spot of ledger.list(at(root, 'phases'))) {
    draft.phases.push(await importPhase(spot, draft, { ledger, beside, schemas }));
  }
  if (draft.phases.length === 0) {
    throw ledger.refusal(at(root, 'phases'), 'there is no phase', 'a contract has a list `phases`');
  }
  for (const spot of others(at(root, 'schemas'), [])) {
    const used = schemas.has(String(spot.path.at(-1)));
    if (used) ledger.mapped(spot, 'schemas');
    else ledger.leftOut(spot, 'no artifact uses it');
  }
  ledger.leftOut(at(root, 'schemas_dir'), 'schemas stand in the contract itself');
  if (schemas.size > 0) draft.head.schemas = Object.fromEntries(schemas);
  importTransitions(draft, ledger);
  importEnforcement(draft, ledger);
  ledger.leftOut(at(root, 'coordination'), 'the engine keeps state, events and locks itself');
  return draft;
}

interface Reading {
  readonly ledger: KeyLedger;
  readonly beside: ReadBeside;
  readonly schemas: Map<string, Json>;
}

async function importPhase(spot: Spot, draft: WorkflowDraft, reading: Reading): Promise<PhaseDraft> {
  const { ledger } = reading;
  const phase = phaseAt(spot, draft, ledger);
  const artifacts = ledger.list(at(spot, 'required_artifacts'));
  const before = draft.phases.flatMap((one) => one.artifacts.map(({ type }) => type));
  const types = new Map(
    artifacts.flatMap((artifact) => {
      const type = textOf(at(artifact, 'type')) ?? textOf(artifact);
      if (type === undefined) return [];
      const plain = type.replace(/[^A-Za-z0-9_]+/g, '_');
      return [[type, before.includes(plain) ? nameIn(phase.id, plain) : plain] as const];
    }),
  );
  for (const artifact of artifacts) await importArtifact(artifact, phase, { ...reading, types });
  importGates(spot, phase, { ledger, types });
  importTools(phase, spot, ledger);
  for (const one of ledger.list(at(spot, 'auto_spawn'))) {
    const kind = textOf(at(one, 'agent_type')) ?? 'other';
    phase.confirm.push(`agents of type ${kind} did their part${inBrackets(others(one, ['agent_type']))}`);
    ledger.human(one, 'no agents are started by a phase here: a human confirms that they did their part');
  }
  return phase;
}

async function importArtifact(
  spot: Spot,
  phase: PhaseDraft,
  { ledger, beside, schemas, types }: Reading & { readonly types: Artifacts },
): Promise<void> {
  const type = textOf(at(spot, 'type')) ?? textOf(spot);
  if (type === undefined)
    throw ledger.refusal(spot, 'an artifact has no `type`', 'give every artifact a type');
  const description = textOf(at(spot, 'description'));
  const named = textOf(at(spot, 'schema'));
  const ours = types.get(type) ?? type;
  const artifact: Record<string, Json> = { type: ours };
  if (named !== undefined) {
    const found = await schemaFor(named, ledger, beside);
    if (found === undefined) {
      throw ledger.refusal(
        at(spot, 'schema'),
        `schema \`${named}\` is neither under \`schemas\` nor a file beside the source`,
        'add the schema, or take the line out if any value will do',
      );
    }
    schemas.set(found.name, found.schema);
    artifact.schema = found.name;
  }
  if (description !== undefined) artifact.description = description;
  phase.artifacts.push(artifact as JsonObject);
  ledger.mapped(
    at(spot, 'type'),
    ours === type ? 'required_artifacts' : `required_artifacts, named \`${ours}\``,
  );
  ledger.mapped(at(spot, 'schema'), 'required_artifacts.schema');
  ledger.mapped(at(spot, 'description'), 'required_artifacts.description');
  for (const rule of ledger.list(at(spot, 'validation'))) importRule(rule, phase, { ledger, types });
}

function importRule(
  spot: Spot,
  phase: PhaseDraft,
  { ledger, types }: { readonly ledger: KeyLedger; readonly types: Artifacts },
): void {
  const rule = textOf(at(spot, 'rule')) ?? textOf(spot) ?? 'a rule without a name';
  const message = textOf(at(spot, 'message')) ?? rule;
  const ours = others(spot, ['rule', 'message']).length === 0 ? blockersFor(rule, types) : null;
  if (ours !== null) {
    phase.blockers.push(...ours.map((one) => ({ ...one, message })));
    ledger.mapped(spot, 'gate.blockers');
    return;
  }
  phase.confirm.push(`${message}${inBrackets(others(spot, ['rule', 'message']))}`);
  ledger.human(spot, 'a rule that only its name describes: a human confirms it');
}

async function schemaFor(
  named: string,
  ledger: KeyLedger,
  beside: ReadBeside,
): Promise<{ readonly name: string; readonly schema: Json } | undefined> {
  const stem = named.split('/').at(-1) ?? named;
  const inPlace = own(ledger.root.value, 'schemas');
  const name = [named, stem].find((key) => own(inPlace, key) !== undefined);
  if (name !== undefined) return { name, schema: own(inPlace, name) as Json };
  const folder = textOf(at(ledger.root, 'schemas_dir')) ?? '.orchestrator/schemas';
  for (const path of [named, `${folder}/${stem}`, `.orchestrator/schemas/${stem}`]) {
    const schema = await beside(path);
    if (isJsonObject(schema) || typeof schema === 'boolean') return { name: stem, schema };
  }
  return undefined;
}

function importTransitions(draft: WorkflowDraft, ledger: KeyLedger): void {
  const list = at(ledger.root, 'transitions');
  if (list.value === undefined) return;
  const ids = draft.phases.map(({ id }) => id);
  const ahead = new Map<string, string>();
  const back = new Map<string, string[]>();
  for (const spot of ledger.list(list)) {
    const [from, to] = ['from', 'to'].map((key) => idFrom(textOf(at(spot, key)) ?? ''));
    if (from === undefined || to === undefined || !ids.includes(from) || !ids.includes(to)) {
      throw ledger.refusal(spot, 'a transition names a phase that is not there', 'correct `from` and `to`');
    }
    const gate = at(spot, 'gate');
    const own = ledger.list(at(ledger.root, 'phases'))[ids.indexOf(from)];
    const gates = own === undefined ? [] : ledger.list(at(own, 'gates')).map((one) => textOf(at(one, 'id')));
    if (gate.value !== undefined && !gates.includes(textOf(gate))) {
      throw ledger.refusal(
        gate,
        `\`${textOf(gate)}\` is not a gate of phase \`${from}\``,
        'move the gate to that phase',
      );
    }
    if (ids.indexOf(to) > ids.indexOf(from)) {
      if (ahead.has(from)) {
        throw ledger.refusal(
          spot,
          `phase \`${from}\` leads to two later phases`,
          'split the file: who chooses is not said',
        );
      }
      ahead.set(from, to);
    } else back.set(from, [...(back.get(from) ?? []), to]);
    ledger.mapped(at(spot, 'from'), 'next');
    ledger.mapped(at(spot, 'to'), 'next');
    ledger.mapped(gate, 'gate');
    ledger.mapped(at(spot, 'requires_token'), 'every transition needs the phase token');
    ledger.leftOut(at(spot, 'triggers'), 'a transition starts nothing here; webhooks tell others of it');
  }
  for (const phase of draft.phases) {
    phase.next = ahead.get(phase.id) ?? null;
    const ways = (back.get(phase.id) ?? []).filter((to) => to !== phase.id);
    if (ways.length === 0) continue;
    if (phase.approvals.length === 0) phase.approvals.push(`Go on from ${phase.name}, or back?`);
    phase.options = approveOr(
      phase.id,
      ways.map((to) => ({ label: `Back to ${to}`, next: to, requires_input: true })),
    );
  }
}

function importEnforcement(draft: WorkflowDraft, ledger: KeyLedger): void {
  const spot = at(ledger.root, 'enforcement');
  const mode = textOf(at(spot, 'mode'));
  const strict = mode === undefined || mode === 'strict';
  const enforcement: Record<string, Json> = { mode: 'strict' };
  if (strict) ledger.mapped(at(spot, 'mode'), 'enforcement.mode');
  else
    ledger.leftOut(
      at(spot, 'mode'),
      'an import is strict; set `enforcement.mode` yourself once you know it holds',
    );
  const tokens = at(spot, 'phase_tokens');
  const seconds = at(tokens, 'expiry_seconds');
  if (typeof seconds.value === 'number' && seconds.value >= 60 && seconds.value <= 86_400) {
    enforcement.phase_tokens = { expiry_seconds: Math.floor(seconds.value) };
    ledger.mapped(seconds, 'enforcement.phase_tokens.expiry_seconds');
  } else ledger.leftOut(seconds, 'a token lives from 60 to 86400 seconds; the default is 7200');
  for (const one of others(tokens, ['expiry_seconds'])) {
    ledger.leftOut(one, 'tokens are always on; how they are signed and what they hold is the engine’s');
  }
  ledger.leftOut(at(spot, 'agent_sdk'), 'agents are attached by MCP, the API or the command line');
  ledger.leftOut(
    at(spot, 'tool_enforcement'),
    'tools are always refused unless allowed, and always recorded',
  );
  draft.head.enforcement = enforcement;
}
