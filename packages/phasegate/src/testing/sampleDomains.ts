import type { Json, Param, Workflow } from '@phasegate/core';
import { ChoiceSet } from '@phasegate/core/model';
import type { Domain } from '@phasegate/sdk/testing';

/** A few values for each param that can be anything and that nobody has named values for. */
export function sampleDomains(
  { params }: Workflow,
  named: Readonly<Record<string, Domain>>,
): Readonly<Record<string, Domain>> {
  const open = Object.entries(params).filter(([name, param]) => !Object.hasOwn(named, name) && isOpen(param));
  return Object.fromEntries(open.map(([name, param]) => [name, new ChoiceSet(samplesOf(param))]));
}

/** Where a text can be anything, so can what is written in it: a plain one, and one with what shells and paths trip over. */
const TEXTS: readonly Json[] = ['sample', 'a "sample", of two words'];

function isOpen({ type, domain }: Param): boolean {
  return type !== 'boolean' && (domain === null || domain.kind === 'range');
}

function samplesOf(param: Param): readonly Json[] {
  const samples = SAMPLES[param.type](param);
  const given = param.default === undefined ? [] : [param.default];
  const all = [...given, ...samples].map((value) => JSON.stringify(value));
  return [...new Set(all)].map((text) => JSON.parse(text) as Json);
}

const SAMPLES: Readonly<Record<Param['type'], (param: Param) => readonly Json[]>> = {
  string: () => TEXTS,
  integer: ({ domain }) => numbersIn(domain),
  number: ({ domain }) => numbersIn(domain),
  boolean: () => [true, false],
  list: () => [[], ['sample']],
  object: () => [{}],
};

/** The ends of a range, or of an open one a number on either side of its end. */
function numbersIn(domain: Param['domain']): readonly Json[] {
  const { min, max } = domain?.kind === 'range' ? domain : { min: null, max: null };
  if (min !== null && max !== null) return [min, max];
  if (min !== null) return [min, min + 1];
  return max === null ? [0, 1] : [max - 1, max];
}
