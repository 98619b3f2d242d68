import type { CliCommand } from './command.ts';

/** A command's line in the list of commands, and how its file is loaded. */
export interface CommandEntry {
  readonly name: string;
  readonly group: 'Set up' | 'Workflows' | 'Runs' | 'Agents and server' | 'For humans' | 'State and audit';
  readonly summary: string;
  load(): Promise<CliCommand>;
}

// Every command is a file of its own, loaded by name: `done` never pays for `graph`.
/** All commands, in the order `phasegate --help` lists them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    group: 'Set up',
    summary: 'write a config and an example workflow, and set up the human who decides',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'doctor',
    group: 'Set up',
    summary: 'say what is set up, what is missing and what to do about it',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'list',
    group: 'Workflows',
    summary: 'list the workflows of the project',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'validate',
    group: 'Workflows',
    summary: 'read definitions and print every problem with its place',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  {
    name: 'test',
    group: 'Workflows',
    summary: 'run every case of every step, and the contract tests beside a workflow',
    load: async () => (await import('./commands/test.ts')).test,
  },
  {
    name: 'check',
    group: 'Workflows',
    summary: 'walk every state of a workflow and print what is wrong with the shortest way there',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'simulate',
    group: 'Workflows',
    summary: 'simulate many runs: how long they take, how many attempts, where they get stuck',
    load: async () => (await import('./commands/simulate.ts')).simulate,
  },
  {
    name: 'coverage',
    group: 'Workflows',
    summary: 'say what of a workflow its tests and its runs have shown, and what never was',
    load: async () => (await import('./commands/coverage.ts')).coverage,
  },
  {
    name: 'replay',
    group: 'Workflows',
    summary: 'decide recorded runs again under a changed workflow and say which verdicts flip',
    load: async () => (await import('./commands/replay.ts')).replay,
  },
  {
    name: 'graph',
    group: 'Workflows',
    summary: 'draw a workflow, where a run is in it, or what was seen of it',
    load: async () => (await import('./commands/graph.ts')).graph,
  },
  {
    name: 'tasks',
    group: 'Workflows',
    summary: 'show what is understood of a `tasks.md`: phases, tasks, criteria, gates and warnings',
    load: async () => (await import('./commands/tasks.ts')).tasks,
  },
  {
    name: 'search',
    group: 'Workflows',
    summary: 'find passages of the documentation that answer a question',
    load: async () => (await import('./commands/search.ts')).search,
  },
  {
    name: 'index',
    group: 'Workflows',
    summary: 'bring the documentation index up to date and say what is in it',
    load: async () => (await import('./commands/index.ts')).index,
  },
  {
    name: 'start',
    group: 'Runs',
    summary: 'start a run, or queue it for an agent to claim',
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'runs',
    group: 'Runs',
    summary: 'list runs',
    load: async () => (await import('./commands/runs.ts')).runs,
  },
  {
    name: 'status',
    group: 'Runs',
    summary: 'show one run: phase, progress, attempts, gate and what is needed next',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'next',
    group: 'Runs',
    summary: "print the current phase's instructions",
    load: async () => (await import('./commands/next.ts')).next,
  },
  {
    name: 'task',
    group: 'Runs',
    summary: 'print one task of the current or a completed phase',
    load: async () => (await import('./commands/task.ts')).task,
  },
  {
    name: 'done',
    group: 'Runs',
    summary: 'complete the current phase with its evidence',
    load: async () => (await import('./commands/done.ts')).done,
  },
  {
    name: 'ask',
    group: 'Runs',
    summary: 'ask a human up to three questions; the run waits for the answers',
    load: async () => (await import('./commands/ask.ts')).ask,
  },
  {
    name: 'blocked',
    group: 'Runs',
    summary: 'hand the phase to a human because it cannot be completed honestly',
    load: async () => (await import('./commands/blocked.ts')).blocked,
  },
  {
    name: 'mcp',
    group: 'Runs',
    summary: "serve an agent's client over MCP on stdin and stdout",
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'serve',
    group: 'Agents and server',
    summary: 'serve agents and humans over HTTP: REST, MCP and events on one port',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'run',
    group: 'Runs',
    summary: 'drive a run: execute its steps, start agents, pause where a human must act',
    load: async () => (await import('./commands/run.ts')).run,
  },
  {
    name: 'claim',
    group: 'Agents and server',
    summary: 'take a queued run as an agent',
    load: async () => (await import('./commands/claim.ts')).claim,
  },
  {
    name: 'agent',
    group: 'Agents and server',
    summary: 'start a program as an agent on a queued run and follow it to its end',
    load: async () => (await import('./commands/agent.ts')).agent,
  },
  {
    name: 'agents',
    group: 'Agents and server',
    summary: 'list agents and what they hold, make a key or withdraw it',
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  {
    name: 'webhooks',
    group: 'Agents and server',
    summary: 'list, add or remove addresses that are told what happens',
    load: async () => (await import('./commands/webhooks.ts')).webhooks,
  },
  {
    name: 'decide',
    group: 'For humans',
    summary: 'decide at the gate a run waits at',
    load: async () => (await import('./commands/decide.ts')).decide,
  },
  {
    name: 'answer',
    group: 'For humans',
    summary: 'answer a question an agent asked',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  {
    name: 'resume',
    group: 'For humans',
    summary: 'give an escalated run back to its agent',
    load: async () => (await import('./commands/resume.ts')).resume,
  },
  {
    name: 'stop',
    group: 'For humans',
    summary: 'end a run',
    load: async () => (await import('./commands/stop.ts')).stop,
  },
  {
    name: 'migrate',
    group: 'For humans',
    summary: 'put a run in flight under its workflow as the files have it now, where that is proven possible',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'trust',
    group: 'For humans',
    summary: 'accept the files a workflow is made of',
    load: async () => (await import('./commands/trust.ts')).trust,
  },
  {
    name: 'humans',
    group: 'For humans',
    summary: 'add, remove or list the humans who may decide',
    load: async () => (await import('./commands/humans.ts')).humans,
  },
  {
    name: 'tokens',
    group: 'For humans',
    summary: 'rotate the secret that phase tokens are signed with',
    load: async () => (await import('./commands/tokens.ts')).tokens,
  },
  {
    name: 'audit',
    group: 'State and audit',
    summary: 'verify, export or follow the audit',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  {
    name: 'database',
    group: 'State and audit',
    summary: 'list and restore backups of the databases workflows work on, and migrate them',
    load: async () => (await import('./commands/database.ts')).database,
  },
  {
    name: 'backup',
    group: 'State and audit',
    summary: 'copy the state database while it is in use',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    name: 'restore',
    group: 'State and audit',
    summary: 'replace the state database by a backup',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
];
