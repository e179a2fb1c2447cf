/** The procedures against the contract: names, kinds, roles, and the fields that they take. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { CONTRACT, type ContractField, PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';

/** Procedures that Headgate adds to the contract. */
const BESIDE: Record<string, string> = {
  'costRecommendation.apply': 'mutation EDITOR',
  'secret.refresh': 'mutation EDITOR',
  'user.proveTwoFactor': 'mutation VIEWER',
  'settings.backupRuns': 'query SUPER_ADMIN',
  'settings.scimRefusals': 'query SUPER_ADMIN',
  'settings.verifyBackup': 'mutation SUPER_ADMIN',
  'admin.endSessions': 'mutation SUPER_ADMIN',
  'admin.listGroups': 'query SUPER_ADMIN',
  'admin.resetTwoFactor': 'mutation SUPER_ADMIN',
  'admin.unlinkIssuer': 'mutation SUPER_ADMIN',
  'admin.unlinkProvider': 'mutation SUPER_ADMIN',
  'ai.applySuggestions': 'mutation EDITOR',
  'ai.deleteProvider': 'mutation ADMIN',
  'ai.getProvider': 'query VIEWER',
  'ai.previewContext': 'mutation VIEWER',
  'ai.stop': 'mutation VIEWER',
  'ai.testProvider': 'mutation ADMIN',
  'ai.updateProvider': 'mutation ADMIN',
  'ai.usage': 'query VIEWER',
  'alert.acknowledgeEvent': 'mutation EDITOR',
  'alert.createSilence': 'mutation EDITOR',
  'alert.endSilence': 'mutation EDITOR',
  'alert.getEvent': 'query VIEWER',
  'alert.listSilences': 'query VIEWER',
  'alert.openEvents': 'query VIEWER',
  'alert.previewRule': 'query VIEWER',
  'alert.listDeliveries': 'query VIEWER',
  'alert.redeliver': 'mutation EDITOR',
  'analytics.costBySink': 'query VIEWER',
  'deploy.retryVersion': 'mutation EDITOR',
  'engine.catalogue': 'query VIEWER',
  'engine.componentSchema': 'query VIEWER',
  'fleet.cancelAgentUpdate': 'mutation ADMIN',
  'fleet.matrix': 'query VIEWER',
  'fleet.restartAgent': 'mutation ADMIN',
  'fleet.setMaintenance': 'mutation EDITOR',
  'gitSync.adopt': 'mutation EDITOR',
  'gitSync.approvePlan': 'mutation ADMIN',
  'gitSync.checkForge': 'mutation ADMIN',
  'gitSync.configure': 'mutation ADMIN',
  'gitSync.confirmPrune': 'mutation ADMIN',
  'gitSync.drift': 'query VIEWER',
  'gitSync.plan': 'query VIEWER',
  'gitSync.export': 'query EDITOR',
  'promotion.content': 'query VIEWER',
  'promotion.get': 'query VIEWER',
  'promotion.list': 'query VIEWER',
  'pullRequest.list': 'query VIEWER',
  'pullRequest.get': 'query VIEWER',
  'pullRequest.diff': 'query VIEWER',
  'pullRequest.plan': 'query VIEWER',
  'pullRequest.open': 'mutation EDITOR',
  'pullRequest.edit': 'mutation EDITOR',
  'pullRequest.comment': 'mutation EDITOR',
  'pullRequest.review': 'mutation EDITOR',
  'pullRequest.merge': 'mutation EDITOR',
  'pullRequest.autoMerge': 'mutation EDITOR',
  'pullRequest.close': 'mutation EDITOR',
  'pullRequest.reopen': 'mutation EDITOR',
  'pullRequest.refresh': 'mutation EDITOR',
  'gitSync.hold': 'mutation EDITOR',
  'gitSync.holds': 'query VIEWER',
  'gitSync.releaseHold': 'mutation EDITOR',
  'gitSync.resume': 'mutation EDITOR',
  'gitSync.suspend': 'mutation EDITOR',
  'gitSync.syncNow': 'mutation EDITOR',
  'metrics.getRecentRates': 'query VIEWER',
  'migration.runSamples': 'mutation EDITOR',
  'pipeline.compareVersions': 'query VIEWER',
  'pipeline.readYaml': 'mutation EDITOR',
  'pipeline.renderGraph': 'mutation EDITOR',
  'pipeline.restore': 'mutation EDITOR',
  'pipeline.startTap': 'mutation EDITOR',
  'pipeline.stopTap': 'mutation EDITOR',
  'secret.register': 'mutation EDITOR',
  'secret.relocate': 'mutation EDITOR',
  'settings.disableOidc': 'mutation SUPER_ADMIN',
  'settings.updateAccess': 'mutation SUPER_ADMIN',
  'settings.updateAudit': 'mutation SUPER_ADMIN',
  'stream.create': 'mutation SUPER_ADMIN',
  'stream.delete': 'mutation SUPER_ADMIN',
  'stream.list': 'query SUPER_ADMIN',
  'stream.test': 'mutation SUPER_ADMIN',
  'stream.update': 'mutation SUPER_ADMIN',
  'user.confirmPassword': 'mutation VIEWER',
  'user.createToken': 'mutation VIEWER',
  'user.deleteToken': 'mutation VIEWER',
  'user.endOtherSessions': 'mutation VIEWER',
  'user.endSession': 'mutation VIEWER',
  'user.listSessions': 'query VIEWER',
  'user.renewBackupCodes': 'mutation VIEWER',
  'user.listTokens': 'query VIEWER',
  'user.unlinkProvider': 'mutation VIEWER',
  'webhookEndpoint.preview': 'query VIEWER',
  'webhookEndpoint.redeliver': 'mutation ADMIN',
  'webhookEndpoint.rotateSecret': 'mutation ADMIN',
};

/** Procedures of the contract that later versions bring, each under words of the list "Not yet" in README.md. */
const LATER: Record<string, string> = {};

interface FieldSchema {
  type?: string;
  enum?: unknown[];
  items?: FieldSchema;
  anyOf?: FieldSchema[];
}
interface InputSchema {
  properties?: Record<string, FieldSchema>;
  required?: readonly string[];
  additionalProperties?: unknown;
}

const NAMES = [...PROCEDURE_KINDS.keys()];
const described = NAMES.flatMap((name) => {
  const contract = CONTRACT.get(name);
  const operation = OPERATIONS.get(name);
  return contract && operation ? [{ name, contract, operation, input: operation.input as InputSchema }] : [];
});

/** Why a field's schema does not take what the contract says; null when it does. */
function mismatch({ type }: ContractField, schema: FieldSchema | undefined): string | null {
  if (!schema) return 'is not taken';
  if (type === 'any') return null;
  // A field may take further values, null for one.
  const only = schema.anyOf?.filter((one) => one.type !== 'null') ?? [];
  if (only.length === 1 && !type.endsWith('|null'))
    return mismatch({ name: '', optional: false, type }, only[0]);
  if (type.endsWith('|null')) {
    const other = schema.anyOf?.find((one) => one.type !== 'null');
    if (!schema.anyOf?.some((one) => one.type === 'null')) return 'does not take null';
    return mismatch({ name: '', optional: false, type: type.slice(0, -'|null'.length) }, other);
  }
  const listed = /^\((.*)\)\[\]$/.exec(type)?.[1]?.split('|');
  if (listed) {
    // A list may take further values: nobody who keeps to the contract sends them.
    const missing = listed.filter((value) => !schema.items?.enum?.includes(value));
    return schema.type === 'array' && missing.length === 0 ? null : `does not take ${missing.join()}`;
  }
  if (type === 'date') return mismatch({ name: '', optional: false, type: 'string' }, schema);
  if (type.endsWith('[]'))
    return schema.type === 'array' && schema.items ? null : `is ${schema.type}, not a list`;
  if (type.includes('|') || schema.enum?.length === 1) {
    const values = type.split('|');
    const taken = [...(schema.enum ?? [])].map(String).sort();
    return taken.join() === values.sort().join() ? null : `takes ${taken.join('|')}, not ${type}`;
  }
  if (type === 'string') return schema.type === 'string' ? null : `is ${schema.type}, not a string`;
  if (type === 'number')
    return schema.type === 'number' || schema.type === 'integer' ? null : `is ${schema.type}, not a number`;
  return schema.type === type ? null : `is ${schema.type}, not ${type}`;
}

describe('the contract of the procedures', () => {
  it('holds 228 of them', () => {
    expect(CONTRACT.size).to.equal(228);
    expect(CONTRACT.get('gitSync.jobs')).to.deep.equal({
      name: 'gitSync.jobs',
      kind: 'query',
      role: 'VIEWER',
      fields: [
        { name: 'environmentId', optional: false, type: 'string' },
        { name: 'status', optional: true, type: 'pending|completed|failed' },
        { name: 'limit', optional: true, type: 'number' },
      ],
    });
  });

  it('is met under its own names, with nothing beside it but what is known', () => {
    const lacking = [...CONTRACT.keys()].filter((name) => !NAMES.includes(name)).sort();
    const later = Object.values(LATER).flatMap((names) => names.split(/\s+/));
    expect(lacking).to.deep.equal(later.sort());
    const beside = NAMES.filter((name) => !CONTRACT.has(name)).sort();
    expect(beside).to.deep.equal(Object.keys(BESIDE).sort());
    for (const name of beside) {
      const operation = OPERATIONS.get(name);
      expect(`${PROCEDURE_KINDS.get(name)} ${operation?.role}`, name).to.equal(BESIDE[name]);
    }
  });

  it('is not met where README.md says so', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
    const notYet = readme.split('## Not yet')[1] ?? '';
    expect(Object.keys(LATER).filter((words) => !notYet.includes(words))).to.deep.equal([]);
  });

  for (const { name, contract, operation, input } of described) {
    it(`${name} is a ${contract.kind} for ${contract.role} and takes its fields`, () => {
      expect(PROCEDURE_KINDS.get(name)).to.equal(contract.kind);
      expect(operation.role).to.equal(contract.role);
      const wrong = contract.fields.flatMap((field) => {
        const reason = mismatch(field, input.properties?.[field.name]);
        return reason === null ? [] : [`${field.name} ${reason}`];
      });
      expect(wrong).to.deep.equal([]);
      const required = contract.fields.filter((field) => !field.optional).map((field) => field.name);
      expect([...(input.required ?? [])].sort()).to.deep.equal(required.sort());
      expect(input.additionalProperties, 'fields that it does not know').to.equal(false);
    });
  }

  it('keeps the limits that it names', () => {
    const limit = (name: string) => OPERATIONS.get(name)?.input as { properties: Record<string, unknown> };
    expect(limit('gitSync.jobs').properties.limit).to.include({ default: 25, minimum: 1, maximum: 100 });
    const deliveries = limit('webhookEndpoint.listDeliveries').properties;
    expect(deliveries.take).to.include({ default: 20, minimum: 1, maximum: 100 });
    expect(limit('gitSync.importErrors').properties.limit).to.include({
      default: 10,
      minimum: 1,
      maximum: 50,
    });
  });
});
