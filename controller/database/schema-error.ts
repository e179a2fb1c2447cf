/** Why the schema of the database cannot be used, in one line that also says what to do about it. */
export class SchemaError extends Error {
  override name = 'SchemaError';
}

/** `unknown` are names of migrations that ran. */
export function newerSchema(unknown: readonly string[]): SchemaError {
  return new SchemaError(
    `a newer Headgate has migrated this database (${unknown.slice(0, 3).join(', ')}${unknown.length > 3 ? ' …' : ''}): run that version or a later one, or restore a backup from before`,
  );
}

/** `holders` are the sessions with the oldest transactions. */
export function lockedTables(what: string, holders: readonly string[]): SchemaError {
  const who = holders.length > 0 ? `end the long transaction of ${holders.join(' or ')}` : 'try again';
  return new SchemaError(
    `${what} did not get a lock on its tables in time, and nothing was changed: ${who}, or stop the other controllers, and start again`,
  );
}
