export { type ConnectionSettings, connectionSettings, isPostgresUrl } from './connectionSettings.ts';
