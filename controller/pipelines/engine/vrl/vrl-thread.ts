/** A thread with VRL in it. Whatever takes too long, or stops it, ends it with all that was asked of it. */
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Program, ProgramResult } from '../checks.ts';
import type { PlayedCase, PlayedTransform } from '../transform-tests/play-case.ts';
import type { TransformRun } from '../transform-tests/run-transform.ts';
import type { Verdict } from '../transform-tests/test-case.ts';
import type { VrlTest } from './vrl-test.ts';
import type { Question } from './vrl-worker.ts';

/** To load VRL, on a machine that has much else to do. */
const LOAD_MS = 30_000;
const HEAP_MB = 256;

type Message = { ready: true } | { id: number; answer: unknown };

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
  limitMs: number;
  timer: NodeJS.Timeout;
}

export class VrlThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #ready = false;
  #ended = false;
  #nextId = 1;

  constructor() {
    this.#worker = new Worker(new URL('./vrl-worker.ts', import.meta.url), {
      name: 'vrl',
      // Nothing of the controller's own is in reach of a program, and what it prints goes nowhere.
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.unref();
    this.#worker.on('message', (message: Message) => this.#take(message));
    this.#worker.on('error', (error) => this.end(`VRL stopped: ${messageOf(error).split('\n')[0]}`));
    this.#worker.on('exit', () => this.end('VRL stopped'));
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Rejects when the thread ends first. `limitMs` counts from when VRL is loaded. */
  compile(programs: Program[], limitMs: number): Promise<ProgramResult[]> {
    const id = this.#nextId++;
    return this.#ask({ id, kind: 'compile', programs }, limitMs) as Promise<ProgramResult[]>;
  }

  test(program: Program, event: string, limitMs: number): Promise<VrlTest> {
    const id = this.#nextId++;
    return this.#ask({ id, kind: 'test', program, event }, limitMs) as Promise<VrlTest>;
  }

  /** `events` is the JSON of an array of objects. */
  play(played: PlayedCase, events: string, limitMs: number): Promise<Verdict> {
    const id = this.#nextId++;
    return this.#ask({ id, kind: 'transform', played, events }, limitMs) as Promise<Verdict>;
  }

  /** `events` is the JSON of an array of `TypedEvent`. */
  run(played: PlayedTransform, events: string, limitMs: number): Promise<TransformRun> {
    const id = this.#nextId++;
    return this.#ask({ id, kind: 'run', played, events }, limitMs) as Promise<TransformRun>;
  }

  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    void this.#worker.terminate();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(reason));
    }
    this.#waiting.clear();
  }

  #ask(question: Question, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(new Error('VRL has stopped'));
      const timer = this.#timer(this.#ready ? limitMs : LOAD_MS);
      this.#waiting.set(question.id, { resolve, reject, limitMs, timer });
      this.#worker.postMessage(question);
    });
  }

  #timer(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.end(`VRL took longer than ${ms / 1000} s`), ms);
  }

  #take(message: Message): void {
    if ('ready' in message) {
      this.#ready = true;
      for (const waiting of this.#waiting.values()) {
        clearTimeout(waiting.timer);
        waiting.timer = this.#timer(waiting.limitMs);
      }
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(message.id);
    waiting.resolve(message.answer);
  }
}
