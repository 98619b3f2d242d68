import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type House, readHouse } from './layers/layers.ts';
import { plainReads } from './layers/plainReads.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

test('a path that an agent can write is opened without waiting, in one place of each package', () => {
  const found = plainReads(readHouse(root), ['phasegate', 'search', 'markdown', 'audit', 'postgres']);

  const pinned = Object.values(PLAIN).flatMap((files) => Object.entries(files));
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(pinned.map(([file, count]) => [`packages/${file}`, count])),
  );
});

/** What opens files by itself, with how often, by the reason. Anything else reads with `files/readRegular.ts`. */
const PLAIN: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'opens without waiting, asks what it opened, and has a limit': {
    'audit/src/archiveBundle.ts': 1,
    'audit/src/writeBundle.ts': 1,
    'markdown/src/sources/tasksMd/readTasksFile.ts': 1,
    'phasegate/src/anchoring/anchorFile.ts': 1,
    'phasegate/src/database/original.ts': 1,
    'phasegate/src/files/readRegular.ts': 1,
    'phasegate/src/files/streamRegular.ts': 1,
    'phasegate/src/listingFile.ts': 2,
    'phasegate/src/surfaces/hooks/transcripts.ts': 1,
    'phasegate/src/workspace/fence/putBackPaths.ts': 2,
    'phasegate/src/workspace/fence/readEntry.ts': 2,
    'phasegate/src/workspace/openBeneath.ts': 1,
    'search/src/readText.ts': 1,
  },
  'opens a folder, or a place and nothing in it; a pipe is refused': {
    'phasegate/src/sandbox/scopeMounts.ts': 1,
    'phasegate/src/workspace/openFolderBeneath.ts': 1,
  },
  'makes a new file, and fails where something is there': {
    'phasegate/src/workspace/writeBeneath.ts': 1,
  },
  'named by the one who starts the server, before it listens': {
    'postgres/src/connectionSettings.ts': 1,
  },
  'in the state directory, where the one who can put a pipe can end the server as well': {
    'phasegate/src/agents/launchFile.ts': 2,
    'phasegate/src/agents/startProgram.ts': 1,
    'phasegate/src/agents/subprocessAdapter.ts': 1,
    'phasegate/src/backgroundServer.ts': 2,
    'phasegate/src/config/databaseAddress.ts': 1,
    'phasegate/src/config/worktreeRecord.ts': 1,
    'phasegate/src/database/attemptRecord.ts': 1,
    'phasegate/src/database/backups.ts': 1,
    'phasegate/src/database/copies.ts': 1,
    'phasegate/src/database/protectedPlaces.ts': 1,
    'phasegate/src/runner/becomeDriver.ts': 1,
    'phasegate/src/runtime/hooks/hookKey.ts': 1,
    'phasegate/src/runtime/keys.ts': 5,
    'phasegate/src/serverFile.ts': 1,
    'phasegate/src/verify/frozenSets.ts': 1,
    'phasegate/src/settings/hookSocket.ts': 1,
    'phasegate/src/settings/settingsRecord.ts': 1,
    'phasegate/src/settings/userSettings.ts': 1,
    'phasegate/src/stores/sqlite/backupSqlite.ts': 1,
    'phasegate/src/stores/sqlite/database.ts': 1,
    'phasegate/src/stores/sqlite/restoreSqlite.ts': 3,
    'phasegate/src/workspace/acceptedFiles.ts': 1,
    'phasegate/src/workspace/fence/contents.ts': 2,
    'phasegate/src/workspace/fence/keptManifests.ts': 5,
    'phasegate/src/workspace/fence/sweepMeasures.ts': 2,
    'phasegate/src/workspace/keptMeasure.ts': 1,
    'search/src/acceptedDocuments.ts': 1,
  },
  'of the system: processes, users, terminals, what has no name': {
    'phasegate/src/bootClock.ts': 1,
    'phasegate/src/isolation/plan.ts': 1,
    'phasegate/src/isolation/properties.ts': 1,
    'phasegate/src/isolation/tryOut.ts': 2,
    'phasegate/src/runtime/processes.ts': 1,
    'phasegate/src/sandbox/bubblewrap.ts': 1,
    'phasegate/src/sandbox/heldText.ts': 3,
    'phasegate/src/sandbox/relay.ts': 1,
    'phasegate/src/surfaces/cli/dropTyped.ts': 1,
    'phasegate/src/surfaces/cli/passphrase.ts': 1,
    'phasegate/src/workspace/endAll.ts': 1,
    'phasegate/src/workspace/fence/mappedFiles.ts': 1,
    'phasegate/src/workspace/holdersOf.ts': 1,
    'phasegate/src/workspace/leftOpen.ts': 1,
  },
  'named by the one who calls, in a process of their own; a pipe may be what they mean': {
    'phasegate/src/serverCredentials.ts': 1,
    'phasegate/src/surfaces/cli/archivesHere.ts': 1,
    'phasegate/src/surfaces/cli/commands/import.ts': 1,
    'phasegate/src/surfaces/cli/commands/simulate.ts': 1,
    'phasegate/src/surfaces/cli/evidence.ts': 2,
  },
  'worlds of their own, made for trials of clients and tests of workflows, and installed programs': {
    'phasegate/src/clients/attacks/onSettings.ts': 2,
    'phasegate/src/clients/findClient.ts': 2,
    'phasegate/src/clients/prove/proveClient.ts': 1,
    'phasegate/src/clients/prove/runTrial.ts': 2,
    'phasegate/src/clients/startClient.ts': 1,
    'phasegate/src/localTests.ts': 1,
  },
  'of this package itself, beside its code': {
    'phasegate/src/dashboardFiles.ts': 2,
  },
};

test.each([
  ["import { readFileSync } from 'node:fs';\nreadFileSync(path);", 1],
  ["import { readFile as read } from 'node:fs/promises';\nawait read(path);\nawait read(other);", 2],
  ["import { openSync } from 'node:fs';\nopenSync(path, 'r');\nopenSync(draft, 'wx', 0o600);", 1],
  ["import { readFileSync } from 'fs';\nfiles.map(readFileSync);\nrun(readFileSync, path);", 2],
  ["import * as fs from 'node:fs';\nfs.readFileSync(path);", 1],
  ["const { readFile } = await import('node:fs/promises');\nawait readFile(path);", 1],
  ["import { readRegular } from '../files/readRegular.ts';\nreadRegular(path, { most, links });", 0],
])('in %j there are %i plain reads', (source, count) => {
  const house: House = { packages: [], files: new Map([['packages/phasegate/src/a.ts', source]]) };

  expect([...plainReads(house, ['phasegate']).values()]).toEqual(count === 0 ? [] : [count]);
  expect([...plainReads(house, ['search']).values()]).toEqual([]);
});
