/** VRL in a thread of its own: it is CPU-heavy, 80 MB once loaded, and programs come from outside. */
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import { parentPort } from 'node:worker_threads';
import type { Program, ProgramResult } from '../checks.ts';
import { type PlayedCase, type PlayedTransform, play } from '../transform-tests/play-case.ts';
import { runTransform, type TypedEvent } from '../transform-tests/run-transform.ts';
import { compileProgram } from './compile-program.ts';
import { testProgram } from './vrl-test.ts';

export type Question =
  | { id: number; kind: 'compile'; programs: Program[] }
  | { id: number; kind: 'test'; program: Program; event: string }
  | { id: number; kind: 'transform'; played: PlayedCase; events: string }
  | { id: number; kind: 'run'; played: PlayedTransform; events: string };

/** 256 MiB. A program that wants more fails, where it would otherwise take up to 4 GiB of the controller's memory. */
const MEMORY_PAGES = 4096;

// Only memory that is made afterwards is bounded, so VRL is loaded after it. An `import` would search its 12 MB for exports
// first, which takes as long as a fifth of all.
v8.setFlagsFromString(`--wasm-max-mem-pages=${MEMORY_PAGES}`);
const verel: typeof import('@bpinternal/verel') = createRequire(import.meta.url)('@bpinternal/verel');

let isSpoiled = false;

function compile(program: Program): ProgramResult {
  try {
    return compileProgram(verel.check, program.source);
  } catch (error) {
    isSpoiled = true;
    const message = error instanceof Error ? error.message : String(error);
    return { errors: [], unknown: [`this program (the VRL compiler failed: ${message.slice(0, 200)})`] };
  }
}

/** Half surrogate pairs, which JSON can name, stop VRL. */
function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name.toWellFormed(), item]));
}

parentPort?.on('message', (question: Question) => {
  const { id } = question;
  if (question.kind === 'compile') {
    parentPort?.postMessage({ id, answer: question.programs.map(compile) });
    // WebAssembly that has stopped once is not used again.
    if (isSpoiled) process.exit();
    return;
  }
  // What is thrown here ends the thread, for the same reason.
  if (question.kind === 'transform') {
    const events = JSON.parse(question.events, wellFormed) as object[];
    parentPort?.postMessage({ id, answer: play(verel, question.played, events) });
    return;
  }
  if (question.kind === 'run') {
    const events = JSON.parse(question.events, wellFormed) as TypedEvent[];
    parentPort?.postMessage({ id, answer: runTransform(verel, question.played, events) });
    return;
  }
  const event = JSON.parse(question.event, wellFormed) as object;
  parentPort?.postMessage({ id, answer: testProgram(verel, question.program, event) });
});
parentPort?.postMessage({ ready: true });
