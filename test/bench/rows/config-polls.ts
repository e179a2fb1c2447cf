/** Config polls of one controller against a bare Koa route that sends the same bytes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startBare, startController } from '../child.ts';
import { type BenchFleet, type BenchNode, makeFleet } from '../fleet.ts';
import { drive } from '../load.ts';
import { cpuMs } from '../machine.ts';
import { pollRequest } from '../requests.ts';
import { median, percent, type Result, type Say, whole } from '../result.ts';

const ROUNDS = 4;
const ROUND_SECONDS = 2;
const CONNECTIONS = 64;
const GOAL = 0.8;

export async function configPolls(say: Say): Promise<Result[]> {
  say('config: making a fleet …');
  const fleet = await makeFleet();
  const started: Child[] = [];
  try {
    const headgate = await startController(join(fleet.folder, 'data'), {
      variables: { HEADGATE_DATABASE_URL: fleet.url },
    });
    started.push(headgate);
    const sample = await fetch(`http://127.0.0.1:${headgate.port}/api/agent/config`, {
      headers: { authorization: `Bearer ${fleet.nodes[0]?.token}` },
    });
    const body = await sample.text();
    if (!sample.ok) throw new Error(`the controller answered ${sample.status}: ${body.slice(0, 200)}`);
    const file = join(fleet.folder, 'body.json');
    writeFileSync(file, body);
    const bare = await startBare('config', { BARE_BODY: file });
    started.push(bare);
    const size = `${(Buffer.byteLength(body) / 1024).toFixed(1)} KB`;
    return [
      await compare(say, fleet, { what: `config poll, full answer (${size})`, status: 200 }, headgate, bare),
      await compare(
        say,
        fleet,
        { what: 'config poll, nothing new (304)', status: 304, etag: sample.headers.get('etag') ?? '' },
        headgate,
        bare,
      ),
    ];
  } finally {
    for (const child of started.reverse()) await child.stop();
    await fleet.remove();
  }
}

interface Poll {
  what: string;
  status: 200 | 304;
  etag?: string;
}

interface Rounds {
  perSecond: number[];
  /** The server's own CPU, microseconds a request: holds where something else slows the machine down. */
  cpuMicros: number[];
}

async function compare(
  say: Say,
  fleet: BenchFleet,
  poll: Poll,
  headgate: Child,
  bare: Child,
): Promise<Result> {
  const sides = [
    { child: headgate, etag: poll.etag, rounds: { perSecond: [], cpuMicros: [] } as Rounds },
    { child: bare, etag: poll.etag && '"bare"', rounds: { perSecond: [], cpuMicros: [] } as Rounds },
  ] as const;
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { child, etag, rounds } of round % 2 === 0 ? sides : [...sides].reverse()) {
      const { perSecond, cpuMicros } = await measure(child, fleet.nodes, poll.status, etag);
      // The first round warms both up.
      if (round < 0) continue;
      rounds.perSecond.push(perSecond);
      rounds.cpuMicros.push(cpuMicros);
    }
    say(`  ${poll.what}: round ${round + 1} of ${ROUNDS}`);
  }
  const [ours, theirs] = sides.map(({ rounds }) => ({
    perSecond: median(rounds.perSecond),
    cpu: median(rounds.cpuMicros),
  })) as [{ perSecond: number; cpu: number }, { perSecond: number; cpu: number }];
  // Neighbouring rounds are compared with each other, and the server's own CPU too: what else runs here moves neither.
  const ratio = median(sides[0].rounds.perSecond.map((rate, at) => rate / sides[1].rounds.perSecond[at]!));
  const byCpu = theirs.cpu / ours.cpu;
  return {
    what: poll.what,
    goal: `≥ ${percent(GOAL)} of bare Koa`,
    measured:
      `${percent(ratio)}: ${whole(ours.perSecond)} against ${whole(theirs.perSecond)} a second; ` +
      `by CPU ${percent(byCpu)}: ${ours.cpu.toFixed(1)} against ${theirs.cpu.toFixed(1)} µs a request`,
    ok: Math.min(ratio, byCpu) >= GOAL,
  };
}

async function measure(child: Child, nodes: readonly BenchNode[], status: number, etag?: string) {
  let turn = 0;
  const cpuBefore = cpuMs(child.pid);
  const { requests, seconds, statuses } = await drive({
    port: child.port,
    connections: CONNECTIONS,
    seconds: ROUND_SECONDS,
    next: () => pollRequest(nodes[turn++ % nodes.length]!, etag),
  });
  if (statuses.get(status) !== requests) {
    throw new Error(`expected ${status} everywhere, got ${JSON.stringify([...statuses])}`);
  }
  return {
    perSecond: requests / seconds,
    cpuMicros: ((cpuMs(child.pid) - cpuBefore) * 1_000) / requests,
  };
}
