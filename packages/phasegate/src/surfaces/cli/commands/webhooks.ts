import { encodeWebhook } from '@phasegate/wire';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { table } from '../text/table.ts';
import { HUMAN_OPTIONS, humanOnceSetUp } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate webhooks`: addresses that are told what happens. */
export const webhooks: CliCommand = {
  usage: ['webhooks [list]', 'webhooks add URL [--event E…]', 'webhooks remove ID'],
  details:
    'The server sends each event as JSON, signed with the secret that is shown once, and tries again when it is not\n' +
    'taken. Without --event it sends what a human should look at. Once a human is set up, adding and removing are\n' +
    'for a human.',
  examples: [
    'phasegate webhooks add https://example.com/phasegate --event gate_opened --event run_escalated',
    'phasegate webhooks',
    'phasegate webhooks remove ID',
  ],
  options: {
    event: { type: 'texts', value: 'E', summary: 'the name of an event to send' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['[list|add|remove]', '[URL|ID]'],
  async run(invocation) {
    const [action = 'list', word] = invocation.args.positionals as [string?, string?];
    switch (action) {
      case 'list':
        return listWebhooks(invocation);
      case 'add':
        return addWebhook(invocation, given(word, 'add', 'URL'));
      case 'remove':
        return removeWebhook(invocation, given(word, 'remove', 'ID'));
      default:
        throw usageError(`\`phasegate webhooks\` has no \`${action}\``, 'it has `list`, `add` and `remove`');
    }
  },
};

async function listWebhooks({ out, open }: Invocation): Promise<ExitCode> {
  const found = (await (await open()).webhooks.list()).map(encodeWebhook);
  await out.result({ webhooks: found }, () => {
    if (found.length === 0) return 'no webhooks; add one with `phasegate webhooks add URL`';
    return table([
      ['webhook', 'url', 'events', 'failures'].map((title) => out.paint.dim(title)),
      ...found.map(({ id, url, events, failures }) => [
        id,
        url,
        events.length === 0 ? 'alerts' : events.join(', '),
        failures === 0 ? '' : String(failures),
      ]),
    ]);
  });
  return 0;
}

async function addWebhook(invocation: Invocation, url: string): Promise<ExitCode> {
  const by = await humanOnceSetUp(invocation);
  const events = invocation.args.texts('event');
  const { id, secret, ...rest } = await (await invocation.open()).webhooks.add(url, { events, by });
  const added = { id, url: rest.url, events: rest.events, secret };
  await invocation.out.result(added, () =>
    [secret, '', `the secret of webhook ${id}, shown this once; it signs what is sent`].join('\n'),
  );
  return 0;
}

async function removeWebhook(invocation: Invocation, id: string): Promise<ExitCode> {
  const by = await humanOnceSetUp(invocation);
  await (await invocation.open()).webhooks.remove(id, by);
  await invocation.out.result({ id, removed: true }, () => `${id} is told nothing any more`);
  return 0;
}

function given(word: string | undefined, action: string, name: string): string {
  if (word === undefined || word.trim() === '')
    throw usageError(`\`phasegate webhooks ${action}\` needs \`${name}\``);
  return word;
}
