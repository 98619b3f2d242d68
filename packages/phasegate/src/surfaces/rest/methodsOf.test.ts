import { expect, test } from 'vitest';
import { methodsOf } from './methodsOf.ts';

const ROUTES = [
  { method: 'ALL', path: '/*' },
  { method: 'GET', path: '/runs/:id' },
  { method: 'DELETE', path: '/runs/:id' },
  { method: 'POST', path: '/runs/:id/stop' },
  { method: 'GET', path: '/tasks/:phase/:n{[0-9]+}' },
  { method: 'GET', path: '/openapi.json' },
];

test.each([
  ['/runs/a', ['DELETE', 'GET', 'HEAD']],
  ['/runs/a/stop', ['POST']],
  ['/tasks/PLAN/12', ['GET', 'HEAD']],
  ['/tasks/PLAN/x', []],
  ['/openapi.json', ['GET', 'HEAD']],
  ['/openapiXjson', []],
  ['/runs/', []],
])('`%s` is served with %j', (path, methods) => {
  expect(methodsOf(ROUTES, path)).toEqual(methods);
});
