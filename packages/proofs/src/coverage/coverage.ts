import type { Json, Workflow } from '@phasegate/core/model';
import { waysOf } from '@phasegate/core/model';
import type { ChainRecord } from '../replay/recordedSteps.ts';
import { COVERABLE_KINDS, type Coverable, type CoverableKind, coverables, wayId } from './coverables.ts';
import { type CoverageHits, coverageHits, refusedStartHits } from './coverageHits.ts';

/** Where something was seen: in the runs that tests made, or in real ones. */
export type CoverageSource = 'tests' | 'runs';

/** A number for each source. */
export type BySource = Readonly<Record<CoverageSource, number>>;

/** The chain of one run and the workflow it was really started with. */
export interface CoverageRecording {
  readonly source: CoverageSource;
  readonly workflow: Workflow;
  readonly records: readonly ChainRecord[];
}

/** Something that can be seen, with how often it was. */
export interface Covered extends Coverable, BySource {}

/** What was seen of a workflow. */
export interface Coverage {
  readonly workflow: string;
  readonly elements: readonly Covered[];
  /** Runs that were counted. */
  readonly counted: BySource;
  /** Runs that never had this version of the workflow, which were not. */
  readonly otherVersions: BySource;
  /** Runs whose records make no run, which were not either. */
  readonly unreadable: BySource;
  /** Whether phases are made when a run starts: then those of every run seen are among the elements. */
  readonly dynamic: boolean;
}

/** Takes in one run after another, as they may be many. */
export interface CoverageTally {
  add(recording: CoverageRecording): void;
  /** A start that was refused made no run; its blockers are all that is left of it. */
  addRefusedStart(source: CoverageSource, blockers: Json | undefined): void;
  result(): Coverage;
}

/** The definition that coverage is about, and which runs count. */
export interface CoverageSubject {
  readonly workflow: Workflow;
  /** As `run_started` names it. */
  readonly hash: string;
  /** Counts runs of other versions too, matching what they have in common by its id. */
  readonly allVersions?: boolean;
}

/** What recordings show of a workflow. */
export function coverageOf(subject: CoverageSubject, recordings: Iterable<CoverageRecording>): Coverage {
  const tally = startCoverage(subject);
  for (const recording of recordings) tally.add(recording);
  return tally.result();
}

/** Begins to count. */
export function startCoverage({ workflow, hash, allVersions = false }: CoverageSubject): CoverageTally {
  const dynamic = workflow.templates !== null;
  const elements = new Map(fixedElements(workflow).map((element) => [element.id, element]));
  const counts = { tests: new Map<string, number>(), runs: new Map<string, number>() };
  const counted = { tests: 0, runs: 0 };
  const otherVersions = { tests: 0, runs: 0 };
  const unreadable = { tests: 0, runs: 0 };
  const count = (source: CoverageSource, hits: readonly string[]) => {
    for (const id of hits) counts[source].set(id, (counts[source].get(id) ?? 0) + 1);
  };
  return {
    add({ source, workflow: startedWith, records }) {
      const every = dynamic || allVersions;
      const shown = readHits(startedWith, records, (version) => every || version === hash);
      if (shown === null) {
        unreadable[source]++;
      } else if (shown.workflows.size === 0) {
        otherVersions[source]++;
      } else {
        counted[source]++;
        for (const made of dynamic ? shown.workflows : []) {
          for (const element of coverables(made)) elements.set(element.id, element);
        }
        count(source, shown.hits);
      }
    },
    addRefusedStart: (source, blockers) => count(source, refusedStartHits(workflow, blockers)),
    result: () => ({
      workflow: workflow.id,
      elements: [...elements.values()].map((element) => ({
        ...element,
        tests: counts.tests.get(element.id) ?? 0,
        runs: counts.runs.get(element.id) ?? 0,
      })),
      counted: { ...counted },
      otherVersions: { ...otherVersions },
      unreadable: { ...unreadable },
      dynamic,
    }),
  };
}

/** How many there are, and how many were seen: at all, by tests, by real runs. */
export interface CoverageCount extends BySource {
  readonly total: number;
  readonly seen: number;
}

/** The count of some elements. */
export function coverageCount(elements: readonly Covered[]): CoverageCount {
  const count = (seen: (element: Covered) => boolean) => elements.filter(seen).length;
  return {
    total: elements.length,
    seen: count(({ tests, runs }) => tests + runs > 0),
    tests: count(({ tests }) => tests > 0),
    runs: count(({ runs }) => runs > 0),
  };
}

/** The counts by kind, without kinds the workflow has none of. */
export function coverageByKind({
  elements,
}: Coverage): readonly ({ readonly kind: CoverableKind } & CoverageCount)[] {
  return COVERABLE_KINDS.map((kind) => ({
    kind,
    ...coverageCount(elements.filter((element) => element.kind === kind)),
  })).filter(({ total }) => total > 0);
}

/**
 * What can be seen before any run is known. A source always gives a phase, so where they are still to come the last
 * fixed phase leads there, and never to the end.
 */
function fixedElements(workflow: Workflow): readonly Coverable[] {
  const { phases, templates } = workflow;
  const elements = coverables(workflow);
  if (templates === null || phases.some(({ content }) => content?.kind === 'template')) return elements;
  const last = phases.at(-1);
  const none = new Set(
    last === undefined
      ? []
      : waysOf(last)
          .filter(({ to }) => to === null)
          .map(wayId),
  );
  return elements.filter(({ id }) => !none.has(id));
}

/** Null where the records make no run: what cannot be read shows nothing. */
function readHits(
  startedWith: Workflow,
  records: readonly ChainRecord[],
  wanted: (workflowHash: string) => boolean,
): CoverageHits | null {
  if (records[0]?.event !== 'run_started') return null;
  try {
    return coverageHits(startedWith, records, wanted);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
