/** migration.runSamples: the same lines through the original and through what the rules make of it. */
import { expect } from 'chai';
import { replayOriginal } from '../../../controller/pipelines/migration/replay/fluentd/replay-original.ts';
import type { Migration, SampleRun } from '../../../schemas/api/pipelines/migrations.ts';
import { SMALL_FLUENTD } from '../../support/fixtures/migrations.ts';
import { useController } from '../../support/harness/controller.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';

/** Routed by labels and by tags that are written anew. */
const ROUTED = `<source>
  @type tail
  path /var/log/nginx/access.log
  tag web.access
  @label @WEB
  <parse>
    @type nginx
  </parse>
</source>
<label @WEB>
  <filter web.**>
    @type record_transformer
    remove_keys agent
    <record>
      service \${tag_parts[0]}
      where \${record["host"]}/\${record["path"]}
    </record>
  </filter>
  <match web.**>
    @type rewrite_tag_filter
    <rule>
      key code
      pattern /^5/
      tag errors.\${tag}
    </rule>
    <rule>
      key code
      pattern /^2/
      tag fine.\${tag}
    </rule>
  </match>
  <match errors.**>
    @type copy
    <store>
      @type http
      endpoint http://collector.example.com/errors
      <format>
        @type json
      </format>
    </store>
    <store>
      @type stdout
    </store>
  </match>
  <match fine.**>
    @type null
  </match>
</label>
`;
const access = (code: number, path = '/a') =>
  `10.0.0.1 web-1 - [28/Nov/2026:07:00:00 +0000] "GET ${path} HTTP/1.1" ${code} 12 "-" "curl/8"`;

describe('samples of a migration', function () {
  this.timeout(60_000);
  const test = useController();
  const places = useTestEnvironments(test);
  let made = 0;

  async function translated(originalConfig: string): Promise<Migration> {
    const { teamId } = places;
    const input = { teamId, name: `samples ${++made}`, platform: 'FLUENTD', originalConfig };
    const { id } = await places.editor.mutate<Migration>('migration.create', input);
    await places.editor.mutate('migration.parse', { id, teamId });
    return places.editor.mutate<Migration>('migration.translate', { id, teamId });
  }
  const inputOf = ({ id }: Migration, lines: readonly string[], more: object = {}) => ({
    ...{ id, teamId: places.teamId, lines, ...more },
  });
  const run = (migration: Migration, lines: readonly string[], more?: object) =>
    places.editor.mutate<SampleRun>('migration.runSamples', inputOf(migration, lines, more));

  it('are equal where the rules are true to the original: parsed, filtered, and delivered once', async () => {
    const migration = await translated(SMALL_FLUENTD);
    const { lines, tag, counts } = await run(migration, [
      '{"path":"/orders","n":1}',
      '{"path":"/health"}',
      'no JSON',
    ]);
    expect(tag).to.equal('app.access');
    expect(counts, JSON.stringify(lines, null, 1)).to.deep.equal({ equal: 3, different: 0, unknown: 0 });
    expect(lines.map(({ outputs }) => outputs.length)).to.deep.equal([1, 0, 0]);
    expect(lines[0]?.outputs[0]?.original?.event).to.deep.equal({ path: '/orders', n: 1 });
  });

  it('follow labels, written tags and copies on either side', async () => {
    const { lines, counts } = await run(await translated(ROUTED), [
      access(500),
      access(200),
      access(404),
      'nonsense',
    ]);
    expect(counts, JSON.stringify(lines, null, 1)).to.deep.equal({ equal: 4, different: 0, unknown: 0 });
    const [failed, fine] = lines;
    expect(failed?.outputs.map(({ original }) => [original?.output, original?.tag])).to.deep.equal([
      ['http', 'errors.web.access'],
      ['stdout', 'errors.web.access'],
    ]);
    expect(failed?.outputs[0]?.translated?.event).to.deep.include({
      service: 'web',
      where: 'web-1//a',
      code: '500',
    });
    expect(fine?.outputs).to.deep.equal([]);
  });

  it('show each field that differs after an edit', async () => {
    const migration = await translated(SMALL_FLUENTD);
    const block = migration.blocks.find(({ id }) => id === 'b2');
    const components = (block?.translation?.components ?? []).map((one) => ({
      ...{ ...one, componentType: 'remap' },
      config: { source: '.n = 2\n.added = true' },
    }));
    await places.editor.mutate('migration.updateBlockConfig', {
      ...{ id: migration.id, teamId: places.teamId, blockId: 'b2', config: { components } },
    });
    const { lines } = await run(migration, ['{"path":"/orders","n":1}', '{"path":"/health"}']);
    expect(lines[0]?.outputs[0]?.differences).to.deep.equal([
      { field: 'n', original: '1', translated: '2' },
      { field: 'added', original: null, translated: 'true' },
    ]);
    expect(lines[1]?.outputs.map(({ verdict }) => verdict)).to.deep.equal(['onlyTranslated']);
  });

  it('say what is not known, and guess nothing', async () => {
    const ruby = SMALL_FLUENTD.replace('@type grep', '@type house_made');
    const { lines } = await run(await translated(ruby), ['{"path":"/orders"}']);
    expect(lines[0]?.verdict).to.equal('unknown');
    expect(lines[0]?.unknown[0]).to.deep.include({
      side: 'original',
      at: 'b2',
      reason: 'the filter house_made',
    });
  });

  it('ask for a tag where events bring theirs, and take records as JSON then', async () => {
    const forwarded = await translated(
      '<source>\n  @type forward\n</source>\n<match app.**>\n  @type stdout\n</match>\n',
    );
    const without = await refusal(
      places.editor,
      'mutation',
      'migration.runSamples',
      inputOf(forwarded, ['{"a":1}']),
    );
    expect(without).to.match(/BAD_REQUEST: .*name the one that the samples have/);
    const { counts, lines } = await run(forwarded, ['{"a":1}', 'nonsense'], { tag: 'app.x' });
    expect(counts, JSON.stringify(lines, null, 1)).to.deep.equal({ equal: 1, different: 0, unknown: 1 });
  });

  it('end with an expression that takes for ever', async () => {
    const slow = SMALL_FLUENTD.replace('@type json', '@type regexp\n    expression /^(?<a>(x+x+)+y)$/');
    const request = { lines: ['x'.repeat(60)], blockId: null, tag: null };
    const fault = await replayOriginal(slow, request, new AbortController().signal, 200).catch(
      ({ code, message }) => `${code}: ${message}`,
    );
    expect(fault).to.match(/^BAD_REQUEST: The original took longer than 0\.2 s/);
  });

  it('are refused beyond their size', async () => {
    const lines = Array.from({ length: 3 }, () => 'x'.repeat(30_000));
    const fault = await refusal(
      places.editor,
      'mutation',
      'migration.runSamples',
      inputOf(await translated(SMALL_FLUENTD), lines),
    );
    expect(fault).to.match(/BAD_REQUEST: lines have 90000 bytes together, the limit is 65536/);
  });
});
