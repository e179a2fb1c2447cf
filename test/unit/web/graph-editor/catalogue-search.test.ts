import { expect } from 'chai';
import {
  type Entry,
  searchCatalogue,
} from '../../../../web/src/features/pipeline-editor/canvas/catalogue-search.ts';

const entry = (kind: Entry['kind'], type: string, title = type, description = ''): Entry => ({
  kind,
  type,
  title,
  description,
});
const ENTRIES: Entry[] = [
  entry('SOURCE', 'http_server', 'HTTP Server', 'Takes events by requests.'),
  entry('SOURCE', 'file', 'File'),
  entry('TRANSFORM', 'remap', 'Remap with VRL'),
  entry('SINK', 'prometheus_exporter', 'Prometheus Exporter', 'Answers HTTP.'),
  entry('SINK', 'http', 'HTTP'),
  { ...entry('SINK', 'http', 'Archive'), shared: { id: 's1', version: 1, config: {} } },
];
const found = (text: string) =>
  searchCatalogue(ENTRIES, text).map(
    ({ word, entries }) => `${word}: ${entries.map(({ title }) => title).join(', ')}`,
  );

describe('the catalogue', () => {
  it('is in groups, shared components first', () => {
    expect(found('')).to.deep.equal([
      'Shared components: Archive',
      'Sources: HTTP Server, File',
      'Transforms: Remap with VRL',
      'Sinks: Prometheus Exporter, HTTP',
    ]);
  });

  it('puts the type itself before others in which the word occurs', () => {
    expect(found('http').at(-1)).to.equal('Sinks: HTTP, Prometheus Exporter');
  });

  it('wants every word, in any place', () =>
    expect(found('sink http')).to.deep.equal([
      'Shared components: Archive',
      'Sinks: Prometheus Exporter, HTTP',
    ]));

  it('is empty where nothing has the word', () => expect(found('kafka')).to.deep.equal([]));
});
