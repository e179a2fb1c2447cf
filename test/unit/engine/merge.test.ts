import { expect } from 'chai';
import type { ConfigError } from '../../../examples/engine/config/config-error.ts';
import { mergeConfigs } from '../../../examples/engine/config/merge.ts';

function errorsOf(...files: Record<string, unknown>[]): string[] {
  try {
    mergeConfigs(files);
    return [];
  } catch (error) {
    return (error as ConfigError).messages;
  }
}

describe('merging of several configuration files', () => {
  it('unites components', () => {
    const merged = mergeConfigs([{ sources: { a: 1 } }, { sources: { b: 2 }, sinks: { c: 3 } }]);
    expect(merged.sources).to.deep.equal({ a: 1, b: 2 });
    expect(merged.sinks).to.deep.equal({ c: 3 });
  });

  it('refuses one id twice', () => {
    expect(
      errorsOf({ sources: { in: {} }, sinks: { x: {} } }, { sources: { in: {} }, sinks: { x: {} } }),
    ).to.deep.equal(['duplicate source id found: in', 'duplicate sink id found: x']);
  });

  it('lets the default data directory yield to another one, in either order', () => {
    const files = [{ data_dir: '/var/lib/vector/' }, { data_dir: '/own' }];
    expect(mergeConfigs(files).global.data_dir).to.equal('/own');
    expect(mergeConfigs(files.reverse()).global.data_dir).to.equal('/own');
  });

  it('refuses two data directories', () => {
    expect(errorsOf({ data_dir: '/a' }, { data_dir: '/b' })).to.deep.equal([
      "conflicting values for 'data_dir' found",
    ]);
  });

  it('enables the API if one file does and takes the address that is not the default', () => {
    const merged = mergeConfigs([
      { api: { enabled: false } },
      { api: { enabled: true, address: '127.0.0.1:9000' } },
    ]);
    expect(merged.global.api).to.deep.equal({ enabled: true, address: '127.0.0.1:9000' });
  });

  it('refuses two API addresses', () => {
    expect(errorsOf({ api: { address: '127.0.0.1:1' } }, { api: { address: '127.0.0.1:2' } })).to.deep.equal([
      'Conflicting `api` address: 127.0.0.1:1, 127.0.0.1:2 .',
    ]);
  });

  it('accepts other settings twice if they are equal', () => {
    expect(errorsOf({ timezone: 'UTC' }, { timezone: 'UTC' })).to.deep.equal([]);
    expect(errorsOf({ timezone: 'UTC' }, { timezone: 'local' })).to.deep.equal([
      "conflicting values for 'timezone' found",
    ]);
  });

  it('refuses a top-level key that it does not know', () => {
    expect(errorsOf({ enrichment_table: {} })[0]).to.match(/^unknown field `enrichment_table`$/);
  });

  it('tells one that only Vector has from one that nobody has', () => {
    expect(errorsOf({ enrichment_tables: {} })).to.deep.equal([
      'option "enrichment_tables" is not available in headgate-engine\nin `config`',
    ]);
  });
});
