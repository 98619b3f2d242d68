/** What an agent key opens; every route that is not in one of these lists is a human's. */
export const WITH_KEY = [
  'GET /api/v1/agent',
  'GET /api/v1/answers/{id}',
  'POST /api/v1/tasks/claim',
  'POST /api/v1/tasks/token',
  'POST /api/v1/tasks/release',
  'GET /api/v1/tools',
  'GET /api/v1/runs/{id}',
  'GET /api/v1/workflows',
  'POST /api/v1/hooks/{client}',
];
/** What a phase token opens. */
export const WITH_TOKEN = [
  'POST /api/v1/tasks/transition',
  'POST /api/v1/tools/check',
  'POST /api/v1/tools/execute',
  'GET /api/v1/tools',
  'GET /api/v1/state/snapshot',
  'GET /api/v1/answers/{id}',
  'GET /api/v1/runs/{id}',
  'GET /api/v1/runs/{id}/phase',
  'GET /api/v1/runs/{id}/tasks/{phase}/{n}',
  'POST /api/v1/runs/{id}/questions',
  'POST /api/v1/runs/{id}/blocked',
];
/** What opens to everybody. */
export const OPEN = ['POST /api/v1/session', 'GET /healthz', 'GET /readyz', 'GET /metrics'];
/** What is answered and not in the document, in the shape of its paths: this release does not have it. */
export const NOT_BUILT = {
  '/api/v1/hooks/{client}': { post: {} },
  '/api/v1/runs/{id}/fence': { post: {} },
  '/api/v1/runs/{id}/override': { post: {} },
};
