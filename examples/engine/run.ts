import { Api } from './api.ts';
import type { Command } from './cli.ts';
import { addressText } from './config/address.ts';
import { buildErrors, type Compiled, compile } from './config/compile.ts';
import { ConfigError } from './config/config-error.ts';
import { ConfigFileMissing, loadConfigs, sortedPaths } from './config/load.ts';
import { EXIT_CONFIG, EXIT_OK } from './exit-codes.ts';
import type { Logger } from './log.ts';
import { Registry } from './telemetry/registry.ts';
import { checkAllHealth } from './topology/health-checks.ts';
import { Topology } from './topology/topology.ts';
import { ENGINE_VERSION, targetTriple } from './version.ts';
import { buildTransforms } from './vrl/compile-transforms.ts';
import type { VrlProgram } from './vrl/program.ts';

const REMINDER_MS = 5_000;

export interface RunDeps {
  env: Record<string, string | undefined>;
  log: Logger;
  /** Aborted by the first SIGTERM or SIGINT. */
  stop: AbortSignal;
}

/** Runs a configuration until it ends, fails or is stopped; gives the exit code. */
export async function run(command: Extract<Command, { kind: 'run' }>, deps: RunDeps): Promise<number> {
  const { log, stop } = deps;
  const ready = await prepare(command, deps);
  if (!ready) return EXIT_CONFIG;
  if (stop.aborted) return EXIT_OK;

  const { compiled, programs } = ready;
  const app = log.child('headgate_engine::app');
  const healthy = checkAllHealth(compiled, log);
  if ((compiled.settings.requireHealthy || command.requireHealthy) && !(await healthy)) {
    log.child('headgate_engine::topology::running').error('Sinks unhealthy.', UNLIMITED);
    return EXIT_CONFIG;
  }

  // From here on every failure ends with 0, as with Vector.
  log.info('Headgate engine has started.', {
    debug: 'false',
    version: ENGINE_VERSION,
    arch: targetTriple().split('-')[0]!,
    revision: '',
  });
  const api = await startApi(compiled, app);
  if (api === 'failed') {
    log.info('Headgate engine is stopping.');
    log.info('Headgate engine has stopped.');
    return EXIT_OK;
  }
  try {
    const topology = await Topology.start({ compiled, programs, registry: createRegistry(), log });
    api?.show(topology.tapPoints);
    await superviseUntilEnd(topology, command.shutdownLimitSecs, stop, api, log);
  } catch {
    // The component that failed has said why.
    if (!stop.aborted) log.info('Headgate engine is stopping.');
  } finally {
    await api?.close();
  }
  log.info('Headgate engine has stopped.');
  return EXIT_OK;
}

/** Marks lines of the process that are never suppressed. */
const UNLIMITED = { internal_log_rate_limit: false };

async function startApi({ settings }: Compiled, app: Logger): Promise<Api | 'failed' | undefined> {
  if (!settings.api) {
    app.info(
      'API is disabled, enable by setting `api.enabled` to `true` and use commands like `vector top`.',
    );
    return undefined;
  }
  const address = addressText(settings.api);
  try {
    const api = await Api.start(settings.api);
    app.info('API server running.', { address });
    return api;
  } catch (error) {
    app.error("An error occurred that Vector couldn't handle.", {
      error: `Failed to bind gRPC API server to ${address}: ${(error as Error).message}`,
      ...UNLIMITED,
    });
    return 'failed';
  }
}

/** Loads and builds the configuration; undefined where it is refused, and the log says why. */
async function prepare(
  command: Extract<Command, { kind: 'run' }>,
  { env, log }: RunDeps,
): Promise<{ compiled: Compiled; programs: Map<string, VrlProgram[]> } | undefined> {
  const paths = sortedPaths(command.configs).map(({ path }) => JSON.stringify(path));
  log.child('headgate_engine::app').info('Loading configs.', { paths: `[${paths.join(', ')}]` });
  const loading = log.child('headgate_engine::config::loading');
  const refuse = (target: string, messages: readonly string[]) => {
    const logger = log.child(`headgate_engine::${target}`);
    for (const message of messages) logger.error('Configuration error.', { error: message, ...UNLIMITED });
    return undefined;
  };
  let compiled: Compiled;
  try {
    const merged = loadConfigs({
      paths: command.configs,
      interpolate: command.interpolate,
      env,
      onSkipped: (path, reason) =>
        loading.error('Error opening config file.', {
          error: reason,
          path: JSON.stringify(path),
          ...UNLIMITED,
        }),
    });
    compiled = compile(merged, env);
  } catch (error) {
    if (error instanceof ConfigFileMissing) {
      loading.error('Config file not found in path.', { path: JSON.stringify(error.path), ...UNLIMITED });
      return undefined;
    }
    if (!(error instanceof ConfigError)) throw error;
    return refuse('cli', error.messages);
  }
  for (const warning of compiled.warnings) loading.warn(warning);
  const { sources, sinks, settings } = compiled;
  const errors = [
    ...buildErrors('Source', sources, settings.globals),
    ...buildErrors('Sink', sinks, settings.globals),
  ];
  try {
    const programs = await buildTransforms(compiled);
    if (errors.length === 0) return { compiled, programs };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.push(...error.messages);
  }
  return refuse('topology::builder', errors);
}

function createRegistry(): Registry {
  const registry = new Registry();
  const started = performance.now();
  const uptime = registry.gauge('uptime_seconds');
  registry.onCollect(() => {
    uptime.value = Math.floor((performance.now() - started) / 1000);
  });
  registry.gauge('build_info', {
    version: ENGINE_VERSION,
    arch: targetTriple().split('-')[0]!,
    revision: '',
    debug: 'false',
    rust_version: '',
  }).value = 1;
  return registry;
}

/** Waits for the end; after a stop it gives the components `limitSecs` to drain. */
async function superviseUntilEnd(
  topology: Topology,
  limitSecs: number,
  stop: AbortSignal,
  api: Api | undefined,
  log: Logger,
): Promise<void> {
  const running = log.child('headgate_engine::topology::running');
  let limit: NodeJS.Timeout | undefined;
  let reminder: NodeJS.Timeout | undefined;
  const outOfTime = new Promise<void>((resolve) => {
    const begin = () => {
      const end = performance.now() + limitSecs * 1000;
      log.info('Headgate engine is stopping.');
      api?.drain();
      topology.stop();
      const remind = () =>
        running.info('Shutting down... Waiting on running components.', {
          remaining_components: JSON.stringify(topology.running.join(', ')),
          time_remaining: `"${Math.max(0, Math.floor((end - performance.now()) / 1000))} seconds left"`,
        });
      remind();
      reminder = setInterval(remind, REMINDER_MS);
      limit = setTimeout(() => {
        // What is left is neither counted nor named: Vector does not know it either.
        running.error('Failed to gracefully shut down in time. Killing components.', {
          components: JSON.stringify(topology.running.join(', ')),
          ...UNLIMITED,
        });
        resolve();
      }, limitSecs * 1000);
    };
    if (stop.aborted) begin();
    else stop.addEventListener('abort', begin, { once: true });
  });
  try {
    await Promise.race([
      topology.finished.then(() => {
        if (stop.aborted) return;
        log.child('headgate_engine::app').info('All sources have finished.');
        log.info('Headgate engine is stopping.');
      }),
      outOfTime,
    ]);
  } finally {
    clearTimeout(limit);
    clearInterval(reminder);
  }
}
