/** VRL snippets: what a team keeps, under names of their own. */
import { expect } from 'chai';
import type { Snippet } from '../../../schemas/api/pipelines/snippets.ts';
import { useController } from '../../support/harness/controller.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

describe('VRL snippets', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let made = 0;

  const input = (more: object = {}) => ({
    ...{ teamId: places.teamId, name: `snippet ${++made}`, category: 'Parsing', code: '.a = 1' },
    ...more,
  });
  const create = (more?: object) => places.editor.mutate<Snippet>('vrlSnippet.create', input(more));
  const list = (teamId = places.teamId) => places.both.query<Snippet[]>('vrlSnippet.list', { teamId });

  it('are listed with their code, by category and name, to the team alone', async () => {
    const parse = await create({ name: 'zebra', category: 'A first', description: 'of stripes' });
    const redact = await create({ name: 'Apple', category: 'a first' });
    const mine = (await list()).filter(({ id }) => [parse.id, redact.id].includes(id));
    expect(mine).to.deep.equal([redact, parse]);
    expect(parse).to.include({ code: '.a = 1', description: 'of stripes', createdByName: 'editor' });
    expect(redact.description).to.equal(null);
    expect(await list(places.otherTeamId)).to.deep.equal([]);
  });

  it('lose white space at the ends of name and category, and nothing of the code', async () => {
    const made = await create({ name: '  trimmed ', category: ' Some ', code: '  .a = 1\n' });
    expect(made).to.include({ name: 'trimmed', category: 'Some', code: '  .a = 1\n' });
  });
});
