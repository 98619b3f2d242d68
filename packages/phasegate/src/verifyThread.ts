import { parentPort, workerData } from 'node:worker_threads';
import { foldStepwise } from '@phasegate/core/engine';
import { decisionIsSigned } from './runtime/gates.ts';
import { createSeal } from './runtime/seal.ts';
import { verifyShares } from './stores/sqlite/verifyShares.ts';
import type { ThreadData } from './verifyThreads.ts';

// A thread of `audit verify`, which is given the keys in the memory of the process and nothing else of it.
const { order, audit, rows } = workerData as ThreadData;
if (parentPort !== null) {
  const seal = createSeal({ audit, rows });
  await verifyShares({ order, seal, port: parentPort, fold: foldStepwise, verifyDecision: decisionIsSigned });
}
