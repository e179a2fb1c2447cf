/** Ports for the demo's agents, so that it comes up beside another one. */
import { createServer } from 'node:net';

/** Of an agent. */
const PORTS_EACH = 100;
/** Free at the start of a range: two for each pipeline of the example, and some more. An engine whose port is taken moves on. */
const PORTS_NEEDED = 20;
/** The agents' own default (spec 1, Limits). */
const FIRST_BASE = 8_688;
/** Ranges that are tried. */
const RANGES = 100;

/** The first port from `start` on that nobody listens on. Throws where 100 in a row are taken. */
export async function freePort(start: number): Promise<number> {
  for (let port = start; port < start + 100; port += 1) {
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${start} to ${start + 99}`);
}

/**
 * The first engine port of each of `count` agents, 100 apart: counted from `given`, or where that is null the first ranges
 * that begin free.
 */
export async function enginePortBases(given: number | null, count: number): Promise<number[]> {
  if (given !== null) return Array.from({ length: count }, (_, index) => given + index * PORTS_EACH);
  const bases: number[] = [];
  for (let range = 0; range < RANGES && bases.length < count; range += 1) {
    const base = FIRST_BASE + range * PORTS_EACH;
    const ports = Array.from({ length: PORTS_NEEDED }, (_, index) => base + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) bases.push(base);
  }
  if (bases.length === count) return bases;
  throw new Error(
    `no free ports for the engines of ${count} agents from ${FIRST_BASE} on; set SVC_PORT_BASE to where there are some`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port }, () => probe.close(() => resolve(true)));
  });
}
