import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SWEEPS } from '../../../controller/compose/retention.ts';
import { startTestPlatform } from '../../support/harness/platform.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/retention.md'), 'utf8');

describe('docs/retention.md', () => {
  it('names every table of the database', async () => {
    const platform = await startTestPlatform();
    try {
      const { rows } = await platform.db.raw<{ rows: { name: string }[] }>(
        `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
           AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
      );
      expect(rows).to.not.have.length(0);
      expect(rows.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([]);
    } finally {
      await platform.stop();
    }
  });

  it('says when the deletions run, as they do: every six hours', () => {
    const times = SWEEPS.flatMap(({ cron }) => {
      const [, minute = '', hours = ''] = cron.split(' ');
      return hours === '*' ? [] : [hours.split(',').map((hour) => `${pad(hour)}:${pad(minute)}`)];
    });
    for (const some of times)
      expect(some.map((time) => time.slice(0, 2))).to.deep.equal(['04', '10', '16', '22']);
    const told = [...page.matchAll(/\b(\d\d:\d\d)/g)].map(([, time]) => time);
    expect(told).to.not.have.length(0);
    expect(times.flat()).to.include.members(told);
  });
});

const pad = (part: string): string => part.padStart(2, '0');
