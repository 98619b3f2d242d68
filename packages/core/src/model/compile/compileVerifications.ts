import { isJsonObject, type JsonObject } from '../../json.ts';
import type { ArtifactDraft, CheckDraft } from '../draft.ts';
import { type Check, EVIDENCE_CLASSES, type EvidenceClass } from '../workflow.ts';
import { compileCheck } from './compileCheck.ts';
import type { PhasePlace } from './compileContext.ts';

/** What the engine runs for artifacts with `verify`, as checks of the phase. */
export function compileVerifications(place: PhasePlace): readonly Check[] {
  return (place.phase.artifacts ?? []).flatMap((artifact, index) => {
    if (artifact.verify === undefined) return [];
    const path = [...place.path, 'artifacts', index, 'verify'];
    const draft = draftOf(artifact);
    if (typeof draft !== 'string') return [compileCheck(place, { draft, path, id: idOf(place, index) })];
    place.context.problems.error(path, 'bad_value', draft);
    return [];
  });
}

function idOf({ phase }: PhasePlace, index: number): string {
  return `${phase.id}/artifacts/${index}`;
}

/** The check that is written as `verify`; words where it is none. */
function draftOf({ type, verify }: ArtifactDraft): CheckDraft | string {
  if (!isJsonObject(verify))
    return '`verify` has a `command`, such as `{ command: [npm, test], expect: green }`';
  const { command, needs = 'verified', message, ...rest } = verify;
  if (!Array.isArray(command) || command.length === 0)
    return '`verify` needs a `command`: a list of words, which no shell reads';
  if (!EVIDENCE_CLASSES.includes(needs as EvidenceClass))
    return `\`needs\` is one of ${EVIDENCE_CLASSES.map((one) => `\`${one}\``).join(', ')}`;
  const parameters: JsonObject = { argv: command, ...rest };
  return {
    check: rest.expect === undefined ? 'command' : 'tests',
    label: `${type} is verified`,
    with: parameters,
    message:
      typeof message === 'string'
        ? message
        : `the engine ran what \`${type}\` is verified by, and it did not hold`,
    needs: needs as EvidenceClass,
    verify: true,
  };
}
