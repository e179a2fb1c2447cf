import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { SECRET_VARIABLE } from '../../limits.ts';
import { drainSecondsOf } from './drain.ts';
import { quoteSecrets } from './quoted-secrets.ts';

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

/**
 * `TZ` and `LANG` where a config uses them and the agent has none: a missing variable would end the engine. Not set
 * otherwise, since both change how the engine itself finds the machine's time zone.
 */
function defaultsFor(configYaml: string, env: Environment): Record<string, string> {
  const defaults: Record<string, string> = {};
  const uses = (name: string) =>
    env[name] === undefined &&
    new RegExp(`(?<!\\$)(?:\\$\\$)*\\$(?:\\{${name}[}:?-]|${name}(?![\\w.]))`).test(configYaml);
  if (uses('TZ')) defaults.TZ = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  if (uses('LANG')) defaults.LANG = 'C.UTF-8';
  return defaults;
}

export interface EngineEnvironment {
  env: Record<string, string>;
  /** Names of secrets that do not reach the engine. */
  refused: string[];
}

const LOG_LEVEL = /^(?:off|trace|debug|info|warn|error)$/i;

/** A level, or a list of `target=level`. At anything else an engine panics, or takes it for a target and goes silent. */
function isLogFilter(text: string): boolean {
  if (text.length > 256) return false;
  return text.split(',').every((part) => {
    const [target = '', level, ...more] = part.split('=');
    if (level === undefined) return LOG_LEVEL.test(target);
    return more.length === 0 && /^[\w:.-]+$/.test(target) && LOG_LEVEL.test(level);
  });
}

/**
 * The whole environment of one engine. Secrets travel here and nowhere else, and only under names that cannot mean
 * anything to a loader or to the engine itself.
 */
export function engineEnvironment(
  pipeline: Pick<PipelineEntry, 'configYaml' | 'logLevel' | 'secrets' | 'drainSeconds'>,
  agent: Environment,
  certDir: string,
): EngineEnvironment {
  const env = cleanEnvironment(agent);
  const refused: string[] = [];
  for (const [name, value] of Object.entries(pipeline.secrets)) {
    if (SECRET_VARIABLE.test(name) && !value.includes('\0')) env[name] = value;
    else refused.push(name.slice(0, 80));
  }
  Object.assign(env, quoteSecrets(pipeline).variables);
  // A bad filter makes the engine panic or go silent, so what is not a plain level or list is left out.
  const level = isLogFilter(pipeline.logLevel) ? pipeline.logLevel : 'info';
  return {
    refused,
    env: {
      ...defaultsFor(pipeline.configYaml, env),
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
