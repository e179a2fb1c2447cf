import { spawn } from 'node:child_process';
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { cleanEnvironment } from '../supervise/environment.ts';
import { signalGroup } from '../supervise/process.ts';
import { UpdateError } from './download.ts';
import { sameVersion } from './order.ts';

/** What stands before the 32 bytes of an Ed25519 key in its standard form (RFC 8410). */
const KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Base64 of the 32 bytes, or PEM; undefined for what is no public Ed25519 key. */
export function readPublicKey(text: string): KeyObject | undefined {
  try {
    const raw = /^[A-Za-z0-9+/]{43}=?$/.test(text.trim()) ? Buffer.from(text, 'base64') : undefined;
    const key = raw
      ? createPublicKey({ key: Buffer.concat([KEY_PREFIX, raw]), format: 'der', type: 'spki' })
      : createPublicKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Throws UpdateError unless the signature over the digest is by this very key. */
export function checkSignature(key: KeyObject, digest: Buffer, signature: string | undefined): void {
  if (!signature) throw new UpdateError('it is not signed, and SVC_UPDATE_PUBLIC_KEY asks for a signature');
  const good = verify(null, digest, key, Buffer.from(signature, 'base64'));
  if (!good) throw new UpdateError('the signature is not by the key of SVC_UPDATE_PUBLIC_KEY');
}

const OUTPUT_CHARS = 4_096;
const BUSY_TRIES = 20;
const BUSY_WAIT_MS = 50;

/** Runs the file, which must say the version and nothing else. Throws UpdateError. */
export async function checkVersion(
  path: string,
  wanted: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number = LIMITS.updateVersionMs,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const said = await ask(path, env, timeoutMs);
      if (sameVersion(said, wanted)) return;
      throw new UpdateError(`the file says that it is version ${JSON.stringify(said.slice(0, 80))}`);
    } catch (error) {
      if (error instanceof UpdateError) throw error;
      // An engine that was started in this moment still holds our handle to the file, until it has become itself.
      const busy = (error as NodeJS.ErrnoException).code === 'ETXTBSY' && attempt < BUSY_TRIES;
      if (!busy) throw new UpdateError(cannotRun(error));
      await new Promise((done) => setTimeout(done, BUSY_WAIT_MS));
    }
  }
}

/** What it prints. In a group of its own, so that whatever it has started ends with it. */
function ask(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(path, ['--version'], {
      cwd: '/',
      env: cleanEnvironment(env),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    let ended = '';
    const end = () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL');
    const timer = setTimeout(() => {
      ended = `did not tell its version within ${timeoutMs / 1_000} s`;
      end();
    }, timeoutMs);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (said.length < OUTPUT_CHARS) said += chunk.toString('utf8');
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
    child.once('exit', (code, signal) => {
      if (code !== 0) ended ||= `ended with ${signal ?? `code ${code}`} when asked for its version`;
      end();
    });
    child.once('close', () => {
      clearTimeout(timer);
      if (ended) fail(new UpdateError(`the file ${ended}`));
      else done(said.trim());
    });
  });
}

function cannotRun(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error).slice(0, 100);
  return `the file cannot be run here (${code}); it must be built for ${process.platform}/${process.arch}`;
}
