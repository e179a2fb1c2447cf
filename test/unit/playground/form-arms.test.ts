/** The alternatives of an option, as a form shows them. */
import { expect } from 'chai';
import { simplifyArms } from '../../../controller/pipelines/engine/schema/form-arms.ts';
import { FormSchemas, type Schema } from '../../../controller/pipelines/engine/schema/form-schema.ts';

const text = { type: 'string' };
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const titles = ({ oneOf }: Schema) => (oneOf as Schema[]).map(({ title }) => title);
const formOf = (schema: Schema, definitions: Schema = {}) => new FormSchemas(definitions, 5).of(schema);

describe('the alternatives of an option', () => {
  it('stand in one row, however deep they were', () => {
    const memory = { ...object({ type: { const: 'memory' } }, ['type']), title: 'memory' };
    const disk = { ...object({ type: { const: 'disk' } }, ['type']), title: 'disk' };
    const list = { type: 'array', title: 'list', items: text };
    expect(titles(simplifyArms([{ oneOf: [{ oneOf: [memory, disk] }] }, list]))).to.deep.equal([
      'memory',
      'disk',
      'list',
    ]);
  });

  it('are one list of words where they are single words', () => {
    const found = simplifyArms([
      { const: 'none', description: 'One request at a time.' },
      { const: 'adaptive' },
      { type: 'integer', title: 'fixed' },
    ]);
    expect(found).to.deep.equal({
      oneOf: [
        {
          type: 'string',
          title: 'none or adaptive',
          enum: ['none', 'adaptive'],
          enumDescriptions: ['One request at a time.', ''],
        },
        { type: 'integer', title: 'fixed' },
      ],
    });
  });

  it('are a text with suggestions where one of them is any text', () => {
    expect(simplifyArms([{ const: 'local', title: 'Local' }, text])).to.deep.equal({
      type: 'string',
      'x-suggestions': ['local'],
    });
  });

  it('become one object where nothing tells them apart, of which that is required that all require', () => {
    const events = object({ type: { const: 'memory' }, max_events: { type: 'integer' } }, ['type']);
    const bytes = object({ type: { const: 'memory' }, max_size: { type: 'integer' } }, ['type', 'max_size']);
    const found = simplifyArms([events, bytes]);
    expect(found.required).to.deep.equal(['type']);
    expect(found.properties).to.have.all.keys('type', 'max_events', 'max_size');

    const key = object({ key: text, region: text }, ['key']);
    const role = object({ role: text, region: text }, ['role']);
    const fallback = object({ region: text });
    const one = simplifyArms([key, role, fallback]);
    expect(one.properties).to.have.all.keys('key', 'role', 'region');
    expect(one).not.to.have.property('required');
  });

  it('stay apart where each of two requires what the other has not', () => {
    const found = simplifyArms([
      { ...object({ key: text }, ['key']), title: 'key' },
      { ...object({ file: text }, ['file']), title: 'file' },
    ]);
    expect(titles(found)).to.deep.equal(['key', 'file']);
  });
});

describe('the schema of an option for a form', () => {
  it('makes a condition a VRL text, or a VRL source that is written out', () => {
    const condition = formOf({
      oneOf: [
        { type: 'string', _metadata: { 'docs::human_name': 'String' } },
        {
          oneOf: [
            { ...object({ type: { const: 'is_log' } }, ['type']), _metadata: { 'docs::hidden': true } },
            object({ type: { const: 'vrl' }, source: text }, ['type', 'source']),
            object({ type: { const: 'datadog_search' }, source: text }, ['type', 'source']),
          ],
        },
      ],
      _metadata: { 'docs::type_override': 'condition' },
    });
    expect(titles(condition)).to.deep.equal(['String', 'vrl', 'datadog_search']);
    const [written, program, search] = condition.oneOf as (Schema & { properties: Record<string, Schema> })[];
    expect(written?.['x-language']).to.equal('vrl');
    expect(program?.properties.source?.['x-language']).to.equal('vrl');
    expect(search?.properties.source).not.to.have.property('x-language');
  });

  it('requires nothing of a part that may be left out as a whole', () => {
    const settings = formOf(
      {
        allOf: [
          object({ endpoint: text }, ['endpoint']),
          { $ref: '#/definitions/Option<V1>' },
          { oneOf: [{ type: 'null' }, { $ref: '#/definitions/V2' }] },
        ],
      },
      {
        'Option<V1>': { oneOf: [{ type: 'null' }, { $ref: '#/definitions/V1' }] },
        V1: object({ database: text }, ['database']),
        V2: object({ bucket: text }, ['bucket']),
      },
    );
    expect(settings.properties).to.have.all.keys('endpoint', 'database', 'bucket');
    expect(settings.required).to.deep.equal(['endpoint']);
  });

  it('marks every credential, and shows no example of one', () => {
    const credential = formOf(
      { $ref: '#/definitions/Secret', _metadata: { 'docs::examples': ['hunter2'] } },
      { Secret: { type: 'string', _metadata: { sensitive: true } } },
    );
    expect(credential).to.deep.equal({ type: 'string', 'x-sensitive': true });
  });

  it('shows no example that a push refuses', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable as the engine's documents have it
    const examples = ['${USERNAME}', '$HOME/x', 'username', String.raw`\\$`];
    expect(formOf({ ...text, _metadata: { 'docs::examples': examples } }).examples).to.deep.equal([
      'username',
      String.raw`\\$`,
    ]);
  });

  it('has a name as title, and a sentence in the description', () => {
    const about = formOf({
      ...text,
      title: 'The endpoint to send data to.',
      description: 'With scheme and port.',
      _metadata: { 'docs::human_name': 'Endpoint' },
    });
    expect(about.title).to.equal('Endpoint');
    expect(about.description).to.equal('The endpoint to send data to.\n\nWith scheme and port.');
  });

  it('takes a character as one, whatever its code is', () => {
    const delimiter = formOf({
      type: 'integer',
      default: 44,
      maximum: 255,
      _metadata: { 'docs::type_override': 'ascii_char' },
    });
    expect(delimiter).to.deep.equal({ type: 'string', maxLength: 1, default: ',' });
  });
});
