/** What the page of the API makes of the document that the controller serves. */
import { expect } from 'chai';
import { describeApi } from '../../../api/openapi/document.ts';
import { REST_ROWS } from '../../../api/rest/rows.ts';
import { curlLines } from '../../../web/src/features/api-docs/curl.ts';
import {
  type ApiDocument,
  groupsOf,
  matching,
  type Operation,
  type Schema,
} from '../../../web/src/features/api-docs/document.ts';
import { fieldsOf, ruleTexts, typeText } from '../../../web/src/features/api-docs/schema-text.ts';

describe('what the page of the API shows', () => {
  const served = describeApi({ baseUrl: 'https://hg.example.org', cookieName: 'sid' });
  const document = JSON.parse(JSON.stringify(served)) as ApiDocument;
  const groups = groupsOf(document);
  const operations = (found = groups): Operation[] =>
    found.flatMap(({ tags }) => tags.flatMap(({ operations: those }) => those));
  const operation = (id: string): Operation => {
    const found = operations().find((one) => one.id === id);
    if (!found) throw new Error(`there is no operation ${id}`);
    return found;
  };
  /** A field in words, as a row of a table has it. */
  const fieldOf = (schema: Schema | null | undefined, name: string): string => {
    const field = fieldsOf(document, schema ?? {}).find((one) => one.name === name);
    if (!field) throw new Error(`there is no field ${name}`);
    const optional = field.required ? [] : ['optional'];
    return [...optional, typeText(document, field.schema), ...ruleTexts(document, field.schema)].join(' ');
  };

  it('is every row of the REST interface, before the procedures', () => {
    expect(groups.map(({ name }) => name)).to.deep.equal(['REST v1', 'Procedures']);
    const [rest, procedures] = groups.map((group) => operations([group]));
    expect(rest?.map(({ method, path, summary }) => `${method} ${path} ${summary}`)).to.have.members(
      REST_ROWS.map(({ method, path, summary }) => `${method} /api/v1${path} ${summary}`),
    );
    expect(procedures?.map(({ method, path }) => `${method} ${path}`)).to.include(
      'POST /api/trpc/pipeline.create',
    );
  });

  it('is found by every word of it, and by nothing else', () => {
    const found = (text: string) => operations(matching(groups, text)).map(({ id }) => id);
    expect(found('secrets.manage delete')).to.deep.equal(['deleteSecret']);
    expect(found('  DELETE secrets.MANAGE ')).to.deep.equal(['deleteSecret']);
    expect(found('no such thing')).to.deep.equal([]);
    expect(matching(groups, '  ')).to.deep.equal(groups);
  });

  it('says of a body and an answer what stands in it, and who may ask', () => {
    const { permission, parameters, body, answers } = operation('createAlertRule');
    expect(permission).to.equal('alerts.manage');
    expect(parameters.map(({ name }) => name)).to.include('Idempotency-Key');
    expect(fieldOf(body?.schema, 'condition')).to.equal('text one of gt, lt, eq');
    expect(fieldOf(body?.schema, 'durationSeconds')).to.match(/^optional integer /);
    expect(answers.map(({ status }) => status)).to.include.members(['201', '403']);
    const made = answers.find(({ status }) => status === '201')?.schema;
    expect(fieldsOf(document, made ?? {}).map(({ name }) => name)).to.include('rule');
  });

  it('shows of a procedure what stands in the envelope of its answer', () => {
    const { role, answers } = operation('user.me');
    expect(role).to.be.a('string');
    const [answer] = answers.filter(({ status }) => status === '200');
    expect(fieldsOf(document, answer?.schema ?? {}).map(({ name }) => name)).not.to.include('result');
  });

  it('has a request of every operation, with the key of a program or the cookie of a person', () => {
    const lines = curlLines(operation('createAlertRule'), 'https://hg.example.org');
    expect(lines[0]).to.match(/^curl \\$/);
    expect(lines).to.include('  -H "Authorization: Bearer $HEADGATE_KEY" \\');
    expect(lines.at(-1)).to.equal('  https://hg.example.org/api/v1/alerts/rules');
    expect(curlLines(operation('user.me'), 'https://h')).to.include('  -b jar \\');
    for (const one of operations())
      expect(curlLines(one, 'https://h').at(-1), one.id).to.match(/^ {2}https:\/\/h\/api\/[^{}]+$/);
  });
});
