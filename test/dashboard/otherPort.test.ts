import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

describe.runIf(FULL)('a page of another port of the same host', () => {
  const bed = dashboardBed();

  test('that even knows the address of the session reads nothing, frames nothing and decides nothing [adv.P1 C34]', async () => {
    const { runs, server } = bed.project();
    const page = await bed.page(`/decisions/${runs.gate}`);
    const home = page.url().split('#')[0] ?? '';
    const hostile = await serveHostile();
    await page.goto(`${hostile}/?target=${encodeURIComponent(home)}&run=${runs.gate}`);
    await page.waitForFunction('document.title === "tried"');
    const told = JSON.parse((await page.textContent('#told')) ?? '{}') as Record<string, unknown>;

    // Each of these is what a script of theirs got to see.
    expect(told).toEqual({
      read: 'refused',
      decide: 'refused',
      withPassphrase: 'refused',
      stream: 'refused',
      framed: 'empty',
      opened: 'unreadable',
    });
    const run = await server.open.as({ kind: 'human', name: 'maria' }).view(runs.gate);
    expect(run).toMatchObject({ status: 'waiting', gate: { votes: [] } });
  });

  async function serveHostile(): Promise<string> {
    const http = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(HOSTILE);
    });
    await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
    onTestFinished(() => void http.close());
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }
});

const HOSTILE = `<!doctype html><body><pre id="told"></pre><script>
const { searchParams } = new URL(location.href);
const target = searchParams.get('target');
const run = searchParams.get('run');
const told = {};
const tried = async (name, act) => {
  try { told[name] = await act(); } catch { told[name] = 'refused'; }
};
const post = (path, body, type) => fetch(target + path, {
  method: 'POST', credentials: 'include', headers: { 'content-type': type }, body: JSON.stringify(body),
}).then((answer) => answer.status);
const stop = 'api/v1/runs/' + run + '/stop';
(async () => {
  await tried('read', () => fetch(target + 'api/v1/runs', { credentials: 'include' }).then((answer) => answer.text()));
  await tried('decide', () => post(stop, { reason: 'theirs' }, 'application/json'));
  await tried('withPassphrase', () => post(stop, { reason: 'theirs', passphrase: '${PASSPHRASE}' }, 'text/plain'));
  await tried('stream', () => fetch(target + 'api/v1/events', { credentials: 'include' }).then(() => 'read'));
  await tried('framed', () => new Promise((done) => {
    const frame = document.createElement('iframe');
    frame.onload = () => {
      try { done(frame.contentDocument === null ? 'empty' : frame.contentDocument.body.textContent || 'empty'); }
      catch { done('empty'); }
    };
    frame.src = target;
    document.body.append(frame);
  }));
  await tried('opened', () => {
    const other = open(target);
    try { return other === null ? 'unreadable' : other.document.body.textContent || 'unreadable'; }
    catch { return 'unreadable'; }
  });
  document.getElementById('told').textContent = JSON.stringify(told);
  document.title = 'tried';
})();
</script>`;
