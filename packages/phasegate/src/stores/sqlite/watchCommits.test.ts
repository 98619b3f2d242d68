import { create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../runtime/ports.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;
let store: Store;

beforeEach(() => {
  state = makeStateFolder();
  store = state.open();
});

afterEach(async () => {
  await store.close();
  state.remove();
});

describe('a listener', () => {
  test('hears of a commit of another process, while it listens', async () => {
    const other = state.open();
    const heard = new Promise<void>((resolve) => {
      const stop = store.onCommit(() => {
        stop();
        resolve();
      });
    });
    await create(other, sampleRun('r1'));
    await heard;
    expect((await store.feed(0, 10)).map(({ run, event }) => [run, event])).toEqual([
      ['r1', 'run_started'],
      [null, 'run_started'],
    ]);
    await other.close();
  });

  test('hears nothing any more of a store that was closed', async () => {
    await create(store, sampleRun('r1'));
    // Closing signs what is not signed yet, which is a commit too.
    await store.note('r1', [sampleDraft('tool_judged')]);
    let heard = 0;
    store.onCommit(() => {
      heard += 1;
    });
    await store.close();
    expect(heard).toBe(0);
    expect(() => store.onCommit(() => {})).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  });
});
