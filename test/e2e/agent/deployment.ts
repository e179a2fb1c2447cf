/** Agents outside and inside of a container, whatever the tests themselves run in. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { deploymentMode } from '../../../agent/report/deployment-mode.ts';

const SCRIPT = join(import.meta.dirname, 'standalone.sh');

/**
 * Shell words to go before a program that is to find itself in this mode; undefined where that cannot be had. Under
 * another root where it must, which takes root and a mount namespace.
 */
export function deployed(mode: 'STANDALONE' | 'DOCKER', dir: string): string | undefined {
  if (deploymentMode() === mode) return 'exec';
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return `exec unshare -m sh '${SCRIPT}' ${mode.toLowerCase()} '${dir}'`;
  } catch {
    return undefined;
  }
}
