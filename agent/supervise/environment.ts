import type { PipelineEntry } from '../../schemas/agent/protocol.ts';
import { SECRET_VARIABLE } from '../limits.ts';
import { drainSecondsOf } from './drain.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an engine may take over from the agent; above all never SVC_TOKEN nor anything that adds config files. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'TZ',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** For the engine's `--version`, which needs nothing of a pipeline. */
export function cleanEnvironment(agent: Environment): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = agent[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

export interface EngineEnvironment {
  env: Record<string, string>;
  /** Names of secrets that do not reach the engine. */
  refused: string[];
}

/**
 * The whole environment of one engine. Secrets travel here and nowhere else, and only under names that cannot mean
 * anything to a loader or to the engine itself.
 */
export function engineEnvironment(
  pipeline: Pick<PipelineEntry, 'logLevel' | 'secrets' | 'drainSeconds'>,
  agent: Environment,
  certDir: string,
): EngineEnvironment {
  const env = cleanEnvironment(agent);
  const refused: string[] = [];
  for (const [name, value] of Object.entries(pipeline.secrets)) {
    if (SECRET_VARIABLE.test(name) && !value.includes('\0')) env[name] = value;
    else refused.push(name.slice(0, 80));
  }
  // A bad filter makes the engine panic or go silent, so what is not a plain level or list is left out.
  const level = /^[\w=,:.-]{1,256}$/.test(pipeline.logLevel) ? pipeline.logLevel : 'info';
  return {
    refused,
    env: {
      ...env,
      ENGINE_LOG: level,
      VECTOR_LOG: level,
      // Where a config finds the certificate files of its pipeline.
      SVC_CERT_DIR: certDir,
      // Since 0.57 the engine expands no placeholder without it; older ones ignore it.
      VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true',
      // Below the time after which the agent kills, so that the engine ends in its own order.
      VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS: String(drainSecondsOf(pipeline)),
      VECTOR_THREADS: '2',
    },
  };
}
