import { writeFileSync } from 'node:fs';
import { workflowPage } from './workflowPage.ts';

writeFileSync(new URL('../../docs/reference/workflow-yaml.md', import.meta.url), workflowPage());
