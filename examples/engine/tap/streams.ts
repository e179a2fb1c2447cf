import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Batch } from '../event.ts';
import { metricJson } from '../sinks/encoding.ts';
import type { TapPoint } from '../topology/tap-point.ts';
import { matchPoints, readQuery } from './request.ts';
import { Reservoir } from './reservoir.ts';

/** Taps of one engine at a time. */
const MOST_STREAMS = 32;
/** An empty line at least this often, so that both ends see that the other one is there. */
const KEEP_ALIVE_MS = 10_000;

/** Every line of a stream is one of these as JSON. */
export type StreamLine = { notice: string } | (TapPoint['component'] & { event: WrappedEvent });
/** An event under its kind, as Vector prints it since 0.55. */
export type WrappedEvent = { log: unknown } | { metric: unknown };

/**
 * `GET /tap` of the engine's API: lines of JSON, in bursts. A tap holds a bounded choice of events and never makes the
 * pipeline wait; while its client is slow it chooses from more of them. Outputs that nobody taps do nothing for this.
 */
export class TapStreams {
  #points: readonly TapPoint[] = [];
  readonly #ends = new Set<() => void>();

  /** The topology runs. */
  show(points: readonly TapPoint[]): void {
    this.#points = points;
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET') {
      response.writeHead(405, { allow: 'GET' }).end();
      return;
    }
    const wish = readQuery(new URL(request.url ?? '', 'http://engine').searchParams);
    if (typeof wish === 'string') {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(wish);
      return;
    }
    const all = this.#points;
    if (all.length === 0 || this.#ends.size >= MOST_STREAMS) {
      const reason = all.length === 0 ? 'the pipeline has not started' : `there are ${MOST_STREAMS} taps`;
      response.writeHead(503, { 'content-type': 'text/plain' }).end(reason);
      return;
    }
    const { points, notices } = matchPoints(all, wish);
    const reservoir = new Reservoir(wish.limit);
    const unlisten = points.map((point) => point.output.listen(listenerOf(point, reservoir)));
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(notices.map((notice) => `${JSON.stringify({ notice })}\n`).join(''));
    let writtenAt = performance.now();
    const flush = () => {
      if (response.writableNeedDrain) return;
      const lines = reservoir.take();
      if (lines.length === 0 && performance.now() - writtenAt < KEEP_ALIVE_MS) return;
      writtenAt = performance.now();
      response.write(`${lines.join('\n')}\n`);
    };
    const timer = setInterval(flush, wish.intervalMs);
    const end = () => {
      for (const stop of unlisten) stop();
      clearInterval(timer);
      this.#ends.delete(finish);
    };
    const finish = () => {
      flush();
      end();
      response.end();
    };
    this.#ends.add(finish);
    response.once('close', end);
  }

  /** Sends what is held and ends all taps. */
  close(): void {
    for (const finish of [...this.#ends]) finish();
  }
}

/** The text is made at once: what happens to the event later is not seen. */
function listenerOf({ component }: TapPoint, reservoir: Reservoir): (batch: Batch) => void {
  const line = (event: WrappedEvent) => JSON.stringify({ ...component, event } satisfies StreamLine);
  return (batch) => {
    try {
      if (batch.kind === 'log') {
        for (const event of batch.events) reservoir.offer(() => line({ log: event }));
      } else {
        for (const event of batch.events) reservoir.offer(() => line({ metric: metricJson(event) }));
      }
    } catch {
      // What has no form as JSON is not shown. It must not hurt the pipeline.
    }
  };
}
