import { type ChildProcess, execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { cleanEnvironment } from './engine-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The engine's absolute path, looked up at each start, so that an engine that is installed later is found. */
export function findExecutable(name: string, env: Environment): string | undefined {
  if (name.includes('/')) return isExecutable(resolve(name)) ? resolve(name) : undefined;
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder && isExecutable(join(folder, name))) return resolve(folder, name);
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** First line of `--version`, at most 256 characters; empty when the engine is missing or does not answer in 5 s. */
export function engineVersion(
  name: string,
  env: Environment,
  started = (_: ChildProcess) => {},
): Promise<string> {
  const path = findExecutable(name, env);
  if (!path) return Promise.resolve('');
  return new Promise((done) => {
    const options = {
      env: cleanEnvironment(env),
      timeout: 5_000,
      killSignal: 'SIGKILL',
      maxBuffer: 65_536,
    } as const;
    const child = execFile(path, ['--version'], options, (error, stdout) => {
      done(error ? '' : (stdout.split('\n')[0] ?? '').trim().slice(0, 256));
    });
    started(child);
  });
}
