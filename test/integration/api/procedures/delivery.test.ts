import { expect } from 'chai';
import { heartbeat } from '../../../support/agents/agent-client.ts';
import { until } from '../../../support/harness/until.ts';
import { describeProcedures, useProcedureScene } from '../../../support/procedures/cases.ts';
import { ROW_GROUPS } from '../../../support/procedures/rows/index.ts';

describe('every procedure of delivery and secrets', () => {
  const scene = useProcedureScene();
  describeProcedures(scene, ROW_GROUPS.delivery);

  it('does not find the secret of another environment under one’s own', async () => {
    for (const name of ['secret.update', 'secret.delete']) {
      const { status } = await scene.teams.editor.call('mutation', name, {
        environmentId: scene.teams.ours.environmentId,
        id: scene.teams.theirs.secretId,
        ...(name === 'secret.update' ? { value: 'taken over' } : {}),
      });
      expect(status, name).to.equal(404);
    }
  });

  it('can tell of what manifests and nodes named like members of every object', async () => {
    const { teams } = scene;
    const { environmentId, node } = teams.ours;
    const odd = { constructor: 'x', prototype: 'y' };
    await node.heartbeat(heartbeat({ labels: odd, hostMetrics: { constructor: 1 } }));
    const text = `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: odd, labels: ${JSON.stringify(odd)} }
spec:
  nodeSelector: ${JSON.stringify(odd)}
  sources: { constructor: { type: demo_logs, format: shuffle, lines: [x], prototype: { constructor: 1 } } }
  sinks: { out: { type: blackhole, inputs: [constructor] } }
`;
    await teams.git.commit({ 'ours/odd.yaml': text });
    const { stderr } = await teams.git.push();
    const list = () => teams.viewer.query<{ id: string; name: string }[]>('pipeline.list', { environmentId });
    await until(async () => (await list()).some((one) => one.name === 'odd'), {
      what: `it to be applied: ${stderr}`,
    });
    const id = (await list()).find((one) => one.name === 'odd')?.id ?? '';
    for (const [name, input] of [
      ['pipeline.get', { id }],
      ['deploy.preview', { pipelineId: id }],
      ['fleet.list', { environmentId }],
      ['fleet.get', { id: node.nodeId }],
    ] as const) {
      const { status, fault } = await teams.viewer.call('query', name, input);
      expect(status, `${name}: ${fault?.message}`).to.equal(200);
    }
  });
});
