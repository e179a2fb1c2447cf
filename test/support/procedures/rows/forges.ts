/** Where the pull requests of a remote live. */
import { freshEnvironment, type Rows } from './row.ts';

export const FORGES: Rows = {
  'gitSync.checkForge': {
    names: 'scope',
    // Its token is of a key that nobody has, so nobody is asked.
    async input(side, n, root) {
      const environmentId = await freshEnvironment(side, n, root);
      await side.db('git_bindings').insert({
        id: `forge of ${environmentId}`,
        environment_id: environmentId,
        mode: 'observe',
        repository_url: 'https://git.example.invalid/a/b.git',
        path: 'nowhere',
        suspended_at: new Date(),
        suspended_by: 'the tests',
        suspend_reason: '',
        forge: 'gitea',
        forge_url: 'https://git.example.invalid/api/v1',
        forge_project: 'a/b',
        sealed_forge_token: 'v1.00000000.AAAA.AAAA',
      });
      return { environmentId };
    },
  },
};
