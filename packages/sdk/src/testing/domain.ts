import type { Json, Param } from '@phasegate/core';
import { BoundedInt, ChoiceSet, Constant, type ParamDraft } from '@phasegate/core/model';

/** The values a param may take: finite, in order, frozen. */
export type Domain = BoundedInt | ChoiceSet | Constant;

/** A domain as plain data: the words of a param that say which values there are. */
export type DomainDraft = Pick<ParamDraft, 'type' | 'choices' | 'min' | 'max' | 'constant'>;

/** The domain of a param as written, or null where it has no end. */
export function readDomain(draft: DomainDraft): Domain | null {
  if (draft.constant !== undefined) return new Constant(draft.constant);
  if (draft.choices !== undefined) return new ChoiceSet(draft.choices);
  if (draft.type === 'boolean') return new ChoiceSet([true, false]);
  const { min, max } = draft;
  if (draft.type === 'number' || min === undefined || max === undefined) return null;
  return Number.isSafeInteger(min) && Number.isSafeInteger(max) ? new BoundedInt(min, max) : null;
}

/** The domain of a compiled param, or null where it has no end. */
export function domainOfParam({ type, domain }: Param): Domain | null {
  switch (domain?.kind) {
    case 'bounded_int':
      return new BoundedInt(domain.lo, domain.hi);
    case 'choice_set':
      return new ChoiceSet(domain.choices);
    case 'constant':
      return new Constant(domain.value);
    default:
      return readDomain({ type });
  }
}

/** How many values a domain has, without making them. */
export function sizeOf(domain: Domain): number {
  if (domain instanceof BoundedInt) return domain.hi - domain.lo + 1;
  return domain instanceof ChoiceSet ? domain.choices.length : 1;
}

/** The values of a domain that are among some others. */
export function within(domain: Domain, values: readonly Json[]): Domain | null {
  const texts = new Set(values.map((value) => JSON.stringify(value)));
  // A value outside an open range of integers is found without walking through it.
  const kept =
    domain instanceof BoundedInt
      ? values.filter((value) => typeof value === 'number' && value >= domain.lo && value <= domain.hi)
      : [...domain].filter((value) => texts.has(JSON.stringify(value)));
  return kept.length === 0 ? null : new ChoiceSet(kept);
}
