/** Why the embedded database cannot be used, in one line that also says what to do about it. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

const EXTERNAL = 'set HEADGATE_DATABASE_URL to a PostgreSQL server of your own';

export function noBinaries(detail: string): EmbeddedPostgresError {
  const platform = `${process.platform}-${process.arch}`;
  return new EmbeddedPostgresError(
    `No PostgreSQL for ${platform} (${detail}): run npm install, or ${EXTERNAL}`,
  );
}

export function cannotRun(binary: string, detail: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`${binary} does not run on this machine (${detail}): ${EXTERNAL}`);
}

export function diskFull(path: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`No space left on the disk of ${path}: free some and start again`);
}

/** Its users know the database by its port, so that another port would not do. */
export function portTaken(port: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL cannot start again, since its port ${port} is taken by another program: end that one`,
  );
}

/** The clear form of a failed file operation below `path`. */
export function fileError(path: string, error: unknown): Error {
  if (error instanceof EmbeddedPostgresError) return error;
  if (!(error instanceof Error)) return new EmbeddedPostgresError(`Cannot prepare ${path}: ${String(error)}`);
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EmbeddedPostgresError(
        `Cannot write to ${path} (${code}): let this user write there, or set HEADGATE_DATA_DIR to another folder`,
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return new EmbeddedPostgresError(`${path} is not a folder: set HEADGATE_DATA_DIR to one`);
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(path);
    default:
      return new EmbeddedPostgresError(`Cannot prepare ${path}: ${error.message}`);
  }
}

/** Runs file operations below `path` and turns their failures into clear errors. */
export async function withFiles<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Postgres and initdb report a full disk only as text. */
export function reportsDiskFull(output: string): boolean {
  return /No space left on device|Disk quota exceeded/.test(output);
}
