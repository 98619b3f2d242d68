import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cases } from '../tier.ts';
import { asHuman, drive, makeTrusted } from './bookProject.ts';
import { phasegate } from './cli.ts';
import { randomFrom } from './crash/random.ts';

const LONG = cases({ quick: 240_000, full: 240_000, long: 10_800_000 });
const COUNT = cases({ quick: 12, full: 500, long: 2000 });
// Few enough that several items end between one that must be told and the next that kills the runner.
const WORKERS = cases({ quick: 2, full: 8, long: 8 });

// What a scripted item does is decided beforehand, by files: `once` and `twice` hold the names of items that fail so
// often, `kill` those at which the runner is killed.
const ITEM = `
if [ -e kill/$1 ]; then rm kill/$1; kill -9 $PPID; exit 0; fi
for times in twice once; do
  if [ -e $times/$1 ]; then
    if [ $times = twice ]; then mv twice/$1 once/$1; else rm once/$1; fi
    echo '{"success":false,"error":"not this time","postconditionsPassed":false}'; exit 0
  fi
done
echo "{\\"success\\":true,\\"result\\":{\\"done\\":\\"$1\\"},\\"postconditionsPassed\\":false}"
`;

const WORKFLOW = `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'many',
  steps: [
    { name: 'list', handler: () => ['ok', { items: Array.from({ length: ${COUNT} }, (_, n) => \`i\${n}\`) }] },
    {
      name: 'each',
      command: 'sh item.sh {item}',
      writes: ['**'],
      parallel: true,
      parallelKey: 'items',
      postconditions: [{ name: 'its_own', check: 'result.done === item', error: 'Another item was done' }],
      next: null,
    },
  ],
});
`;

test(
  'many items, failing at random, with the runner killed twice: every item ends once, and no result is lost [S3.21 S3.38 S3.46 S3.49 S3.50 S3.51 S3.52 S3.53 S3.54 S3.82 fail.21]',
  async () => {
    const random = randomFrom(5);
    const names = Array.from({ length: COUNT }, (_, number) => `i${number}`);
    const at = (share: number) => `i${Math.round(share * COUNT)}`;
    const twice = [at(0.04), at(0.44), at(0.8)];
    const once = names.filter((name) => random() < 0.15 && !twice.includes(name));
    const fates = { once, twice, kill: [at(0.34), at(0.68)] };
    const files = Object.entries(fates).flatMap(([fate, items]) =>
      items.map((item) => [`${fate}/${item}`, '']),
    );
    const project = await makeTrusted({
      'many.workflow.ts': WORKFLOW,
      'item.sh': ITEM,
      ...Object.fromEntries(files),
    });
    await asHuman(project, ['trust', 'many', '--yes']);
    const words = ['--workers', `${WORKERS}`, '--retry'];

    const first = await drive(project, ['run', 'many', ...words]);
    const second = await drive(project, ['run', first.run, ...words]);
    const third = await drive(project, ['run', first.run, ...words]);

    expect([first.signal, second.signal, third.signal]).toEqual(['SIGKILL', 'SIGKILL', null]);
    expect(third.json).toMatchObject({ outcome: 'escalated', phase: 'each' });
    const { what } = third.events.findLast(({ event }) => event === 'waiting') as {
      what: { items: object[] };
    };
    const told = what.items.map((item) => (item as { item: string }).item);
    // What a killed runner saw fail it may not have told: such an item works the next time. The last fails after all kills.
    expect(twice).toEqual(expect.arrayContaining(told));
    expect(told).toContain(twice.at(-1));
    await asHuman(project, ['resume', first.run, '--note', 'they work now']);
    const last = await drive(project, ['run', first.run, ...words]);

    expect(last.json).toMatchObject({ outcome: 'completed' });
    const history = await phasegate(project, ['audit', 'export', '--run', first.run]);
    const records = history.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ended = records.filter(({ event }) => event === 'item_completed').map(({ data }) => data.item);
    expect(ended).toHaveLength(COUNT);
    expect([...ended].sort()).toEqual([...names].sort());
    const joined = records.find(({ event, data }) => event === 'phase_completed' && data.phase === 'each');
    expect(joined.data.evidence.items).toEqual(
      Object.fromEntries(names.map((name) => [name, { done: name }])),
    );
    expect(['once', 'twice', 'kill'].flatMap((fate) => left(join(project.root, fate)))).toEqual([]);
    expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true });
  },
  LONG,
);

function left(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
