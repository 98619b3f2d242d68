import type { SourceTask, SourceWarning } from '@phasegate/core/ports';
import { cyclesIn } from './cycles.ts';
import { type KnownIds, readDependencies } from './dependencies.ts';
import { taskKey } from './headers.ts';
import type { ReadTask } from './readTask.ts';

const MAX_EARLIER = 200;
const MAX_CYCLES = 20;

/** A phase's tasks before their dependencies are known. */
export interface UnlinkedPhase {
  readonly id: string;
  readonly tasks: readonly ReadTask[];
}

/** Resolves what each task depends on, and warns about ids that are double, unknown or in a circle. */
export function linkTasks(
  phases: readonly UnlinkedPhase[],
  warnings: SourceWarning[],
): readonly (readonly SourceTask[])[] {
  const known = knownIds(phases, warnings);
  const linked = phases.map((phase) =>
    phase.tasks.map((task, index) => {
      const earlier = () => phase.tasks.slice(Math.max(0, index - MAX_EARLIER), index).map(({ id }) => id);
      return link({ task, phase: phase.id, earlier, known, warnings });
    }),
  );
  warnAboutCycles(phases, linked, warnings);
  return linked;
}

function knownIds(phases: readonly UnlinkedPhase[], warnings: SourceWarning[]): KnownIds {
  const tasks = new Map<string, string>();
  const lines = new Map<string, number>();
  const order: string[] = [];
  const places = new Map<string, number>();
  for (const { id, line } of phases.flatMap((phase) => phase.tasks)) {
    const key = taskKey(id);
    const first = lines.get(key);
    if (first !== undefined)
      warnings.push({ line, message: `task \`${id}\` is already defined on line ${first}` });
    else {
      tasks.set(key, id);
      lines.set(key, line);
      places.set(id, order.length);
      order.push(id);
    }
  }
  return { tasks, order, places, phases: new Map(phases.map(({ id }) => [id.toLowerCase(), id])) };
}

interface Linking {
  readonly task: ReadTask;
  readonly phase: string;
  /** Ids of the tasks before it in its phase. */
  earlier(): readonly string[];
  readonly known: KnownIds;
  readonly warnings: SourceWarning[];
}

function link({ task, phase, earlier, known, warnings }: Linking): SourceTask {
  const ids = new Set<string>();
  const notes: string[] = [];
  for (const { text, line } of task.dependencies) {
    const read = readDependencies(text, known);
    for (const id of read.ids) {
      // A task that waits for its own phase waits for what comes before it there.
      if (id === `Phase ${phase}`) for (const before of earlier()) ids.add(before);
      else ids.add(id);
    }
    if (read.note !== '') notes.push(read.note);
    for (const id of read.unknown) {
      warnings.push({ line, message: `task \`${task.id}\` depends on \`${id}\`, which is not defined` });
    }
    if (read.prose)
      warnings.push({ line, message: `what task \`${task.id}\` depends on names no task: \`${text}\`` });
  }
  return {
    id: task.id,
    name: task.name,
    description: task.description,
    estimatedTime: task.estimate,
    dependencies: [...ids],
    ...(notes.length === 0 ? {} : { dependencyNotes: notes.join('; ') }),
    acceptanceCriteria: task.criteria,
    status: task.status,
  };
}

function warnAboutCycles(
  phases: readonly UnlinkedPhase[],
  linked: readonly (readonly SourceTask[])[],
  warnings: SourceWarning[],
): void {
  const edges = new Map<string, readonly string[]>();
  const lines = new Map<string, number>();
  for (const [index, phase] of phases.entries()) {
    edges.set(
      `Phase ${phase.id}`,
      phase.tasks.map(({ id }) => id),
    );
    for (const [position, task] of (linked[index] ?? []).entries()) {
      if (edges.has(task.id)) continue;
      edges.set(task.id, task.dependencies);
      lines.set(task.id, phase.tasks[position]?.line ?? 1);
    }
  }
  for (const cycle of cyclesIn(edges, MAX_CYCLES)) {
    const line = lines.get(cycle[0] ?? '') ?? lines.get(cycle[1] ?? '') ?? 1;
    warnings.push({
      line,
      message: `tasks wait for each other: ${cycle.map((id) => `\`${id}\``).join(' → ')}`,
    });
  }
}
