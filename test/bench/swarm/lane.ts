/** A connection that a few nodes share, one request at a time; it is opened when one of them has something to send. */
import { type Connection, dial } from '../connection.ts';
import { clock } from './messages.ts';

export interface Job {
  /** When the agent would give up waiting, counted from sending; milliseconds. */
  patienceMs: number;
  bytes(): Buffer;
  /** `status` 0 where no answer came; `sent` 0 where it did not even go out. */
  ended(status: number, etag: string, sent: number): void;
}

export class Lane {
  readonly #port: number;
  readonly #waiting: Job[] = [];
  #connection: Connection | undefined;
  #isOpen = false;
  #current: Job | undefined;
  #sentAt = 0;

  constructor(port: number) {
    this.#port = port;
  }

  get isBusy(): boolean {
    return this.#current !== undefined || this.#waiting.length > 0;
  }

  add(job: Job): void {
    this.#waiting.push(job);
    if (!this.#connection) this.#dial();
    else if (this.#isOpen && !this.#current) this.#next();
  }

  /** Hangs up where an answer has been missing for longer than the agent would wait. */
  watch(now: number): void {
    if (this.#current && now - this.#sentAt > this.#current.patienceMs) this.#connection?.destroy();
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
  }

  #dial(): void {
    this.#isOpen = false;
    this.#connection = dial(this.#port, {
      ready: () => {
        this.#isOpen = true;
        this.#next();
      },
      answered: (status, etag) => this.#end(status, etag),
      closed: () => this.#closed(),
    });
  }

  #next(): void {
    const job = this.#waiting.shift();
    if (!job) return;
    this.#current = job;
    this.#sentAt = clock();
    this.#connection?.send(job.bytes());
  }

  #end(status: number, etag: string): void {
    const job = this.#current;
    this.#current = undefined;
    job?.ended(status, etag, this.#sentAt);
    if (!this.#current) this.#next();
  }

  /** What was under way fails; what waited fails too where nobody listens, and is tried on a new connection otherwise. */
  #closed(): void {
    const wasOpen = this.#isOpen;
    this.#connection = undefined;
    this.#isOpen = false;
    const job = this.#current;
    this.#current = undefined;
    job?.ended(0, '', this.#sentAt);
    if (!wasOpen) for (const waiting of this.#waiting.splice(0)) waiting.ended(0, '', 0);
    if (this.#waiting.length > 0 && !this.#connection) this.#dial();
  }
}
