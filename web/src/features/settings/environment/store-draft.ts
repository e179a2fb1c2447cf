/** The setting of a secret store while it is written: texts of fields, of every kind at once so that none is lost on a look at another. */
import type { Environment } from '../../../../../schemas/api/fleet/environments.ts';
import type {
  CloudConfig,
  ExecConfig,
  SecretBackend,
  ShownBackendConfig,
  VaultConfig,
} from '../../../../../schemas/api/secrets/secret-backends.ts';

export type VaultMethod = VaultConfig['auth']['method'];

export interface StoreDraft {
  backend: SecretBackend;
  address: string;
  namespace: string;
  mount: string;
  vaultPrefix: string;
  field: string;
  ca: string;
  method: VaultMethod;
  authMount: string;
  /** Credentials that are empty are left out: the stored ones stay. */
  token: string;
  roleId: string;
  secretId: string;
  role: string;
  jwt: string;
  certificate: string;
  key: string;
  /** Of the key by which AWS knows us at Vault. */
  loginRegion: string;
  serverId: string;
  region: string;
  cloudPrefix: string;
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  roleArn: string;
  externalId: string;
  /** Seconds between two looks; empty is the store's standard. */
  refresh: string;
  /** A command line of those that the operator lists. */
  command: string;
  /** Seconds; empty is ten. */
  timeout: string;
}

/** Credentials that the server has; it never gives them back. */
export interface Held {
  token: boolean;
  secretId: boolean;
  jwt: boolean;
  key: boolean;
  secretAccessKey: boolean;
  sessionToken: boolean;
}

const EMPTY: Omit<StoreDraft, 'backend'> = {
  address: '',
  namespace: '',
  mount: '',
  vaultPrefix: '',
  field: '',
  ca: '',
  method: 'token',
  authMount: '',
  token: '',
  roleId: '',
  secretId: '',
  role: '',
  jwt: '',
  certificate: '',
  key: '',
  loginRegion: '',
  serverId: '',
  region: '',
  cloudPrefix: '',
  endpoint: '',
  accessKeyId: '',
  secretAccessKey: '',
  sessionToken: '',
  roleArn: '',
  externalId: '',
  refresh: '',
  command: '',
  timeout: '',
};

export function storeDraft({ secretBackend, secretStore }: Environment): StoreDraft {
  const config = secretStore?.config;
  return { ...EMPTY, backend: secretBackend, ...(config ? textsOf(config) : {}) };
}

function textsOf(config: ShownBackendConfig): Partial<StoreDraft> {
  const refresh = config.refreshSeconds === undefined ? '' : String(config.refreshSeconds);
  if ('address' in config) {
    const { auth } = config;
    return {
      refresh,
      address: config.address,
      namespace: config.namespace ?? '',
      mount: config.mount ?? '',
      vaultPrefix: config.prefix ?? '',
      field: config.field ?? '',
      ca: config.ca ?? '',
      method: auth.method,
      authMount: 'mount' in auth ? (auth.mount ?? '') : '',
      roleId: 'roleId' in auth ? auth.roleId : '',
      role: 'role' in auth ? (auth.role ?? '') : '',
      certificate: auth.method === 'cert' ? auth.certificate : '',
      ...(auth.method === 'aws'
        ? {
            loginRegion: auth.region ?? '',
            serverId: auth.serverId ?? '',
            accessKeyId: auth.accessKeyId,
          }
        : {}),
    };
  }
  if ('region' in config) {
    return {
      refresh,
      roleArn: config.roleArn ?? '',
      externalId: config.externalId ?? '',
      region: config.region,
      cloudPrefix: config.prefix ?? '',
      endpoint: config.endpoint ?? '',
      accessKeyId: config.accessKeyId ?? '',
    };
  }
  return {
    refresh,
    command: [config.command, ...(config.args ?? [])].join(' '),
    timeout: config.timeoutSeconds === undefined ? '' : String(config.timeoutSeconds),
  };
}

export function heldBy({ secretStore }: Environment): Held {
  const config = secretStore?.config;
  const auth = config && 'address' in config ? config.auth : null;
  const cloud = config && 'region' in config ? config : null;
  const aws = cloud ?? (auth?.method === 'aws' ? auth : null);
  return {
    token: auth?.method === 'token' && auth.hasToken,
    secretId: auth?.method === 'approle' && auth.hasSecretId,
    jwt: auth?.method === 'jwt' && auth.hasJwt,
    key: auth?.method === 'cert' && auth.hasKey,
    secretAccessKey: aws?.hasSecretAccessKey ?? false,
    sessionToken: aws?.hasSessionToken ?? false,
  };
}

/** Without what is empty: the server fills in its standard. */
function filled<K extends string>(texts: Record<K, string>): Partial<Record<K, string>> {
  const entries = Object.entries<string>(texts).filter(([, text]) => text !== '');
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}

/** As `environment.update` takes it; undefined where Headgate keeps the values itself. */
export function configOf(draft: StoreDraft): VaultConfig | CloudConfig | ExecConfig | undefined {
  const refresh = draft.refresh === '' ? {} : { refreshSeconds: Number(draft.refresh) };
  switch (draft.backend) {
    case 'BUILTIN':
      return undefined;
    case 'VAULT': {
      const { namespace, mount, vaultPrefix: prefix, field, ca } = draft;
      return {
        address: draft.address.trim(),
        ...refresh,
        ...filled({ namespace, mount, prefix, field, ca }),
        auth: authOf(draft),
      };
    }
    case 'CLOUD_SM': {
      const { cloudPrefix: prefix, endpoint, accessKeyId, secretAccessKey, sessionToken } = draft;
      const { roleArn, externalId } = draft;
      return {
        region: draft.region.trim(),
        ...refresh,
        ...filled({ prefix, endpoint, accessKeyId, secretAccessKey, sessionToken, roleArn, externalId }),
      };
    }
    case 'EXEC': {
      const [command = '', ...args] = draft.command.split(' ');
      const timeout = draft.timeout === '' ? {} : { timeoutSeconds: Number(draft.timeout) };
      return { command, ...(args.length > 0 ? { args } : {}), ...refresh, ...timeout };
    }
  }
}

function authOf({
  method,
  authMount: mount,
  token,
  roleId,
  secretId,
  role,
  ...draft
}: StoreDraft): VaultConfig['auth'] {
  switch (method) {
    case 'token':
      return { method, ...filled({ token }) };
    case 'approle':
      return { method, roleId, ...filled({ mount, secretId }) };
    case 'kubernetes':
      return { method, role, ...filled({ mount }) };
    case 'jwt':
      return { method, ...filled({ mount, role, jwt: draft.jwt.trim() }) };
    case 'cert':
      return { method, certificate: draft.certificate, ...filled({ mount, role, key: draft.key }) };
    case 'aws': {
      const { accessKeyId, secretAccessKey, sessionToken, serverId, loginRegion: region } = draft;
      return {
        ...{ method, accessKeyId },
        ...filled({ mount, role, region, serverId, secretAccessKey, sessionToken }),
      };
    }
  }
}

/** Empty where it is none. */
export const problemOfRefresh = (text: string): string =>
  text === '' || (/^\d{1,5}$/.test(text) && Number(text) >= 30 && Number(text) <= 86_400)
    ? ''
    : 'From 30 to 86,400 seconds.';

export const problemOfTimeout = (text: string): string =>
  text === '' || (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 60)
    ? ''
    : 'From 1 to 60 seconds.';

/** Whether what cannot be left out is there. */
export function isComplete(draft: StoreDraft): boolean {
  if (problemOfRefresh(draft.refresh) !== '') return false;
  switch (draft.backend) {
    case 'BUILTIN':
      return true;
    case 'VAULT':
      return (
        draft.address.trim() !== '' &&
        (draft.method !== 'approle' || draft.roleId !== '') &&
        (draft.method !== 'kubernetes' || draft.role !== '') &&
        (draft.method !== 'cert' || draft.certificate !== '') &&
        (draft.method !== 'aws' || draft.accessKeyId !== '')
      );
    case 'CLOUD_SM':
      return draft.region.trim() !== '';
    case 'EXEC':
      return draft.command !== '' && problemOfTimeout(draft.timeout) === '';
  }
}
