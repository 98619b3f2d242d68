import { canonicalJson, type Json } from '../json.ts';

/** A human's choice at a gate, as it is signed. */
export interface DecisionToSign {
  readonly run: string;
  /** The instance of the gate, e.g. `ship#1`. */
  readonly gate: string;
  readonly option: string;
  /** Null where nothing was said. */
  readonly input: string | null;
  /** The hash of the card the human was shown. */
  readonly shown: string;
  /** The human's name. */
  readonly by: string;
}

/** The text a human signs when deciding at a gate. */
export function decisionText({ run, gate, option, input, shown, by }: DecisionToSign): string {
  return canonicalJson({ run, gate, option, input, shown, by });
}

/** A human's leading of a run past a phase, as it is signed. */
export interface OverrideToSign {
  readonly run: string;
  readonly phase: string | number;
  /** The run's epoch: each override is for one place in one run, once. */
  readonly epoch: number;
  /** Where it leads; null for the end. */
  readonly to: string | number | null;
  readonly reason: string;
  /** The human's name. */
  readonly by: string;
}

/** The text a human signs when leading a run past a phase. */
export function overrideText({ run, phase, epoch, to, reason, by }: OverrideToSign): string {
  return canonicalJson({ override: run, phase, epoch, to, reason, by });
}

/** A human's acceptance of files, as it is signed. */
export interface TrustToSign {
  /** The hash over all files. */
  readonly hash: string;
  readonly workflow: string;
  /** The human's name. */
  readonly by: string;
  /** ISO time. */
  readonly at: string;
}

/** The text a human signs when accepting files. */
export function trustText({ hash, workflow, by, at }: TrustToSign): string {
  return canonicalJson({ trust: hash, workflow, by, at });
}

/** A passkey that a human registers, as it is signed. */
export interface PasskeyToSign {
  /** Of the credential, base64url. */
  readonly id: string;
  /** SPKI, base64url. */
  readonly publicKey: string;
  /** Of the page it is for, with its port. */
  readonly origin: string;
  /** What the human calls it. */
  readonly label: string;
  /** The human's name. */
  readonly by: string;
  /** ISO time. */
  readonly at: string;
}

/** The text a human signs when registering a passkey. */
export function passkeyText({ id, publicKey, origin, label, by, at }: PasskeyToSign): string {
  return canonicalJson({ passkey: id, publicKey, origin, label, by, at });
}

/** The text whose SHA-256 a passkey is challenged with: what is signed, and a number that is used once. */
export function assertedText(text: string, nonce: string): string {
  return canonicalJson({ asserted: text, nonce });
}

/** Something a human does that leaves no signature of its own, as a passkey proves it. */
export interface ActToProve {
  /** E.g. `POST /api/v1/runs/b7e2/stop`. */
  readonly act: string;
  readonly query: Json;
  /** Without the proof itself. */
  readonly body: Json;
  /** The human's name. */
  readonly by: string;
}

/** The text a passkey proves where an act leaves no signature of its own. */
export function actText({ act, query, body, by }: ActToProve): string {
  return canonicalJson({ act, query, body, by });
}
