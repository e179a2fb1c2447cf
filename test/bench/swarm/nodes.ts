/**
 * The nodes of the swarm. Each polls and sends a heartbeat at its own phase, at times that are fixed beforehand; like an
 * agent, it has one request of a kind under way. What falls due meanwhile is answered by the same answer and counts from
 * its own time, so that a stall weighs what it would cost and does not end in a flood that no fleet would send.
 */
import { heartbeatWriter, pollRequest } from '../requests.ts';
import { Lane } from './lane.ts';
import { clock, type SwarmPlan } from './messages.ts';
import { HEARTBEAT, POLL, Samples } from './samples.ts';
import { openStreams, type Streams } from './streams.ts';
import { Wheel } from './wheel.ts';

/** As agents have them. */
const JITTER = 0.1;
const POLL_PATIENCE_MS = 20_000;
const HEARTBEAT_PATIENCE_MS = 10_000;
const PUSH_DEBOUNCE_MS = 1_000;
/** A heartbeat follows its poll. */
const HEARTBEAT_AFTER_MS = 50;
/** Engines restart in one heartbeat of so many; a prime, so that it is another node's each time. */
const STATE_CHANGES_EVERY = 101;

/** Of a node's requests of one kind. */
interface Course {
  /** When what is under way was due, and what fell due since. */
  under: number[];
}

export class Nodes {
  readonly samples = new Samples();
  /** By node: the restarts in the last heartbeat that was accepted; -1 where none was. */
  readonly accepted: Int32Array;
  readonly #plan: SwarmPlan;
  readonly #lanes: Lane[];
  readonly #etags: (string | undefined)[];
  readonly #courses: Course[];
  readonly #wheel: Wheel;
  readonly #writers = new Map<string, ReturnType<typeof heartbeatWriter>>();
  #streams: Streams | undefined;
  readonly #restarts: Int32Array;
  #sequence = 0;
  #running = false;
  #conditional = true;
  #lookedAt = 0;

  constructor(plan: SwarmPlan) {
    const count = plan.nodes.length;
    this.#plan = plan;
    this.accepted = new Int32Array(count).fill(-1);
    this.#restarts = new Int32Array(count);
    this.#lanes = Array.from({ length: Math.min(plan.connections, count) }, () => new Lane(plan.port));
    this.#etags = new Array(count).fill(undefined);
    this.#courses = Array.from({ length: count * 2 }, () => ({ under: [] }));
    // Per node: poll, heartbeat, and the heartbeat after a pushed poll.
    this.#wheel = new Wheel(count * 3);
    for (const { environment } of plan.nodes)
      if (!this.#writers.has(environment.id))
        this.#writers.set(environment.id, heartbeatWriter(environment.pipelineIds));
  }

  get streamsOpen(): number {
    return this.#streams?.open() ?? 0;
  }

  get isQuiet(): boolean {
    return !this.#lanes.some((lane) => lane.isBusy);
  }

  steady(): void {
    const { nodes, periodMs, streams } = this.#plan;
    const begin = clock() + 100;
    this.#running = true;
    this.#conditional = true;
    // Neighbours share a connection: their phases lie half a period apart, so that they seldom meet on it.
    const lanes = this.#lanes.length;
    for (const node of nodes.keys()) {
      const place = ((node % lanes) / lanes + Math.floor(node / lanes) * (lanes / nodes.length)) % 1;
      this.#wheel.at(node * 3, begin + periodMs * (place + Math.random() / nodes.length));
    }
    if (streams > 0)
      this.#streams ??= openStreams(this.#plan.port, nodes.slice(0, streams), (node) => this.#pushed(node));
  }

  /** Every node polls for the full answer: all at this moment, or spread evenly over the next `overMs`. */
  herd(overMs: number): void {
    const { nodes } = this.#plan;
    const begin = clock();
    this.#conditional = false;
    for (const node of nodes.keys()) {
      if (overMs === 0) this.#begin(node, POLL, begin);
      else this.#wheel.at(node * 3, begin + (overMs * node) / nodes.length);
    }
  }

  halt(): void {
    this.#running = false;
    this.#streams?.stop();
    this.#streams = undefined;
  }

  turn(): void {
    this.#wheel.turn((event) => this.#fire(event));
    const now = clock();
    if (now - this.#lookedAt < 250) return;
    this.#lookedAt = now;
    for (const lane of this.#lanes) lane.watch(now);
  }

  async close(): Promise<void> {
    this.halt();
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  #fire(event: number): void {
    const node = Math.floor(event / 3);
    const due = this.#wheel.dueAt[event]!;
    if (event % 3 !== 0) {
      if (this.#running) this.#begin(node, HEARTBEAT, due);
      return;
    }
    if (!this.#running && this.#conditional) return;
    this.#begin(node, POLL, due);
    if (!this.#running) return;
    this.#wheel.at(event + 1, due + HEARTBEAT_AFTER_MS);
    this.#wheel.at(event, due + this.#plan.periodMs * (1 + JITTER * (Math.random() - 0.5)));
  }

  /** Told to look again: a poll at once, and a heartbeat when the push messages of a moment have gathered. */
  #pushed(node: number): void {
    if (!this.#running) return;
    this.#begin(node, POLL, clock());
    const event = node * 3 + 2;
    if (this.#wheel.dueAt[event]! < clock()) this.#wheel.at(event, clock() + PUSH_DEBOUNCE_MS);
  }

  #begin(node: number, kind: typeof POLL | typeof HEARTBEAT, due: number): void {
    const course = this.#courses[node * 2 + kind]!;
    course.under.push(due);
    if (course.under.length > 1) return;
    const lane = this.#lanes[node % this.#lanes.length]!;
    const held = lane.isBusy;
    let restarts = 0;
    const which = this.#plan.nodes[node]!;
    lane.add({
      patienceMs: kind === POLL ? POLL_PATIENCE_MS : HEARTBEAT_PATIENCE_MS,
      bytes: () => {
        if (kind === POLL) return pollRequest(which, this.#conditional ? this.#etags[node] : undefined);
        this.#sequence += 1;
        if (this.#sequence % STATE_CHANGES_EVERY === 0) this.#restarts[node]! += 1;
        restarts = this.#restarts[node]!;
        return this.#writers.get(which.environment.id)!(which, this.#sequence, restarts);
      },
      ended: (status, etag, sent) => {
        if (etag !== '') this.#etags[node] = etag;
        if (kind === HEARTBEAT && status === 200) this.accepted[node] = restarts;
        const ended = clock();
        for (const [later, at] of course.under.splice(0).entries())
          this.samples.add({ kind, node, status, due: at, sent: later === 0 ? sent : 0, ended, held });
      },
    });
  }
}
