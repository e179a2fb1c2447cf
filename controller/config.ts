/** The only reader of the environment: every variable that the controller knows, its default, and what it is for. */
import { ENGINE_VARIABLES, type EngineConfig, readEngineConfig } from './config/engine.ts';
import { MAIL_VARIABLES, type MailConfig, readMailConfig } from './config/mail.ts';
import { METRICS_VARIABLES, type MetricsConfig, readMetricsConfig } from './config/metrics.ts';
import {
  NETWORK_VARIABLES,
  type NetworkConfig,
  PROXY_VARIABLES,
  readNetworkConfig,
} from './config/network.ts';
import { readSecretsConfig, SECRETS_VARIABLES, type SecretsConfig } from './config/secrets.ts';
import { readServerConfig, SERVER_VARIABLES, type ServerConfig } from './config/server.ts';
import { ConfigError, type Environment, type Variable } from './config/values.ts';

export { type DemoConfig, readDemoConfig } from './config/demo.ts';
export { onPath, plainEnvironment, readEngineBin } from './config/engine.ts';
export type { MetricsStoreConfig } from './config/metrics.ts';
export { ConfigError } from './config/values.ts';

export interface Config
  extends ServerConfig,
    SecretsConfig,
    NetworkConfig,
    EngineConfig,
    MetricsConfig,
    MailConfig {}

export const VARIABLES: readonly Variable[] = [
  ...SERVER_VARIABLES,
  ...SECRETS_VARIABLES,
  ...NETWORK_VARIABLES,
  ...ENGINE_VARIABLES,
  ...METRICS_VARIABLES,
  ...MAIL_VARIABLES,
  ...PROXY_VARIABLES,
];
/** The last two are for the commands that ask a server, and may be set where one runs. */
const ALSO_KNOWN = new Set(['HEADGATE_ADMIN_PASSWORD_FILE', 'HEADGATE_URL', 'HEADGATE_API_KEY']);

export function readConfig(env: Environment): Config {
  const known = new Set([...VARIABLES.map((variable) => variable.name), ...ALSO_KNOWN]);
  const strange = Object.keys(env).find((name) => name.startsWith('HEADGATE_') && !known.has(name));
  if (strange)
    throw new ConfigError(`${strange} is not a variable that Headgate knows; see headgate serve --help`);
  return {
    ...readServerConfig(env),
    ...readSecretsConfig(env),
    ...readNetworkConfig(env),
    ...readEngineConfig(env),
    ...readMetricsConfig(env),
    ...readMailConfig(env),
  };
}

/** For commands that ask a server: where it is, and the key of a service account. Null where it is not set. */
export const readClientConfig = (env: Environment): { url: string | null; apiKey: string | null } => ({
  url: env.HEADGATE_URL || null,
  apiKey: env.HEADGATE_API_KEY || null,
});
