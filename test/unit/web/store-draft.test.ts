import { expect } from 'chai';
import type { Environment } from '../../../schemas/api/fleet/environments.ts';
import type { ShownBackendConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import {
  configOf,
  heldBy,
  isComplete,
  storeDraft,
} from '../../../web/src/features/settings/environment/store-draft.ts';

/** The parts of an environment that the form looks at. */
const shown = (
  secretBackend: Environment['secretBackend'],
  config: ShownBackendConfig | null,
): Environment => ({
  id: 'e',
  name: 'staging',
  teamId: 't',
  gitMode: 'off',
  nodeCount: 0,
  pipelineCount: 0,
  createdAt: new Date(0),
  requireApproval: false,
  maxNodes: null,
  autoRevert: true,
  archiveNodesAfterDays: 30,
  pricePerGb: null,
  redactKeys: [],
  redactKeysAreDefault: false,
  enrollmentToken: null,
  secretCommands: [],
  secretBackend,
  secretStore: config && { config, fetchedAt: null, failing: 0, error: null },
});

describe('the form of a secret store', () => {
  it('gives back what is shown, with every credential left out so that it stays', () => {
    for (const { kind, config, expected } of [
      {
        kind: 'VAULT',
        config: { address: 'https://vault:8200', mount: 'kv', auth: { method: 'token', hasToken: true } },
        expected: { address: 'https://vault:8200', mount: 'kv', auth: { method: 'token' } },
      },
      {
        kind: 'VAULT',
        config: {
          address: 'https://vault:8200',
          auth: { method: 'approle', mount: 'machines', roleId: 'shop', hasSecretId: true },
        },
        expected: {
          address: 'https://vault:8200',
          auth: { method: 'approle', mount: 'machines', roleId: 'shop' },
        },
      },
      {
        kind: 'VAULT',
        config: { address: 'https://vault:8200', auth: { method: 'kubernetes', role: 'shop' } },
        expected: { address: 'https://vault:8200', auth: { method: 'kubernetes', role: 'shop' } },
      },
      {
        kind: 'CLOUD_SM',
        config: {
          region: 'eu-central-1',
          prefix: 'shop/',
          accessKeyId: 'AKIA0000000000000000',
          roleArn: 'arn:aws:iam::123456789012:role/headgate',
          externalId: 'of-the-team',
          refreshSeconds: 600,
          hasSecretAccessKey: true,
          hasSessionToken: false,
        },
        expected: {
          ...{ region: 'eu-central-1', prefix: 'shop/', accessKeyId: 'AKIA0000000000000000' },
          ...{ roleArn: 'arn:aws:iam::123456789012:role/headgate', externalId: 'of-the-team' },
          refreshSeconds: 600,
        },
      },
      {
        kind: 'EXEC',
        config: { command: '/bin/secrets', args: ['--all', 'twice'] },
        expected: { command: '/bin/secrets', args: ['--all', 'twice'] },
      },
    ] as const) {
      const draft = storeDraft(shown(kind, structuredClone(config) as ShownBackendConfig));
      expect(configOf(draft), kind).to.deep.equal(expected);
      expect(isComplete(draft), kind).to.equal(true);
    }
  });

  it('sends a credential that was typed in, and none of another way in', () => {
    const draft = {
      ...storeDraft(shown('BUILTIN', null)),
      backend: 'VAULT' as const,
      address: ' https://vault ',
    };
    expect(configOf({ ...draft, token: 'hvs.x', secretId: 'left over' })).to.deep.equal({
      address: 'https://vault',
      auth: { method: 'token', token: 'hvs.x' },
    });
  });

  it('sends no configuration where Headgate keeps the values', () => {
    expect(configOf(storeDraft(shown('BUILTIN', null)))).to.equal(undefined);
  });

  it('knows which credentials the server has', () => {
    const vault = shown('VAULT', { address: 'https://vault', auth: { method: 'token', hasToken: true } });
    expect(heldBy(vault)).to.deep.equal({
      token: true,
      secretId: false,
      jwt: false,
      key: false,
      secretAccessKey: false,
      sessionToken: false,
    });
  });

  it('asks for what cannot be left out', () => {
    const draft = storeDraft(shown('BUILTIN', null));
    expect(isComplete({ ...draft, backend: 'CLOUD_SM', region: 'r', refresh: '5' })).to.equal(false);
    expect(isComplete({ ...draft, backend: 'VAULT' })).to.equal(false);
    expect(isComplete({ ...draft, backend: 'VAULT', address: 'https://vault', method: 'approle' })).to.equal(
      false,
    );
    expect(isComplete({ ...draft, backend: 'CLOUD_SM' })).to.equal(false);
    expect(isComplete({ ...draft, backend: 'EXEC', command: '' })).to.equal(false);
  });
});
