import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

const MARKUP = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>';
const SIGNS = '\u001b[31mred\u001b[0m \u202eevil\u202c \u2066x\u2069 \u0000 \u2028 javascript:alert(1)';
const HOSTILE = `${MARKUP} ${SIGNS}`;
const TURNED = `${MARKUP} \u202eevil\u202c`;
const FILE = "docs/<img src=x onerror=document.title='owned'> \u202egnp.md";

/** Everything that an author may write in words of their own. */
const WORKFLOW = `workflow: hostile
title: ${JSON.stringify(TURNED)}
description: ${JSON.stringify(TURNED)}
enforcement: { workspace: shared }
phases:
  DRAFT:
    name: ${JSON.stringify(MARKUP)}
    instructions: ${JSON.stringify(MARKUP)}
    allowed_tools: [read_files, write_files]
    writes: ["docs/**"]
    required_evidence: { report: { type: str } }
    gate:
      human:
        prompt: ${JSON.stringify(MARKUP)}
        options: [{ label: ${JSON.stringify(TURNED)} }, { label: Rework, next: DRAFT, requires_input: true }]
  NEXT:
    instructions: go on
    writes: []
`;

describe.runIf(FULL)('words and files of others', () => {
  const bed = dashboardBed();

  test('are shown as text on every page that has any, whatever they hold, and nothing of them runs', async () => {
    const { shell, server } = bed.project();
    shell.write('hostile.workflow.yaml', WORKFLOW);
    const trusted = await shell.callAs(PASSPHRASE, ['trust', 'hostile', '--yes', '--as', 'maria']);
    expect(trusted.code, trusted.stderr).toBe(0);
    const start = async (workflow: string, goal: string) =>
      String((await shell.call(['start', workflow, goal, '--json'])).json().run);

    const gate = await start('hostile', MARKUP);
    const agent = server.open.as({ kind: 'agent', name: 'local' });
    for (const tool of ['read_files', 'bash', 'write_files'])
      await agent.judgeTool(gate, { tool, input: { path: MARKUP, command: HOSTILE } });
    writeFileSync(join(shell.root, FILE), `${HOSTILE}\r\n${MARKUP}\n`);
    shell.write('docs/line.md', `${'x'.repeat(400_000)}\n`);
    shell.write('docs/huge.md', `${'y'.repeat(5_000_000)}\n`);
    await shell.call(['done', gate, '--evidence', '-'], JSON.stringify({ report: HOSTILE }));
    const asking = await start('feature', MARKUP);
    await shell.call(['ask', asking, '-'], JSON.stringify([{ text: HOSTILE, options: [MARKUP, SIGNS] }]));
    const strayed = await start('feature', 'strayed');
    writeFileSync(join(shell.root, `<b onmouseover=alert(1)>\u202e.txt`), HOSTILE);
    shell.write('stray.txt', `${'z'.repeat(5_000_000)}\n${MARKUP}\n`);
    await shell.call(['done', strayed, '--evidence', '-'], '{"plan":{"summary":"x"}}');
    const failing = await start('feature', 'failing');
    await shell.call(['done', failing, '--evidence', '-'], JSON.stringify({ [MARKUP]: HOSTILE }));

    const page = await bed.page('/');
    const home = page.url().split('#')[0];
    const at = async (place: string, words: string) => {
      await page.goto(`${home}#${place}`);
      await page.getByText(words).filter({ visible: true }).first().waitFor();
      await harmless(page, place);
    };
    const tab = async (name: string, words: string) => {
      await page.getByRole('tab', { name }).click();
      await page.getByText(words).filter({ visible: true }).first().waitFor();
      await harmless(page, name);
    };
    await at('/', '<script>document.title="owned"</script>');
    await at('/decisions', '<script>document.title="owned"</script>');
    await at(`/decisions/${gate}`, 'What the phase changed');
    await page.getByText('‹202E›gnp.md').first().waitFor();
    await page.getByText('‹001B›[31mred').first().waitFor();
    await page.getByText('it is large').first().waitFor();
    await page
      .getByText(/long lines only the beginning is/)
      .first()
      .waitFor();
    await page.getByRole('radio').first().check();
    await harmless(page, 'the card');
    await at(`/decisions/${asking}`, '‹202E›evil');
    await at(`/decisions/${strayed}`, '‹202E›.txt');
    await page.getByText('more characters').first().waitFor();
    await harmless(page, 'the fence');
    await at(`/runs/${gate}`, 'A human decides at this gate');
    await tab('Timeline', 'Gate opened');
    for (let opened = 0; opened < 4; opened += 1)
      await page.getByRole('button', { name: /^More/ }).first().click();
    await harmless(page, 'every record');
    await tab('Tool calls', 'denied');
    await tab('Changes', '‹202E›gnp.md');
    await at(`/runs/${failing}`, 'What the agent is told to do');
    await at('/workflows', MARKUP);
    await at('/workflows/hostile', 'How its runs fare');
    await at('/agents', 'Denied, by rule');
    await at('/audit', 'were looked through');
    await at('/people', 'this one');
    expect(page.heard.errors).toEqual([]);
  });
});

async function harmless(page: Page, place: string): Promise<void> {
  expect(await page.title(), place).toBe('Phasegate');
  // What turns the direction of reading, and what a terminal obeys, is a sign that can be seen.
  const words = String(await page.evaluate('document.body.innerText'));
  expect(words.match(/[\u202a-\u202e\u2066-\u2069]|(?![\n\t])\p{Cc}/gu), place).toBeNull();
  expect(await page.locator('img, b[onmouseover], script:not([src])').count(), place).toBe(0);
}
