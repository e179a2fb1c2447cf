/**
 * A program of the operator's. It is told names on its standard input, and answers with values on its output: the
 * protocol of Vector's own exec backend, of version 1.0 or 1.1. No shell is between, and nothing of the controller's environment.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import type { ExecConfig } from '../../../schemas/api/secret-backends.ts';
import { searchPath } from '../../platform/runtime/search-path.ts';
import { BACKEND_LIMITS, BackendError, quoted, type Reading, type SecretBackend } from './backend.ts';
import { recordOf } from './http-call.ts';
import { readingIn, type SecretRef } from './secret-ref.ts';

/** Names a run: a program that looks up one after the other is to keep its deadline. */
const AT_ONCE = 50;

/** Of version 1.1: which of its backends the program is to ask, and how. */
export interface ExecRequest {
  type: string;
  config: Readonly<Record<string, unknown>>;
}

/** `told`: by version 1.1; null: by 1.0. */
export function createExecBackend(config: ExecConfig, told: ExecRequest | null = null): SecretBackend {
  const asking = (secrets: readonly string[]) =>
    told === null ? { version: '1.0', secrets } : { version: '1.1', secrets, ...told };
  /** By name or path. */
  async function ask(names: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Answer>> {
    const output = await run(config, JSON.stringify(asking(names)), signal);
    let answer: Record<string, unknown> | null;
    try {
      answer = recordOf(JSON.parse(output));
    } catch {
      answer = null;
    }
    if (!answer) {
      throw refused(
        config,
        'printed no JSON object; it must print {"<name>":{"value":"…","error":null}} and nothing else',
      );
    }
    const values = Object.values(answer).map((one) => recordOf(one)?.value);
    const texts = values.filter((one): one is string => typeof one === 'string');
    return new Map(names.map((name) => [name, answerTo(answer, name, texts)]));
  }

  return {
    kind: 'EXEC',
    outside: true,
    async check(signal) {
      await mayRun(config);
      await ask([], signal);
    },
    async read(refs, signal) {
      const answers = new Map<string, Answer>();
      const asked = [...new Set(refs.filter((ref) => objectionTo(ref) === null).map(askedAs))];
      for (let at = 0; at < asked.length; at += AT_ONCE) {
        const some = await ask(asked.slice(at, at + AT_ONCE), signal);
        for (const [name, answer] of some) answers.set(name, answer);
      }
      return new Map(refs.map((ref) => [ref.name, readingFor(ref, answers.get(askedAs(ref)))]));
    },
    write: async () => {
      throw new BackendError(
        'refused',
        'This environment asks a program for its secrets, which can be read only. Store the value where the program looks, then name it with secret.register',
      );
    },
    close: () => {},
  };
}

/** Its text as it is, or why there is none. */
type Answer = { text: string } | { error: string };

const askedAs = ({ name, path }: SecretRef): string => path ?? name;

/** A program may take what it is asked for as a file below a folder of its own. */
function objectionTo({ path, version }: SecretRef): string | null {
  if (version !== null) return 'a program is asked for no versions; leave the version out';
  return path?.startsWith('/') ? 'a program is asked for no path that begins with /' : null;
}

function readingFor(ref: SecretRef, answer: Answer | undefined): Reading {
  const objection = objectionTo(ref);
  if (objection !== null) return { error: objection };
  if (!answer) return { error: `the program says nothing of ${askedAs(ref)}` };
  return 'error' in answer ? answer : readingIn(answer.text, ref, askedAs(ref));
}

function answerTo(answer: Record<string, unknown>, name: string, values: readonly string[]): Answer {
  const entry = Object.hasOwn(answer, name) ? recordOf(answer[name]) : null;
  if (!entry) return { error: `the program says nothing of ${name}` };
  if (typeof entry.error === 'string' && entry.error !== '')
    return { error: `the program says: ${quoted(entry.error, values)}` };
  if (typeof entry.value !== 'string') return { error: `the program gives no text for ${name}` };
  return { text: entry.value };
}

const refused = ({ command }: ExecConfig, what: string) => new BackendError('refused', `${command} ${what}`);

async function mayRun(config: ExecConfig): Promise<void> {
  try {
    if (!(await stat(config.command)).isFile()) throw refused(config, 'is no file');
    await access(config.command, constants.X_OK);
  } catch (error) {
    if (error instanceof BackendError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT' || code === 'ENOTDIR'
        ? 'does not exist on the controller'
        : 'may not be run by the controller';
    throw refused(config, `${why} (${code})`);
  }
}

/** Its whole output. What it starts ends with it, at the latest after the deadline. */
async function run(config: ExecConfig, input: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(config.command, config.args ?? [], {
    cwd: '/',
    env: { PATH: searchPath, HOME: homedir(), LANG: 'C.UTF-8' },
    // What it says of its faults may hold values, so nobody reads it.
    stdio: ['pipe', 'pipe', 'ignore'],
    // A group of its own, so that nothing of it is left.
    detached: true,
  });
  const end = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  const deadlineMs = config.timeoutSeconds ? config.timeoutSeconds * 1_000 : BACKEND_LIMITS.deadlineMs;
  const chunks: Buffer[] = [];
  let size = 0;
  let late = false;
  // Out of file descriptors it has no pipes, and says why by the event below.
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > BACKEND_LIMITS.replyBytes) end();
    else chunks.push(chunk);
  });
  // It may end without reading on.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const timer = setTimeout(() => {
    late = true;
    end();
  }, deadlineMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    const { code, by } = await new Promise<{ code: number | null; by: NodeJS.Signals | null }>(
      (resolve, reject) => {
        child.on('error', (error: NodeJS.ErrnoException) =>
          reject(refused(config, `cannot be started (${error.code}); is it an executable of this machine?`)),
        );
        // Whatever it has left running would keep its output open.
        child.on('exit', end);
        child.on('close', (exit, killed) => resolve({ code: exit, by: killed }));
      },
    );
    signal.throwIfAborted();
    if (late)
      throw new BackendError(
        'unreachable',
        `${config.command} took longer than ${deadlineMs / 1_000} s and was ended; it may be given up to 60 s by timeoutSeconds`,
      );
    if (size > BACKEND_LIMITS.replyBytes) throw refused(config, 'printed more than 1 MiB and was ended');
    if (code !== 0) {
      throw refused(
        config,
        `ended with ${by ?? `code ${code}`}; run it by hand as the controller's user, with {"version":…,"secrets":[]} on its input`,
      );
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
