/** The built agent as a process of its own, beside a controller that a test has started. */
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoAgent, startAgent } from '../../../controller/demo/agents.ts';
import { runningProcess } from '../../../controller/platform/runtime/process-record.ts';
import { freeBase } from '../harness/headgate.ts';

/** HEADGATE_TEST_DIST: a folder with executables of one's own. */
const dist = process.env.HEADGATE_TEST_DIST ?? join(import.meta.dirname, '../../../dist');
export const ENGINE = join(dist, 'headgate-engine');

export interface NodeAgent {
  dataDir: string;
  /** Null while it does not run. */
  pid(): number | null;
  /** What it has logged since it was first started. */
  log(): Promise<AgentRecord[]>;
  /** Starts it again with the same identity, where it has ended. */
  start(): Promise<void>;
  /** Ends it in order, and its engines. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export interface AgentRecord {
  /** Milliseconds since 1970. */
  at: number;
  message: string;
  fields: Record<string, string>;
}

/** `url`: where it finds the controller. `token` is an enrollment token. */
export async function startNodeAgent(options: {
  url: string;
  token: string;
  name?: string;
}): Promise<NodeAgent> {
  const { url, token, name = 'node' } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-agent-'));
  const portBase = await freeBase();
  let agent: DemoAgent | undefined;
  const start = async () => {
    agent = await startAgent({
      name,
      binary: join(dist, 'headgate-agent'),
      url,
      token,
      dataDir,
      engineBin: ENGINE,
      portBase,
      metricsPort: portBase + 390,
      labels: `name=${name}`,
      environment: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      onExit: () => {},
    });
  };
  await start();
  return {
    dataDir,
    pid: () => runningProcess(join(dataDir, 'agent.pid')),
    async log() {
      const text = await readFile(join(dataDir, 'agent.log'), 'utf8');
      return text
        .split('\n')
        .filter((line) => line.startsWith('time='))
        .map(readRecord);
    },
    start,
    stop: async () => agent?.stop(),
    async remove() {
      await agent?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A line of logfmt: `time=… level=… msg="…" key=value`. */
function readRecord(line: string): AgentRecord {
  const pairs = line.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|\S*)/g);
  const {
    time = '',
    msg = '',
    ...fields
  } = Object.fromEntries(
    [...pairs].map(([, key = '', text = '']) => [
      key,
      text.startsWith('"') ? String(JSON.parse(text)) : text,
    ]),
  );
  return { at: Date.parse(time), message: msg, fields };
}
