/** The repository as a whole could not be read: missing, damaged, or too slow. Nothing may be concluded from it. */
export class GitRepositoryError extends Error {
  override readonly name = 'GitRepositoryError';
}
