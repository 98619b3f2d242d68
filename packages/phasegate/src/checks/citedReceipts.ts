import type { Json } from '@phasegate/core';
import type { CheckImplementation, Receipt, RunRecord } from '../runtime/ports.ts';
import { scopePath } from './scopePath.ts';

/** Asks whether what was handed in cites receipts of programs that really ran: an agent's word is none. */
export const citedReceipts: CheckImplementation = {
  name: 'cites_receipts',
  summary: 'evidence names receipts of calls that the engine carried out or saw, in this visit of the phase',
  class: 'observed',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: {
      evidence: {
        type: 'string',
        minLength: 1,
        description:
          'The evidence that holds the ids, a text or a list of texts; `commands_executed` by default',
      },
      ok: { type: 'boolean', description: 'Whether each must have gone well; true by default' },
      same_tree: {
        type: 'boolean',
        description: 'Whether the workspace must hold what it held when each had run; false by default',
      },
      tools: {
        type: 'array',
        items: { type: 'string', minLength: 1, description: 'A tool' },
        description:
          'The tools that count, such as `bash` or `exec`; by default all, and for `commands_executed` those that run programs',
      },
    },
  },
  async run({
    with: { evidence = 'commands_executed', ok = true, same_tree = false, tools = [] },
    subject,
    record,
  }) {
    if (typeof evidence !== 'string' || !Array.isArray(tools))
      throw new TypeError('`evidence` must be a name');
    const ids = idsIn(scopePath(subject.scope, `result.${evidence}`));
    if (ids === null || ids.length === 0) {
      const reason = `\`${evidence}\` cites no receipt: give the \`receipt\` of each call, as it was answered with, or report that you are blocked`;
      return { passed: false, reason };
    }
    if (record === undefined) return { passed: false, reason: 'there is no record of this run to look into' };
    const problems: string[] = [];
    for (const id of ids.slice(0, MOST)) {
      const receipt = await record.receipt(id);
      const problem = problemOf(id, receipt, {
        ok: ok === true,
        sameTree: same_tree === true,
        tools,
        programs: evidence === 'commands_executed' && tools.length === 0,
        record,
      });
      if (problem !== null) problems.push(problem);
    }
    if (ids.length > MOST) problems.push(`more than ${MOST} receipts are cited`);
    if (problems.length > 0) return { passed: false, reason: problems.join('; ') };
    return { passed: true, reason: `${ids.length} receipts are on record` };
  },
};

interface Asked {
  readonly ok: boolean;
  readonly sameTree: boolean;
  readonly tools: readonly Json[];
  /** Whether only what ran a program counts. */
  readonly programs: boolean;
  readonly record: RunRecord;
}

function problemOf(
  id: string,
  receipt: Receipt | null,
  { ok, sameTree, tools, programs, record }: Asked,
): string | null {
  const named = `\`${id.slice(0, 100)}\``;
  if (receipt === null) return `${named} is not the id of a receipt of this run`;
  if (receipt.epoch !== record.epoch) return `${named} is of an earlier visit of a phase`;
  // Items of one phase share its epoch: what another did for its own is not what was done for this one.
  const { item } = record;
  if (item !== null && receipt.agent !== item.agent) return `${named} is of the agent \`${receipt.agent}\``;
  if (item !== null && receipt.item !== undefined && receipt.item !== item.key)
    return `${named} is of the item \`${receipt.item}\``;
  if (programs && !PROGRAMS.test(receipt.tool))
    return `${named} is of \`${receipt.tool}\`, which runs no command`;
  if (tools.length > 0 && !tools.includes(receipt.tool)) return `${named} is of \`${receipt.tool}\``;
  if (ok && !receipt.ok) return `${named} says that it failed (exit code ${receipt.exit_code})`;
  if (sameTree && (receipt.tree === null || receipt.tree !== record.state))
    return `${named} is void: the workspace is not what it was when that ran`;
  return null;
}

/** Tools of the gate that run programs, `phasegate exec`, and what the engine ran for a check. */
const PROGRAMS = /^(?:bash|git|exec|check:(?:command|tests))$/;

function idsIn(value: Json | undefined): readonly string[] | null {
  const list: readonly Json[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.every((one): one is string => typeof one === 'string') ? list : null;
}

const MOST = 100;
