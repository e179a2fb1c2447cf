/** What of the database is not in a backup. docs/backups.md gives the reasons. */
export const EXCLUDED_TABLES: ReadonlySet<string> = new Set([
  /** Signing out must last: a restore would bring ended sessions back to life. */
  'sessions',
  /** Who leads at this moment. */
  'leases',
  /** Runs of this installation, the running one too; a restore keeps those that are there. */
  'backup_runs',
  /** In the header. */
  'schema_migrations',
]);
