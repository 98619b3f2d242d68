import { expect, test } from 'vitest';
import { hiddenPlaces, worldWords } from './worldWords.ts';

test('the copies lie where the originals are, the state holds no run, and the network and processes are others', () => {
  const words = worldWords({
    project: { path: '/home/maria/work', copy: '/tmp/p/project' },
    home: { path: '/home/maria', copy: '/tmp/p/home' },
    state: { path: '/home/maria/.local/state/phasegate', copy: '/tmp/p/state' },
    shown: ['/home/maria/.npm/lib/node_modules'],
  }).join(' ');

  expect(words).toContain('--unshare-net');
  expect(words).toContain('--unshare-pid');
  expect(words).toContain('--ro-bind / /');
  // Each covers what came before it: the project lies in the home, and what is shown of the home must not hide it.
  const order = [
    '--bind /tmp/p/home /home/maria',
    '--ro-bind /home/maria/.npm',
    '--bind /tmp/p/state /home/maria/.local',
    '--bind /tmp/p/project /home/maria/work',
  ];
  const places = order.map((text) => words.indexOf(text));
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(places).not.toContain(-1);
});

test('only what the world would hide is shown, and never a whole home', () => {
  const places = [
    '/usr/bin',
    '/home/maria',
    '/home/maria/bin',
    '/tmp/clients/node_modules',
    '/tmp',
    '/home/maria/bin',
  ];

  expect(hiddenPlaces(places, '/home/maria')).toEqual(['/home/maria/bin', '/tmp/clients/node_modules']);
});
