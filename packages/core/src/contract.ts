// What more than one room has to spell alike: texts that are signed, limits, and names that are kept back.

export { POSTGRES_URL } from './contract/databases.ts';
export { type ImportToAccept, importEntry, isImportEntry, twinEntry } from './contract/importEntry.ts';
export { isLoopbackHost } from './contract/isLoopbackHost.ts';
export { LARGEST_FILE, LEAST_PASSPHRASE, LONGEST_PASSPHRASE, REQUEST_LIMIT } from './contract/limits.ts';
export { MCP_SECONDS } from './contract/mcpSeconds.ts';
export { isOwnVariable } from './contract/ownVariables.ts';
export { isPrincipalName } from './contract/principalName.ts';
export { isRunId, runIdIn } from './contract/runId.ts';
export { RUN_STATUSES, UNFINISHED_STATUSES } from './contract/runStatuses.ts';
export {
  type ActToProve,
  actText,
  assertedText,
  type DecisionToSign,
  decisionText,
  type OverrideToSign,
  overrideText,
  type PasskeyToSign,
  passkeyText,
  type TrustToSign,
  trustText,
} from './contract/signedTexts.ts';
export { SOCKET_KEY } from './contract/socketKey.ts';
export { DEPTH_LIMIT, EVIDENCE_LIMIT } from './json.ts';
export { kindOf } from './model/wording.ts';
