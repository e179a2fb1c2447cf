import type { CloudConfig, ExecConfig, VaultConfig } from '../../../schemas/api/secret-backends.ts';
import type { SecretBackend } from './backend.ts';
import { builtinBackend } from './builtin.ts';
import { createCloudBackend } from './cloud-sm.ts';
import { createExecBackend } from './exec.ts';
import { createVaultBackend } from './vault.ts';
import type { VaultParts } from './vault-session.ts';

/** An environment's backend with all that it needs, credentials included. */
export type BackendSetting =
  | { kind: 'BUILTIN' }
  | { kind: 'VAULT'; config: VaultConfig }
  | { kind: 'CLOUD_SM'; config: CloudConfig }
  | { kind: 'EXEC'; config: ExecConfig };

export function openBackend(setting: BackendSetting, parts: VaultParts): SecretBackend {
  switch (setting.kind) {
    case 'BUILTIN':
      return builtinBackend;
    case 'VAULT':
      return createVaultBackend(setting.config, parts);
    case 'CLOUD_SM':
      return createCloudBackend(setting.config, parts.guard);
    case 'EXEC':
      return createExecBackend(setting.config);
  }
}
