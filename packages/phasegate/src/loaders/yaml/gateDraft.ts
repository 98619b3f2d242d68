import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { CHECK_SEVERITIES, type CheckDraft, EVIDENCE_CLASSES, type GateDraft } from '@phasegate/core/model';
import { defined, type Spot, type Spots } from './spots.ts';
import type { YamlPath } from './yamlTree.ts';

/** Translates a gate. */
export function gateDraft(spots: Spots, spot: Spot, path: YamlPath): GateDraft {
  const human = spots.get(spot, 'human', [...path, 'human']);
  return defined({
    id: spots.text(spot, 'id', [...path, 'id']),
    blockers: checkDrafts(spots, spots.get(spot, 'blockers', [...path, 'blockers']), [...path, 'blockers']),
    human: isJsonObject(human.value) ? humanDraft(spots, human, [...path, 'human']) : undefined,
  });
}

/** Translates a list of checks; one that names no check is left out. */
export function checkDrafts(spots: Spots, spot: Spot, path: YamlPath): readonly CheckDraft[] | undefined {
  return spots.items(spot, path, (item, at) => {
    const check = spots.text(item, 'check', [...at, 'check']);
    if (check === undefined) return undefined;
    const parameters = own(item.value, 'with');
    return defined({
      check,
      label: spots.text(item, 'label', [...at, 'label']) ?? spots.text(item, 'name', [...at, 'label']),
      with: isJsonObject(parameters) ? parameters : undefined,
      message:
        spots.text(item, 'message', [...at, 'message']) ?? spots.text(item, 'error', [...at, 'message']),
      needs: spots.choice(item, 'needs', [...at, 'needs'], EVIDENCE_CLASSES),
      verify: spots.flag(item, 'verify', [...at, 'verify']),
      recheck: spots.flag(item, 'recheck', [...at, 'recheck']),
      severity: spots.choice(item, 'severity', [...at, 'severity'], CHECK_SEVERITIES),
    });
  });
}

function humanDraft(spots: Spots, spot: Spot, path: YamlPath): GateDraft['human'] {
  const timeout = spots.get(spot, 'timeout', [...path, 'timeout']);
  const times = isJsonObject(timeout.value) ? onlyTexts(timeout.value) : {};
  const to = spots.target(timeout, 'to', [...path, 'timeout', 'to']);
  const options = spots.items(
    spots.get(spot, 'options', [...path, 'options']),
    [...path, 'options'],
    (option, at) => {
      const label = spots.text(option, 'label', [...at, 'label']);
      if (label === undefined) return undefined;
      return {
        label,
        ...defined({
          next: spots.target(option, 'next', [...at, 'next']),
          requiresInput: spots.flag(option, 'requires_input', [...at, 'requiresInput']),
          approves: spots.flag(option, 'approves', [...at, 'approves']),
        }),
      };
    },
  );
  return {
    prompt: spots.text(spot, 'prompt', [...path, 'prompt']) ?? '',
    options: options ?? [],
    ...defined({
      context: spots.texts(spot, 'context', [...path, 'context']),
      approvers: spots.texts(spot, 'approvers', [...path, 'approvers']),
      quorum: spots.number(spot, 'quorum', [...path, 'quorum']),
      required: spots.flag(spot, 'required', [...path, 'required']),
      separate: spots.flag(spot, 'separate', [...path, 'separate']),
      timeout:
        times.after === undefined
          ? undefined
          : {
              after: times.after,
              ...(times.then === undefined ? {} : { then: times.then }),
              ...(to === undefined || to === null ? {} : { to }),
            },
    }),
  };
}

function onlyTexts(value: JsonObject): Readonly<Record<string, string>> {
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}
