import type { CloudConfig, ExecConfig, VaultConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import type { SecretBackend } from './backend.ts';
import { builtinBackend } from './builtin.ts';
import type { CloudParts } from './cloud-client.ts';
import { createCloudBackend } from './cloud-sm.ts';
import { createExecBackend, type ExecRequest } from './exec.ts';
import { createVaultBackend } from './vault.ts';
import type { VaultParts } from './vault-session.ts';

/** The full setting of an environment's backend, credentials included. */
export type BackendSetting =
  | { kind: 'BUILTIN' }
  | { kind: 'VAULT'; config: VaultConfig }
  | { kind: 'CLOUD_SM'; config: CloudConfig }
  | { kind: 'EXEC'; config: ExecConfig };

const MINUTE_MS = 60_000;
/** Each request to Secrets Manager costs money; the other backends are free. */
const REFRESH_MS = { VAULT: MINUTE_MS, CLOUD_SM: 5 * MINUTE_MS, EXEC: MINUTE_MS };

/** Time between two refreshes of the values. */
export const refreshMsOf = (setting: BackendSetting): number =>
  setting.kind === 'BUILTIN' ? 0 : (setting.config.refreshSeconds ?? 0) * 1_000 || REFRESH_MS[setting.kind];

export interface BackendParts extends VaultParts, CloudParts {
  /** The requests of version 1.1 of the exec protocol, by command line. */
  execRequests: ReadonlyMap<string, ExecRequest>;
}

export function openBackend(setting: BackendSetting, parts: BackendParts): SecretBackend {
  switch (setting.kind) {
    case 'BUILTIN':
      return builtinBackend;
    case 'VAULT':
      return createVaultBackend(setting.config, parts);
    case 'CLOUD_SM':
      return createCloudBackend(setting.config, parts);
    case 'EXEC':
      return createExecBackend(setting.config, parts.execRequests.get(commandLine(setting.config)) ?? null);
  }
}

/** The command line as the operator lists it. */
const commandLine = ({ command, args = [] }: ExecConfig): string => [command, ...args].join(' ');
