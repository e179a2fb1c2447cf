import { lstatSync } from 'node:fs';
import type { Logger } from '../log.ts';
import type { DataDirectory } from '../supervise/files/data-directory.ts';
import { saveNodeToken } from './node-token.ts';

/**
 * Keeps `node-token` on disk while the agent runs. To be called only when the controller has just accepted the token:
 * a user who re-enrolls a revoked node deletes the file, and it must stay deleted.
 */
export class TokenFile {
  readonly #directory: DataDirectory;
  readonly #token: string;
  readonly #log: Logger;
  #complained = false;

  constructor(directory: DataDirectory, token: string, log: Logger) {
    this.#directory = directory;
    this.#token = token;
    this.#log = log;
  }

  /** Writes the file again where it is gone or empty; one system call where it is not. Throws nothing. */
  restore(): void {
    const path = this.#directory.token;
    try {
      const file = lstatSync(path, { throwIfNoEntry: false });
      if (file && file.size > 0) return;
      this.#directory.ensureRoot();
      saveNodeToken(this.#directory, this.#token);
      this.#log.warn('node token was lost from disk and is written again', { file: path });
      this.#complained = false;
    } catch (error) {
      if (this.#complained) return;
      this.#complained = true;
      this.#log.error(
        'node token is lost from disk and cannot be written; without it a restart must enroll again',
        {
          file: path,
          reason: String(error),
        },
      );
    }
  }
}
