/** Runs of an engine executable that print something and end. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { searchPath } from '../../platform/runtime/search-path.ts';

const DEADLINE_MS = 20_000;
const VERSION_BYTES = 64 * 1024;
/** Vector's schema has 1.5 MB; that of an engine with components of its own may be larger. */
const SCHEMA_BYTES = 64 * 1024 * 1024;

/** No secret is in its environment, and nothing of the controller's own. Throws when it fails or takes too long. */
async function print(bin: string, args: readonly string[], maxBuffer: number): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(bin, args, {
    env: { PATH: searchPath },
    encoding: 'buffer',
    maxBuffer,
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  return stdout;
}

/** Its name and version, as in `vector 0.58.0`. */
export async function engineName(bin: string): Promise<string> {
  const output = await print(bin, ['--version'], VERSION_BYTES);
  const words = output.toString('utf8').split('\n')[0]?.split(' ').slice(0, 2).join(' ').trim().slice(0, 100);
  return words || 'the engine';
}

export const engineSchema = (bin: string): Promise<Buffer> => print(bin, ['generate-schema'], SCHEMA_BYTES);
