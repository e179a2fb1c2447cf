/** examples/deploy/metrics: rules and dashboard are valid, and ask for metrics that there are. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { findPrometheus, promtool } from '../../support/servers/metrics-stores.ts';

const FOLDER = join(import.meta.dirname, '../../../examples/deploy/metrics');
const TOKEN = 'a-token-of-a-scraper';

interface Dashboard {
  panels: { targets?: { expr: string }[] }[];
}
interface Rules {
  groups: { rules: { expr: string }[] }[];
}

describe('the examples for Prometheus and Grafana', () => {
  const test = useController({ metricsToken: TOKEN });
  const teams = useTwoTeams(test);
  const dashboard = JSON.parse(readFileSync(join(FOLDER, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
  const rules = parse(readFileSync(join(FOLDER, 'rules.yml'), 'utf8')) as Rules;
  const charted = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const alerted = rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr));

  it('are rules and a configuration that promtool takes', function () {
    if (findPrometheus() === null) this.skip();
    promtool(['check', 'rules', join(FOLDER, 'rules.yml')]);
    promtool(['check', 'config', '--syntax-only', join(FOLDER, 'prometheus.yml')]);
  });

  it('have only expressions that promtool takes', function () {
    if (findPrometheus() === null) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'headgate-rules-'));
    const file = join(folder, 'rules.yml');
    const recorded = charted.map((expr, index) => ({ record: `charted:${index}`, expr }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    try {
      promtool(['check', 'rules', file]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('ask only for metrics that there are', async () => {
    const { key } = await teams.admin.mutate<{ key: string }>('serviceAccount.create', {
      ...{ environmentId: teams.ours.environmentId, name: 'prometheus', permissions: ['metrics.read'] },
    });
    await teams.ours.node.heartbeat(heartbeat());
    const read = async (path: string, token: string) =>
      (await send(`${test.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).text;
    const text = (await read('/metrics', TOKEN)) + (await read('/api/metrics', key));
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
    const named = [...charted, ...alerted].flatMap((expr) =>
      [...expr.matchAll(/\b(?:headgate|service|nodejs|process)_\w+/g)].map(([name]) => name),
    );
    expect(named.length).to.be.greaterThan(30);
    const unknown = named.filter((name) => !known.has(name) && !known.has(name.replace(/_bucket$/, '')));
    expect(unknown).to.deep.equal([]);
  });
});
