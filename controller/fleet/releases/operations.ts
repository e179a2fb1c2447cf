import packageFile from '../../../package.json' with { type: 'json' };
import { CheckVersion, Versions } from '../../../schemas/api/fleet/releases.ts';
import { ownScope, query } from '../../platform/operation/operation.ts';

export const checkVersion = query({
  name: 'settings.checkVersion',
  summary: 'Versions of this controller and of the agents that it serves',
  role: 'VIEWER',
  input: CheckVersion,
  output: Versions,
  scope: () => ownScope,
  async run(ctx, { force }) {
    const { releases, checkedAt } = await ctx.services.releases.list(force);
    const newest = (channel: 'stable' | 'dev') =>
      releases.find((release) => release.channel === channel) ?? null;
    return {
      server: { version: packageFile.version },
      agent: newest('stable'),
      devAgent: newest('dev'),
      checkedAt,
    };
  },
});
