import { expect } from 'chai';
import { stringify } from 'yaml';
import type { Catalogue } from '../../../controller/pipelines/engine/index.ts';
import type { NodeAfter, Running } from '../../../reconcilers/git/plan/affected-nodes.ts';
import { addressOf, clash, configFacts } from '../../../reconcilers/plan-view/config-facts.ts';
import { fleetFindings } from '../../../reconcilers/plan-view/fleet-impact.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const running = (name: string, config: object, selector: Record<string, string> | null = null): Running => ({
  ...{ key: name, name, selector },
  config: `info\n${stringify(config)}`,
  staged: null,
});
const node = (host: string, runs: readonly string[], engineVersion: string | null = null): NodeAfter => ({
  ...{ host, engineVersion, labels: {}, maintenance: false },
  runs: new Set(runs),
});
const found = (
  pipelines: readonly Running[],
  nodes: readonly NodeAfter[],
  catalogue: Catalogue | null = null,
) => fleetFindings({ pipelines, nodes, catalogue });
const http = (address: string) => ({ sources: { web: { type: 'http_server', address } } });

describe('what clashes on a node', () => {
  it('is read from addresses of every form', () => {
    expect(addressOf('0.0.0.0:80')).to.deep.equal({ host: '0.0.0.0', port: 80 });
    expect(addressOf('[::]:80')).to.deep.equal({ host: '::', port: 80 });
    expect(addressOf(':80')).to.deep.equal({ host: '', port: 80 });
    expect(addressOf('localhost:8080')).to.deep.equal({ host: 'localhost', port: 8080 });
    for (const none of [
      'systemd#0',
      '0.0.0.0',
      '0.0.0.0:0',
      '0.0.0.0:99999',
      `$\{ADDR}:80`,
      'a b:80',
      80,
      null,
      'x'.repeat(100_000),
    ])
      expect(addressOf(none), String(none).slice(0, 20)).to.equal(null);
  });

  it('knows what listens and what only sends there', () => {
    const { listeners } = configFacts(
      stringify({
        api: { enabled: true },
        sources: {
          otel: {
            type: 'opentelemetry',
            grpc: { address: '0.0.0.0:4317' },
            http: { address: '0.0.0.0:4318' },
          },
          udp: { type: 'socket', mode: 'udp', address: '0.0.0.0:514' },
        },
        sinks: {
          out: { type: 'socket', mode: 'tcp', address: 'elsewhere.example.org:514' },
          metrics: { type: 'prometheus_exporter' },
        },
      }),
    );
    expect(
      listeners.map(({ component, protocol, port }) => `${component} ${protocol} ${port}`),
    ).to.deep.equal([
      'api tcp 8686',
      'sources.otel tcp 4317',
      'sources.otel tcp 4318',
      'sources.udp udp 514',
      'sinks.metrics tcp 9598',
    ]);
  });

  it('is two listeners that cannot both be had', () => {
    const at = (host: string, protocol: 'tcp' | 'udp' = 'tcp') => ({
      component: 'c',
      protocol,
      host,
      port: 80,
    });
    expect(clash(at('0.0.0.0'), at('127.0.0.1'))).to.equal(true);
    expect(clash(at('::'), at('10.0.0.1'))).to.equal(true);
    expect(clash(at('localhost'), at('127.0.0.1'))).to.equal(true);
    expect(clash(at('10.0.0.1'), at('10.0.0.2'))).to.equal(false);
    expect(clash(at('127.0.0.1'), at('::1'))).to.equal(false);
    expect(clash(at('0.0.0.0'), at('0.0.0.0', 'udp'))).to.equal(false);
  });

  it('is told once, with every host that it is on, and not where the two never meet', () => {
    const pipelines = [running('one', http('0.0.0.0:80')), running('two', http('127.0.0.1:80'))];
    const nodes = [node('b', ['one', 'two']), node('a', ['two', 'one']), node('c', ['one'])];
    const findings = found(pipelines, nodes);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.deep.include({ type: 'port-clash', pipelines: ['one', 'two'], hosts: ['a', 'b'] });
    expect(found(pipelines, [node('a', ['one']), node('b', ['two'])])).to.deep.equal([]);
  });

  it('is the ports of the agent, as many as it uses on that node', () => {
    const one = [running('one', http('0.0.0.0:8690'))];
    expect(found(one, [node('a', ['one'])])).to.deep.equal([]);
    const two = [...one, running('two', {})];
    expect(found(two, [node('a', ['one', 'two'])])[0]?.message).to.include('8688 to 8691');
    expect(found([running('m', http(':9090'))], [node('a', ['m'])])[0]?.message).to.include(
      'SVC_METRICS_PORT',
    );
  });

  it('is one folder for the state of two pipelines, and of two components of one it is none', () => {
    const dir = (path: string) => ({ data_dir: path });
    const two = found(
      [running('one', dir('/var/lib/x/')), running('two', dir('/var/lib/x'))],
      [node('a', ['one', 'two'])],
    );
    expect(two[0]).to.include({ type: 'data-dir-clash', severity: 'warning' });
    const own = { sources: { a: { type: 'file', data_dir: '/d' }, b: { type: 'file', data_dir: '/d' } } };
    expect(found([running('one', own)], [node('a', ['one'])])).to.deep.equal([]);
  });

  it('does not grow with the square of a port that everybody wants', () => {
    const many = Array.from({ length: 2_000 }, (_, index) => running(`p${index}`, http('0.0.0.0:80')));
    const began = cpuMs();
    const findings = found(many, [
      node(
        'a',
        many.map(({ key }) => key),
      ),
    ]);
    expect(findings.length).to.be.within(1, 200);
    expect(cpuMs() - began).to.be.below(patient(5_000));
  });

  it('is a selector that no node matches, unless there is no node at all', () => {
    const far = [running('far', {}, { role: 'moon' })];
    expect(found(far, [node('a', [])])[0]).to.deep.include({
      type: 'selector-matches-nothing',
      pipelines: ['far'],
    });
    expect(found(far, [])).to.deep.equal([]);
  });

  it('is a component that the very engine of the node does not have', () => {
    const catalogue: Catalogue = {
      ...{ engine: 'vector 0.58.0', detail: null },
      components: [{ kind: 'SOURCE', type: 'file', title: '', description: '' }],
    };
    const pipelines = [running('new', { sources: { s: { type: 'quantum' }, f: { type: 'file' } } })];
    const nodes = [node('a', ['new'], 'vector 0.58.0 (x86_64)'), node('b', ['new'], 'vector 0.58.1')];
    const findings = found(pipelines, nodes, catalogue);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.deep.include({ type: 'unknown-component', hosts: ['a'] });
    expect(found(pipelines, nodes, { ...catalogue, detail: 'not known' })).to.deep.equal([]);
  });
});
