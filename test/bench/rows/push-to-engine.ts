/** From `git push` to the process of the changed engine, on a whole Headgate as `make run` starts it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GIT_ENVIRONMENT } from '../../support/clients/git-client.ts';
import { namedPipeline, untilRunning } from '../../support/fixtures/pipelines.ts';
import { type RunningHeadgate, startHeadgate } from '../../support/harness/headgate.ts';
import { until } from '../../support/harness/until.ts';
import { ms, percentile, type Result, type Say } from '../result.ts';

const PUSHES = 30;
const run = promisify(execFile);
const MANIFEST = 'environments/staging/pipelines/web-logs.yaml';

/** Milliseconds since 1970, as the agent's log has them. */
interface Timing {
  pushStarted: number;
  /** The branch's file was renamed into place. */
  received: number;
  pushEnded: number;
  spawned: number;
}

export async function pushToEngine(say: Say): Promise<Result[]> {
  say('push: starting a whole Headgate …');
  const headgate = await startHeadgate();
  const work = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const git = (...args: string[]) => run('git', ['-C', work, ...args], { env: GIT_ENVIRONMENT });
    await run('git', ['clone', '--quiet', headgate.cloneUrl, work], { env: GIT_ENVIRONMENT });
    await until(() => starts(headgate).length >= 3, {
      what: 'the engines of staging run',
      timeoutMs: 30_000,
      everyMs: 50,
    });
    const api = await headgate.api();
    const { id } = await namedPipeline(api, headgate.environments.staging, 'web-logs');
    const timings: Timing[] = [];
    for (let push = 0; push < PUSHES; push += 1) {
      timings.push(await onePush(headgate, git, work, push));
      // The next one begins when all is at rest, as people push.
      await untilRunning(api, id, push + 2);
      if (push % 10 === 9) say(`  push ${push + 1} of ${PUSHES}`);
    }
    return results(timings);
  } finally {
    rmSync(work, { recursive: true, force: true });
    await headgate.remove();
  }
}

async function onePush(
  headgate: RunningHeadgate,
  git: (...args: string[]) => Promise<unknown>,
  work: string,
  push: number,
): Promise<Timing> {
  const file = join(work, MANIFEST);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/interval: [\d.]+/, `interval: ${(0.5 + (push + 1) / 1_000).toFixed(3)}`));
  await git('commit', '--quiet', '--all', '--message', `interval ${push}`);
  const before = starts(headgate).length;
  const pushStarted = Date.now();
  await git('push', '--quiet');
  const pushEnded = Date.now();
  const received = statSync(join(headgate.dataDir, 'git/config.git/refs/heads/main')).mtimeMs;
  await until(() => starts(headgate).length > before, {
    what: () => `the engine of push ${push} starts`,
    timeoutMs: 40_000,
  });
  return { pushStarted, received, pushEnded, spawned: starts(headgate)[before]! };
}

/** When each engine of the staging agent was started, from the agent's own log. */
function starts(headgate: RunningHeadgate): number[] {
  const log = readFileSync(join(headgate.dataDir, 'agents/staging/agent.log'), 'utf8');
  return [...log.matchAll(/^time=(\S+) level=info msg="engine started"/gm)].map(([, time]) =>
    Date.parse(time ?? ''),
  );
}

function results(timings: readonly Timing[]): Result[] {
  const fromStart = timings.map((timing) => timing.spawned - timing.pushStarted);
  const fromReceived = timings.map((timing) => timing.spawned - timing.received);
  const pushes = timings.map((timing) => timing.pushEnded - timing.pushStarted);
  const line = (sample: readonly number[]) =>
    `p50 ${ms(percentile(sample, 0.5))}, p99 ${ms(percentile(sample, 0.99))}, longest ${ms(Math.max(...sample))}`;
  return [
    {
      what: `git push to the engine process, from the start of the command (${timings.length} pushes)`,
      goal: 'p50 < 300 ms, p99 < 1 s',
      measured: line(fromStart),
      ok: percentile(fromStart, 0.5) < 300 && percentile(fromStart, 0.99) < 1_000,
    },
    { what: '… from the branch being updated', goal: '', measured: line(fromReceived), ok: null },
    { what: '… the git push command itself', goal: '', measured: line(pushes), ok: null },
  ];
}
