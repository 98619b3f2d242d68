/** Keys of `metadata.json` that describe a workflow to people and change nothing. Documented in the guide. */
export const DESCRIPTIVE_KEYS: ReadonlySet<string> = new Set([
  '$schema',
  'author',
  'category',
  'changelog',
  'core_utilities',
  'created',
  'created_date',
  'estimated_duration',
  'examples',
  'keywords',
  'license',
  'model_requirements',
  'notes',
  'outputs',
  'prerequisites',
  'primary_outputs',
  'quality_gates',
  'quality_metrics',
  'quality_standards',
  'strengths',
  'tags',
  'target_language',
  'updated',
  'usage',
  'workflow_features',
]);

/** Keys of one phase in `metadata.json` that describe it and change nothing. */
export const DESCRIPTIVE_PHASE_KEYS: ReadonlySet<string> = new Set([
  'deliverable',
  'deliverables',
  'dependencies',
  'estimated_duration',
  'estimated_effort',
  'estimated_time',
  'key_deliverables',
  'notes',
  'task_count',
  'task_execution',
  'validation_criteria',
]);

/** Keys the loader reads. */
export const READ_KEYS: readonly string[] = [
  'workflow_type',
  'title',
  'name',
  'description',
  'version',
  'total_phases',
  'start_phase',
  'phases',
  'dynamic_phases',
  'dynamic_config',
  'params',
  'capabilities',
  'one_run_per',
  'workspace',
  'start',
  'strict_mode',
];

/** Keys of one phase the loader reads. */
export const READ_PHASE_KEYS: readonly string[] = [
  'phase_number',
  'phase_name',
  'name',
  'purpose',
  'description',
  'tasks',
  'checkpoint',
  'evidence_gate_enabled',
];
