export { openStandards, type StandardsOptions } from './openStandards.ts';
