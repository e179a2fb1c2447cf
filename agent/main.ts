/** The executable: command line, signals and exit codes around an agent that `start.ts` starts. */
import { systemClock } from '../reconcilers/loops/clock.ts';
import { HELP, parseCommandLine } from './command-line.ts';
import { readConfig } from './config.ts';
import { createLogger, type Logger } from './log.ts';
import { applyRuntimeSettings, isCompiled } from './runtime-settings.ts';
import { describeStartError, type StartedAgent, startAgent } from './start.ts';
import { removeFile } from './supervise/files/atomic-files.ts';
import { pendingOf } from './update/executable-swap.ts';
import { AGENT_VERSION } from './version.ts';

async function main(): Promise<void> {
  const command = parseCommandLine(process.argv.slice(2));
  if (command.run === 'version') return void process.stdout.write(`${AGENT_VERSION}\n`);
  if (command.run === 'help') return void process.stdout.write(HELP);
  process.on('SIGTERM', endEarly);
  process.on('SIGINT', endEarly);
  const config = readConfig(process.env);
  applyRuntimeSettings();
  const log = createLogger(config.logLevel);
  ignoreSignals(log);
  const started = await startAgent({
    config,
    channel: command.channel,
    env: process.env,
    clock: systemClock,
    log,
    executable: isCompiled() ? process.execPath : undefined,
  });
  stopOnSignals(started, log);
}

function stopOnSignals({ agent, unlock }: StartedAgent, log: Logger): void {
  // The agent's own timers hold no process open: where the lock is a file, nothing else would.
  const holdOpen = setInterval(() => {}, 2 ** 30);
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return agent.killEngines();
    stopping = true;
    log.info('stopping', { signal });
    void agent.stop().then(() => {
      clearInterval(holdOpen);
      unlock();
      process.exit(0);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.off(signal, endEarly);
    process.on(signal, stop);
  }
}

/** Other programs end or reload on these; the agent's engines are worth more than that. */
function ignoreSignals(log: Logger): void {
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () =>
      log.info('signal ignored: the agent reopens no files and takes its settings at its start', { signal }),
    );
}

/** Ends before it holds an engine. A new version that is asked to end here must not count as one that failed to start. */
function endEarly(): void {
  if (isCompiled()) removeFile(pendingOf(process.execPath));
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeStartError(error).join('\n')}\n`);
  process.exit(1);
});
