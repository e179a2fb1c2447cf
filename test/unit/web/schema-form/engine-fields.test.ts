/** The fields of all components of Vector 0.57, from a schema of the shapes that its own has. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { componentsOf } from '../../../../controller/pipelines/engine/schema/schema-components.ts';
import { fieldOf } from '../../../../web/src/ui/schema-form/field-model.ts';
import type { FormSchema } from '../../../../web/src/ui/schema-form/schema.ts';
import { VECTOR_SCHEMA } from '../../../support/fixtures/engine-schema/scripted-engine.ts';

/** Each place of a form, with the kind of its field. */
function* fieldsOf(schema: FormSchema, place: string): Generator<{ place: string; kind: string }> {
  const field = fieldOf(schema);
  yield { place, kind: field.kind === 'text' && field.language ? field.language : field.kind };
  if (field.kind === 'section')
    for (const [name, option] of field.properties) yield* fieldsOf(option, `${place}.${name}`);
  if (field.kind === 'choice')
    for (const { title, schema: arm } of field.arms) yield* fieldsOf(arm, `${place}|${title}`);
  if (field.kind === 'list') yield* fieldsOf(field.items, `${place}[]`);
  if (field.kind === 'map') yield* fieldsOf(field.values, `${place}{}`);
}

describe('the forms of all components of an engine', () => {
  const components = componentsOf(JSON.parse(readFileSync(VECTOR_SCHEMA, 'utf8')));
  const fields = components.flatMap(({ component, schema }) => [
    ...fieldsOf(JSON.parse(schema), `${component.kind} ${component.type}`),
  ]);

  it('are eighty', () => expect(components).to.have.length(80));

  it('have fields for all but ten options, which are written as YAML', () => {
    const raw = fields.filter(({ kind }) => kind === 'yaml').map(({ place }) => place);
    expect(raw.length, raw.join('\n')).to.be.lessThan(11);
    expect(fields.length).to.be.greaterThan(5_000);
  });

  it('have a VRL field for each condition and each program', () => {
    const programs = fields.filter(({ kind }) => kind === 'vrl').map(({ place }) => place.split('|')[0]);
    expect(programs).to.include.members([
      'TRANSFORM remap.source',
      'TRANSFORM filter.condition',
      'TRANSFORM sample.exclude',
      'TRANSFORM reduce.ends_when',
      'TRANSFORM route.route{}',
      'TRANSFORM exclusive_route.routes[].condition',
    ]);
  });

  it('offer no two alternatives of one name', () => {
    const doubled = components.flatMap(({ component, schema }) =>
      [...choicesOf(JSON.parse(schema), component.type)].filter(
        ({ titles }) => new Set(titles).size < titles.length,
      ),
    );
    expect(doubled).to.deep.equal([]);
  });
});

function* choicesOf(schema: FormSchema, place: string): Generator<{ place: string; titles: string[] }> {
  const field = fieldOf(schema);
  if (field.kind === 'choice') {
    yield { place, titles: field.arms.map(({ title }) => title) };
    for (const arm of field.arms) yield* choicesOf(arm.schema, `${place}|${arm.title}`);
  }
  if (field.kind === 'section')
    for (const [name, option] of field.properties) yield* choicesOf(option, `${place}.${name}`);
  if (field.kind === 'list') yield* choicesOf(field.items, `${place}[]`);
  if (field.kind === 'map') yield* choicesOf(field.values, `${place}{}`);
}
