export * from './fence.ts';
export * from './records.ts';
export * from './refusals.ts';
export * from './runs.ts';
export * from './tasks.ts';
export * from './tools.ts';
export * from './values.ts';
export * from './watching.ts';
