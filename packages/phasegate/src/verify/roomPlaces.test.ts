import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRoomPlaces, type RoomPlace } from './roomPlaces.ts';

const FILE = join(import.meta.dirname, 'roomPlaces.ts');

function newFolder(): string {
  return join(mkdtempSync(join(tmpdir(), 'phasegate-places-')), 'rooms');
}

test('no more rooms than places, none for one name alone, and the name with the fewest is next [adv.O5]', async () => {
  const places = createRoomPlaces({ folder: newFolder(), atOnce: 3 });
  const order: string[] = [];
  const has: RoomPlace[] = [];
  const take = (name: string) =>
    places.take(name).then((place) => {
      order.push(name);
      has.push(place);
    });

  const greedy = Array.from({ length: 6 }, () => take('mallory'));
  await Promise.all(greedy.slice(0, 2));
  // Two of three are all that one name gets; the third is there for the next who asks.
  expect(order).toEqual(['mallory', 'mallory']);
  await take('ada');
  const late = [take('bob'), take('ada')];
  for (let left = 0; left < 8; left++) {
    await expect.poll(() => has.length).toBeGreaterThan(0);
    expect(has.length).toBeLessThanOrEqual(3);
    await has.shift()?.leave();
  }
  await Promise.all([...greedy, ...late]);

  // Bob came after all of mallory's, and is served before the next of hers.
  expect(order.indexOf('bob')).toBeLessThan(5);
  expect(order.filter((name) => name === 'mallory')).toHaveLength(6);
});

test('places are shared by processes, and what a killed one left is removed by the next', async () => {
  const folder = newFolder();
  const script = `const { createRoomPlaces } = await import(${JSON.stringify(FILE)});
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const places = createRoomPlaces({ folder: ${JSON.stringify(folder)}, atOnce: 2 });
    for (const name of ['one', 'other']) {
      const { folder } = await places.take(name);
      mkdirSync(folder);
      writeFileSync(folder + '/left', name);
    }
    console.log('taken');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  mkdirSync(join(folder, '4194999-0123'));
  writeFileSync(join(folder, '4194999-0123', 'left'), 'by an earlier version');
  let place: RoomPlace | undefined;
  const taking = createRoomPlaces({ folder, atOnce: 2 })
    .take('ada')
    .then((taken) => {
      place = taken;
    });
  // It asks again and again, and both places are taken.
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(place).toBeUndefined();
  expect(readdirSync(folder).sort()).toEqual(['1', '2', '4194999-0123']);

  child.kill('SIGKILL');
  await once(child, 'exit');
  await taking;
  // The first place is free before the second, while the system ends the process.
  const next = await createRoomPlaces({ folder, atOnce: 2 }).take('ada');

  expect(readdirSync(folder)).toEqual([]);
  expect(existsSync(place?.folder ?? '/')).toBe(false);
  for (const one of [place, next]) await one?.leave();
});
