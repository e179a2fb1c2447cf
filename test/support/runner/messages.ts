/** What `test/run.ts` and its workers send each other. */
import type { CpuSeconds } from './processes.ts';

/** One test file to run, relative to the root of the repository. */
export interface RunFile {
  file: string;
}

/** What became of the cases of one file. */
export interface Outcome {
  passed: number;
  /** Each as it is printed: the titles, the message, the difference, the stack. */
  failures: string[];
  /** The full titles. */
  skipped: string[];
}

export interface FileResult extends Outcome {
  file: string;
  wallMs: number;
  cpu: CpuSeconds;
  /** Something is left open, so the next file needs another worker. */
  isDirty: boolean;
  /** Bytes that the worker occupies after the file. */
  rss: number;
}
