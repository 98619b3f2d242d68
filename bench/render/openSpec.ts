import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openLocalProject, type Project } from 'phasegate';

const METADATA = {
  workflow_type: 'spec_execution',
  dynamic_phases: true,
  dynamic_config: {
    source_type: 'spec_tasks_md',
    source_path_key: 'spec_path',
    templates: { phase: 'phases/dynamic/phase-template.md', task: 'phases/dynamic/task-template.md' },
    parser: 'spec_tasks_parser',
  },
};

/** A project with a dynamic workflow and one spec. Templates have the 5 KB the design expects. */
export async function openSpec(folder: string, spec: string): Promise<Project> {
  const files = {
    'workflows/spec_execution/metadata.json': JSON.stringify(METADATA),
    'workflows/spec_execution/phases/0/phase.md': '# Phase 0: Plan\n\nMust provide `phase_count`\n',
    'workflows/spec_execution/phases/dynamic/phase-template.md': `# Phase [PHASE_NUMBER]: [PHASE_NAME]\n\n[PHASE_DESCRIPTION]\n\n[VALIDATION_GATE]\n\n${GUIDANCE}`,
    'workflows/spec_execution/phases/dynamic/task-template.md': `# [TASK_ID]: [TASK_NAME]\n\n[TASK_DESCRIPTION]\n\n[ACCEPTANCE_CRITERIA]\n\n${GUIDANCE}`,
    'specs/one/tasks.md': spec,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'project', path)), { recursive: true });
    writeFileSync(join(folder, 'project', path), text);
  }
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  return openLocalProject({ projectDir: join(folder, 'project'), env });
}

const GUIDANCE = 'Do one task at a time, with its tests, and write down what shows that it is done.\n'.repeat(
  60,
);
