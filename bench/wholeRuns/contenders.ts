import type { Contender } from './contender.ts';

/** Everybody in the race by name. Each is loaded in a process of its own, so that none pays for another's modules. */
export const CONTENDERS: Readonly<Record<string, (folder: string) => Promise<Contender>>> = {
  'bare SQLite': async (folder) => (await import('./bareSqlite.ts')).openBareSqlite(folder),
  phasegate: async (folder) => (await import('./phasegate.ts')).openPhasegate(folder),
  'LangGraph.js exit': async (folder) => (await import('./langGraph.ts')).openLangGraph(folder, 'exit'),
  'LangGraph.js sync': async (folder) => (await import('./langGraph.ts')).openLangGraph(folder, 'sync'),
  XState: async (folder) => (await import('./xstate.ts')).openXState(folder),
};
