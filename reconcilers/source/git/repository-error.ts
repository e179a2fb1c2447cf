const MEND =
  'mend git/config.git in the data directory (git fsck says what is damaged), or put a backup or a bare clone in its place';

/** The repository as a whole could not be read: missing, damaged, or too slow. Nothing may be concluded from it. */
export class GitRepositoryError extends Error {
  override readonly name = 'GitRepositoryError';
  /** What to do, to stand behind the message. */
  readonly advice: string;
  constructor(message: string, advice = MEND) {
    super(message);
    this.advice = advice;
  }
}
