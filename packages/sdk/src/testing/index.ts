// Domains are apart from what is generated with them: they serve fuzzing and documentation as well.
export { BoundedInt, ChoiceSet, Constant } from '@phasegate/core/model';
export { type Domain, type DomainDraft, readDomain } from './domain.ts';
export { extractSchema, type SchemaOptions, type StepSchema, stepOrder } from './extractSchema.ts';
export {
  countInputs,
  type GenerateOptions,
  generateInputs,
  MOST_CASES,
  type TestInput,
} from './generateInputs.ts';
export { type MakesTests, testEveryCase } from './testEveryCase.ts';
