import type { Made } from './fixture.ts';

/** One request, by the name of the file its answer is kept in. */
export interface RestQuestion {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** A name of a human, of an agent, or of a run whose token is shown. */
  readonly as: string | null;
  readonly body?: unknown;
}

/** Every route that changes nothing, for each kind of caller it is for. */
export function restQuestions({ runs }: Made): readonly RestQuestion[] {
  const get = (name: string, as: string | null, path: string): RestQuestion => ({
    name,
    method: 'GET',
    path,
    as,
  });
  const api = (name: string, as: string, path: string) => get(name, as, `/api/v1${path}`);
  const held = ['planning', 'approved', 'sentBack', 'items'];
  return [
    get('healthz', null, '/healthz'),
    get('readyz', null, '/readyz'),
    api('session', 'maria', '/session'),
    api('audit-verify', 'maria', '/audit/verify'),
    api('runs', 'maria', '/runs'),
    api('runs-stopped', 'maria', '/runs?status=stopped'),
    ...Object.entries(runs).map(([name, id]) => api(`run-${name}`, 'maria', `/runs/${id}`)),
    api('run-events', 'maria', `/runs/${runs.halfVoted}/events?limit=4`),
    api('gate', 'joe', `/runs/${runs.halfVoted}/gate`),
    api('gate-none', 'joe', `/runs/${runs.planning}/gate`),
    api('workflows', 'maria', '/workflows'),
    api('audit', 'maria', '/audit?limit=3'),
    api('agents', 'maria', '/agents'),
    api('webhooks', 'maria', '/webhooks'),
    api('snapshot-of-human', 'maria', '/state/snapshot'),
    api('agent', 'ada', '/agent'),
    api('tools', 'ada', '/tools'),
    api('run-of-agent', 'ada', `/runs/${runs.halfVoted}`),
    api('run-of-another', 'bob', `/runs/${runs.halfVoted}`),
    ...held.map((name) => api(`phase-${name}`, name, `/runs/${runs[name]}/phase`)),
    ...held.map((name) => api(`snapshot-${name}`, name, '/state/snapshot')),
    api('phase-later', 'planning', `/runs/${runs.planning}/phase?phase=BUILD`),
    api('task', 'planning', `/runs/${runs.planning}/tasks/PLAN/1`),
    api('no-credential', 'nobody', '/runs'),
  ];
}

/** What goes on from the old state, in this order: each begins where the ones before it left the project. */
export function restActs({ runs }: Made): readonly RestQuestion[] {
  const post = (name: string, as: string, given: readonly [path: string, body: unknown]): RestQuestion => ({
    name,
    method: 'POST',
    path: `/api/v1${given[0]}`,
    as,
    body: given[1],
  });
  const use = (tool: string, input: object) => ['/tools/check', { tool, input }] as const;
  const plan = { plan: { summary: 'Say it better', scope: ['docs/notes.md'] } };
  return [
    post('tools-check', 'planning', use('read_files', { path: 'docs/standards.md' })),
    post('tools-check-forbidden', 'planning', use('bash', { command: 'ls' })),
    post('tools-check-out-of-scope', 'approved', use('write_files', { path: 'src/a.ts', content: '' })),
    post('tools-execute', 'approved', [
      '/tools/execute',
      { tool: 'read_files', input: { path: 'docs/standards.md' } },
    ]),
    post('transition-refused', 'planning', [
      '/tasks/transition',
      { target: 'BUILD', artifacts: { plan: 1 } },
    ]),
    post('transition-item', 'items', [
      '/tasks/transition',
      { target: 'READ', artifacts: { chapter: 'chapters/outlook.md' } },
    ]),
    post('transition-to-end', 'approved', [
      '/tasks/transition',
      { target: null, artifacts: { file: 'docs/notes.md', words: 11 } },
    ]),
    post('transition-to-gate', 'sentBack', ['/tasks/transition', { target: 'BUILD', artifacts: plan }]),
    post('answer', 'maria', [`/runs/${runs.questions}/answers`, { question: 2, option: 'English' }]),
    post('resume', 'maria', [`/runs/${runs.escalated}/resume`, { note: 'it can be reached again' }]),
    post('token', 'ada', ['/tasks/token', { task_id: runs.escalated }]),
    post('claim', 'ada', ['/tasks/claim', { agent_id: 'ada' }]),
    post('release', 'ada', ['/tasks/release', { task_id: runs.queued }]),
    post('start', 'maria', ['/runs', { workflow: 'release', params: { mode: 'quick' }, queue: true }]),
    post('start-refused', 'maria', ['/runs', { workflow: 'release', params: { mode: 'slow' }, queue: true }]),
    post('blocked', 'planning', [`/runs/${runs.planning}/blocked`, { reason: 'nobody answers' }]),
    post('stop', 'maria', [`/runs/${runs.planning}/stop`, { reason: 'enough' }]),
    post('agent-added', 'maria', ['/agents', { name: 'eve' }]),
    { name: 'agent-removed', method: 'DELETE', path: '/api/v1/agents/eve', as: 'maria' },
    post('webhook-refused', 'maria', ['/webhooks', { url: 'ftp://example.com' }]),
    post('fence', 'maria', [`/runs/${runs.sentBack}/fence`, {}]),
    post('override', 'maria', [`/runs/${runs.sentBack}/override`, {}]),
    { name: 'audit-verify-after', method: 'GET', path: '/api/v1/audit/verify', as: 'maria' },
  ];
}
