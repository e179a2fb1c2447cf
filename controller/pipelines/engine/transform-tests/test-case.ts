/** Tests of transforms, in the form that their runners need. */

export interface TransformCase {
  /** The transform under test: its key, its type, and everything of it but `type` and `inputs`. */
  key: string;
  type: string;
  options: Record<string, unknown>;
  /** The output that is looked at; null for the one without a name. */
  port: string | null;
  events: readonly object[];
  /** A VRL condition, as it is written: no variable of the engine's environment is in it. */
  expect: string;
}

export interface TransformSuite {
  cases: readonly TransformCase[];
  /** Other top-level sections of the pipeline's config. */
  global: Record<string, unknown>;
}

export interface Verdict {
  status: 'passed' | 'failed' | 'skipped';
  /** What came out instead, or why it could not be run. Null where it passed. */
  message: string | null;
}

export const PASSED: Verdict = { status: 'passed', message: null };
export const failed = (message: string): Verdict => ({ status: 'failed', message });
export const skipped = (message: string): Verdict => ({ status: 'skipped', message });

/** Each test has so long, in milliseconds. */
export const TEST_MS = 2_000;
export const TOO_LONG = `it ran longer than ${TEST_MS / 1000} s and was ended; try it on a smaller event`;

export const TESTS_TOO_LONG = 'the tests before it took too long';

/** The condition that no event fulfils says that none may come out. */
export const wantsNothing = ({ expect }: Pick<TransformCase, 'expect'>): boolean => expect.trim() === 'false';

/** As inputs name it. */
export const outputName = ({ key, port }: Pick<TransformCase, 'key' | 'port'>): string =>
  port === null ? key : `${key}.${port}`;

/** Where a transform puts what it tells of an event, by `log_schema`. */
export function metadataKeyOf(global: Record<string, unknown>): string {
  const schema = global.log_schema as { metadata_key?: unknown } | null | undefined;
  return typeof schema?.metadata_key === 'string' ? schema.metadata_key.replace(/^\./, '') : 'metadata';
}
