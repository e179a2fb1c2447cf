import { createHash } from 'node:crypto';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import type { Program, ProgramResult } from '../checks.ts';
import { VrlThread } from './vrl-thread.ts';

const DEADLINE_MS = 10_000;
const CACHED_PROGRAMS = 20_000;
const MAX_SOURCE_CHARS = 262_144;

export interface VrlCompiler {
  readonly name: string;
  compile(programs: readonly Program[]): Promise<ProgramResult[]>;
  stop(): void;
}

/** Loads the compiler's thread when the first program comes; replaces it when a program took too long. */
export function createVrlCompiler(log: Logger): VrlCompiler {
  const cache = new Map<string, ProgramResult>();
  let thread: VrlThread | null = null;
  let stopped = false;

  async function ask(programs: Program[]): Promise<ProgramResult[]> {
    if (!thread || thread.ended) thread = new VrlThread();
    try {
      return await thread.compile(programs, DEADLINE_MS);
    } catch (error) {
      const reason = messageOf(error);
      if (!stopped) log.warn({ reason }, 'the VRL compiler ended');
      return programs.map(() => ({ errors: [], unknown: [`this program (${reason})`] }));
    }
  }

  return {
    name: 'VRL for WebAssembly',
    async compile(programs) {
      const found = new Map<string, ProgramResult>();
      const asked = new Map<string, Program>();
      for (const program of programs) {
        const key = keyOf(program);
        const known = cache.get(key) ?? tooLong(program);
        if (known) found.set(key, known);
        else asked.set(key, program);
      }
      if (asked.size > 0) {
        const results = await ask([...asked.values()]);
        if (cache.size + results.length > CACHED_PROGRAMS) cache.clear();
        for (const [at, key] of [...asked.keys()].entries()) {
          const result = results[at] ?? {
            errors: [],
            unknown: ['this program (the VRL compiler did not answer)'],
          };
          found.set(key, result);
          if (result.unknown.length === 0) cache.set(key, result);
        }
      }
      return programs.flatMap((program) => found.get(keyOf(program)) ?? []);
    },
    stop() {
      stopped = true;
      thread?.end('the controller is stopping');
    },
  };
}

function keyOf({ source }: Program): string {
  return createHash('sha256').update(source).digest('base64');
}

function tooLong({ source }: Program): ProgramResult | undefined {
  if (source.length <= MAX_SOURCE_CHARS) return undefined;
  const message = `the program has ${source.length} characters, the limit is ${MAX_SOURCE_CHARS}`;
  return { errors: [{ message, line: 1, column: 1, hint: 'split it over several transforms' }], unknown: [] };
}
