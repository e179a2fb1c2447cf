/** Objects of one row that a manifest describes: git's are changed in git alone, and a name goes to the manifest that waits for it. */
import { expect } from 'chai';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { refusal } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

const KINDS = [
  {
    kind: 'AlertRule',
    spec: '{ pipelineRef: orders, metric: error_rate, condition: gt, threshold: 5 }',
    create: 'alert.createRule',
    update: 'alert.updateRule',
    remove: 'alert.deleteRule',
    list: 'alert.listRules',
    input: { metric: 'cpu_usage', condition: 'gt', threshold: 90 },
    change: { enabled: false },
  },
  {
    kind: 'NodeGroup',
    spec: '{ criteria: { region: eu }, labelTemplate: { law: gdpr } }',
    create: 'nodeGroup.create',
    update: 'nodeGroup.update',
    remove: 'nodeGroup.delete',
    list: 'nodeGroup.list',
    input: { criteria: { role: 'edge' } },
    change: { name: 'asia' },
  },
];

describe('what a manifest describes', () => {
  const test = useController();
  const teams = useTwoTeams(test);

  for (const { kind, spec, create, update, remove, list, input, change } of KINDS) {
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
      return all.find((one) => one.name === name);
    };
    const named = (name: string) => ({
      ...{ environmentId: teams.ours.environmentId, name, ...input },
      ...(kind === 'AlertRule' ? { teamId: teams.ours.teamId } : {}),
    });

    it(`is changed in git alone: ${kind}`, async () => {
      const said = await push('described');
      await until(async () => (await find('described')) !== undefined, { what: `it to be applied: ${said}` });
      const before = await find('described');
      for (const [name, more] of [
        [update, change],
        [remove, {}],
      ] as const) {
        const { fault } = await teams.admin.call('mutation', name, { id: before?.id, ...more });
        const path = `ours/${kind}-described.yaml`;
        expect(fault?.data, name).to.include({ code: 'PRECONDITION_FAILED', path, line: 1 });
        expect(fault?.message).to.include(`"described" is described in git (${path}:1)`);
      }
      expect(await find('described')).to.deep.equal(before);
      expect(before?.managedBy).to.equal('git');
      expect(await refusal(teams.admin, 'mutation', create, named('DESCRIBED'))).to.match(/^CONFLICT/);
    });

    it(`gets the name that it waits for, as soon as that is free: ${kind}`, async () => {
      const { id } = await teams.admin.mutate<{ id: string }>(create, named('wanted'));
      expect(await push('wanted'))
        .to.include('wanted')
        .and.to.include('owned by the UI');
      expect((await find('wanted'))?.managedBy).to.equal('ui');
      await teams.admin.mutate(remove, { id });
      await until(async () => (await find('wanted'))?.managedBy === 'git', { what: 'it to be applied' });
    });
  }
});
