import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject, phasegate, startRun } from './cli.ts';
import { serve } from './server.ts';

const WORKFLOW = 'workflow: errand\nphases: { A: { instructions: go } }\n';
/** Asks the server it was told of who it is, and under a name that nobody allowed. */
const AGENT = `
const { request } = require('node:https');
const { writeFileSync } = require('node:fs');
const { PHASEGATE_URL: url, PHASEGATE_KEY: key } = process.env;
const ask = (host) => new Promise((resolve) => {
  const headers = { authorization: 'Bearer ' + key, ...(host ? { host } : {}) };
  const asked = request(url + '/api/v1/tools', { headers, servername: 'localhost' }, (got) => { got.resume(); resolve(got.statusCode); });
  asked.on('error', (error) => resolve(error.code));
  asked.end();
});
(async () => writeFileSync('seen.json', JSON.stringify({ url, own: await ask(), other: await ask('other.example') })))();
`;

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'an agent that is started is sent to an allowed name that the certificate is for, and no other name is served',
  async () => {
    const project = makeProject({ 'agent_workflow.yaml': WORKFLOW, 'agent.cjs': AGENT });
    const [cert, key] = [join(project.base, 'cert.pem'), join(project.base, 'key.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const made = spawnSync('openssl', [...kind, '-days', '1', ...subject, '-keyout', key, '-out', cert]);
    expect(made.status, String(made.stderr)).toBe(0);
    const tls = ['--host', '0.0.0.0', '--tls-cert', cert, '--tls-key', key];
    const server = await serve(project, [
      ...tls,
      '--allow-host',
      'nowhere.invalid',
      '--allow-host',
      'localhost',
    ]);
    await startRun(project, 'errand', ['--queue']);

    const words = ['agent', 'start', '--once', '--json', '--', process.execPath, 'agent.cjs'];
    const ended = await phasegate(project, words, { env: { NODE_EXTRA_CA_CERTS: cert } });

    expect(ended.stderr).toContain('"event":"started"');
    const seen: unknown = JSON.parse(readFileSync(join(project.root, 'seen.json'), 'utf8'));
    expect(seen).toEqual({ url: server.url, own: 200, other: 403 });
    expect(server.url).toMatch(/^https:\/\/localhost:/);
  },
);
