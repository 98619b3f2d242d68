import { writeFileSync } from 'node:fs';
import { commandsPage } from './commandsPage.ts';

writeFileSync(new URL('../../docs/reference/commands.md', import.meta.url), await commandsPage());
