/** The CPU time that reading the commands of a push takes, when its bytes come whole and when they come one by one. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readPush } from '../../../api/git/receive-pack.ts';
import { median, ms, type Result, type Say, whole } from '../result.ts';

const BYTES = 12_000;
const ROUNDS = 5;
const ID = 'a'.repeat(40);

export async function receive(say: Say): Promise<Result[]> {
  say('receive: a push in one-byte chunks …');
  const line = `${ID} ${ID} refs/heads/branch-0123456789`;
  const packet = `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
  const bytes = Buffer.from(`${packet.repeat(Math.ceil(BYTES / packet.length))}0000`);
  const cpuOf = async (size: number): Promise<number> => {
    const count = Math.ceil(bytes.length / size);
    const chunks = Array.from({ length: count }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
    const request = Object.assign(Readable.from(chunks), { headers: {} }) as unknown as IncomingMessage;
    const before = process.cpuUsage();
    const { push } = await readPush(request);
    const { user, system } = process.cpuUsage(before);
    if (push === null) throw new Error('the push was not read');
    return (user + system) / 1_000;
  };
  const wholes: number[] = [];
  const singles: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    wholes.push(await cpuOf(bytes.length));
    singles.push(await cpuOf(1));
  }
  return [
    {
      what: `reading the commands of a push, ${whole(bytes.length)} bytes one by one`,
      goal: '< 100 ms of CPU',
      measured: `median ${ms(median(singles))}, most of ${ROUNDS} ${ms(Math.max(...singles))}; whole ${ms(median(wholes))}`,
      ok: median(singles) < 100,
    },
  ];
}
