/** Which constraint a statement broke, by Postgres' own codes. */
interface PgError {
  code?: string;
  constraint?: string;
}

export function brokeUnique(error: unknown, constraint?: string): boolean {
  const { code, constraint: broken } = error as PgError;
  return code === '23505' && (constraint === undefined || broken === constraint);
}
