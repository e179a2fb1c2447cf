/** Objects of one row that a manifest describes: git's are changed in git alone, and a name goes to the manifest that waits for it. */
import { expect } from 'chai';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { refusal } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

interface Row {
  kind: string;
  spec: string;
  list: string;
  /** Changes of an object, beside its id. */
  changes: Record<string, object>;
  /** Null where objects that are made by hand have no name of their own. */
  named: { create: string; remove: string; input: object } | null;
}

const KINDS: readonly Row[] = [
  {
    kind: 'AlertRule',
    spec: '{ pipelineRef: orders, metric: error_rate, condition: gt, threshold: 5 }',
    list: 'alert.listRules',
    changes: { 'alert.updateRule': { enabled: false }, 'alert.deleteRule': {} },
    named: {
      ...{ create: 'alert.createRule', remove: 'alert.deleteRule' },
      input: { metric: 'cpu_usage', condition: 'gt', threshold: 90 },
    },
  },
  {
    kind: 'NodeGroup',
    spec: '{ criteria: { region: eu }, labelTemplate: { law: gdpr } }',
    list: 'nodeGroup.list',
    changes: { 'nodeGroup.update': { name: 'asia' }, 'nodeGroup.delete': {} },
    named: { create: 'nodeGroup.create', remove: 'nodeGroup.delete', input: { criteria: { role: 'edge' } } },
  },
  {
    kind: 'Silence',
    spec: `{ matchers: { rack: r7 }, reason: disks, endsAt: "${new Date(Date.now() + 3_600_000).toISOString()}" }`,
    list: 'alert.listSilences',
    changes: { 'alert.endSilence': {} },
    named: null,
  },
  {
    kind: 'WebhookEndpoint',
    spec: '{ url: https://alerts.example.com/in, format: standard }',
    list: 'alert.listWebhooks',
    changes: { 'alert.updateWebhook': { enabled: false }, 'alert.deleteWebhook': {} },
    named: null,
  },
];

describe('what a manifest describes', () => {
  const test = useController();
  const teams = useTwoTeams(test);

  for (const { kind, spec, list, changes, named } of KINDS) {
    const push = async (name: string) => {
      const text = `apiVersion: headgate/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
      await teams.git.commit({ [`ours/${kind}-${name}.yaml`]: text });
      return (await teams.git.push()).stderr;
    };
    const find = async (name: string) => {
      const { environmentId } = teams.ours;
      const all = await teams.viewer.query<{ id: string; name: string; managedBy: string }[]>(list, {
        environmentId,
      });
      const found = all.find((one) => one.name === name);
      // When a rule was evaluated changes by itself.
      return found && { ...found, evaluation: undefined };
    };
    const inputOf = (name: string) => ({
      ...{ environmentId: teams.ours.environmentId, name, ...named?.input },
      ...(kind === 'AlertRule' ? { teamId: teams.ours.teamId } : {}),
    });

    it(`is changed in git alone: ${kind}`, async () => {
      const said = await push('described');
      await until(async () => (await find('described')) !== undefined, { what: `it to be applied: ${said}` });
      const before = await find('described');
      for (const [name, more] of Object.entries(changes)) {
        const { fault } = await teams.admin.call('mutation', name, { id: before?.id, ...more });
        const path = `ours/${kind}-described.yaml`;
        expect(fault?.data, name).to.include({ code: 'PRECONDITION_FAILED', path, line: 1 });
        expect(fault?.message).to.include(`"described" is described in git (${path}:1)`);
      }
      expect(await find('described')).to.deep.equal(before);
      expect(before?.managedBy).to.equal('git');
      if (named)
        expect(await refusal(teams.admin, 'mutation', named.create, inputOf('DESCRIBED'))).to.match(
          /^CONFLICT/,
        );
    });

    if (!named) continue;

    it(`gets the name that it waits for, as soon as that is free: ${kind}`, async () => {
      const { id } = await teams.admin.mutate<{ id: string }>(named.create, inputOf('wanted'));
      expect(await push('wanted'))
        .to.include('wanted')
        .and.to.include('owned by the UI');
      expect((await find('wanted'))?.managedBy).to.equal('ui');
      await teams.admin.mutate(named.remove, { id });
      await until(async () => (await find('wanted'))?.managedBy === 'git', { what: 'it to be applied' });
    });
  }
});
