/** The data directory: it exists, can be written, and belongs to one controller where that asks for it. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config.ts';
import { messageOf } from '../platform/operation/errors.ts';
import { holdFile } from '../platform/runtime/process-record.ts';

/** @throws ConfigError */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    const probe = join(dataDir, '.writable');
    await writeFile(probe, '');
    await rm(probe, { force: true });
  } catch (error) {
    throw new ConfigError(
      `the data directory ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code ?? messageOf(error)}); make it writable or set HEADGATE_DATA_DIR`,
    );
  }
}

/**
 * Answers a function that gives it back.
 * @throws ConfigError where another controller holds it
 */
export async function holdDataDir(dataDir: string): Promise<() => void> {
  await makeDataDir(dataDir);
  const release = holdFile(join(dataDir, 'controller.pid'));
  if (typeof release === 'function') return release;
  throw new ConfigError(
    `another Headgate (process ${release}) runs on the data directory ${dataDir}; end it, or set HEADGATE_DATA_DIR and HEADGATE_PORT to start a second one`,
  );
}
