import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../platform/logger.ts';
import type { Program, ProgramResult } from './checks.ts';

const DEADLINE_MS = 10_000;
const CACHED_PROGRAMS = 20_000;
const MAX_SOURCE_CHARS = 262_144;

interface Waiting {
  resolve(results: ProgramResult[]): void;
  timer: NodeJS.Timeout;
  count: number;
}

export interface VrlCompiler {
  readonly name: string;
  compile(programs: readonly Program[]): Promise<ProgramResult[]>;
  stop(): Promise<void>;
}

/** Loads the compiler's thread when the first program comes; ends and replaces it when a program takes too long. */
export function createVrlCompiler(log: Logger): VrlCompiler {
  const cache = new Map<string, ProgramResult>();
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let nextId = 1;

  function giveUp(reason: string): void {
    const ended = worker;
    worker = null;
    void ended?.terminate();
    for (const [id, request] of waiting) {
      clearTimeout(request.timer);
      waiting.delete(id);
      request.resolve(
        Array.from({ length: request.count }, () => ({ errors: [], unknown: [`this program (${reason})`] })),
      );
    }
  }

  function thread(): Worker {
    if (worker) return worker;
    const made = new Worker(new URL('./vrl-worker.ts', import.meta.url), { name: 'vrl' });
    made.unref();
    made.on('message', ({ id, results }: { id: number; results: ProgramResult[] }) => {
      const request = waiting.get(id);
      if (!request) return;
      clearTimeout(request.timer);
      waiting.delete(id);
      request.resolve(results);
    });
    made.on('error', (error) => {
      log.warn({ reason: error.message }, 'the VRL compiler ended');
      if (worker === made) giveUp('the VRL compiler ended');
    });
    worker = made;
    return made;
  }

  function ask(sources: string[]): Promise<ProgramResult[]> {
    const id = nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => giveUp(`compiling took longer than ${DEADLINE_MS / 1000} s`),
        DEADLINE_MS,
      );
      waiting.set(id, { resolve, timer, count: sources.length });
      thread().postMessage({ id, sources });
    });
  }

  return {
    name: 'VRL for WebAssembly',
    async compile(programs) {
      const keys = programs.map((program) => createHash('sha256').update(program.source).digest('base64'));
      const missing = [...new Set(keys.map((key, index) => (cache.has(key) ? -1 : index)))].filter(
        (index) => index >= 0,
      );
      const askable = missing.filter((index) => (programs[index]?.source.length ?? 0) <= MAX_SOURCE_CHARS);
      if (askable.length > 0) {
        const results = await ask(askable.map((index) => programs[index]?.source ?? ''));
        if (cache.size + results.length > CACHED_PROGRAMS) cache.clear();
        results.forEach((result, at) => {
          const key = keys[askable[at] ?? -1];
          if (key !== undefined && result.unknown.length === 0) cache.set(key, result);
        });
        const fresh = new Map(askable.map((index, at) => [keys[index], results[at]]));
        return keys.map((key, index) => fresh.get(key) ?? cache.get(key) ?? tooLong(programs[index]));
      }
      return keys.map((key, index) => cache.get(key) ?? tooLong(programs[index]));
    },
    async stop() {
      giveUp('the controller is stopping');
    },
  };
}

function tooLong(program: Program | undefined): ProgramResult {
  const message = `the program has ${program?.source.length ?? 0} characters, the limit is ${MAX_SOURCE_CHARS}`;
  return { errors: [{ message, line: 1, column: 1, hint: 'split it over several transforms' }], unknown: [] };
}
