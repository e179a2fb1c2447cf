/**
 * GitHub merges a pull request by itself once all is there that its branch asks for: by GraphQL alone.
 * https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge
 */
import type { Octokit } from '@octokit/rest';
import Type from 'typebox';
import { validator } from '../../../schemas/validate.ts';
import { type Forge, ForgeError } from '../forge.ts';
import { Maybe, read } from '../response-schemas.ts';

const Node = Type.Object({ node_id: Type.String(), auto_merge: Maybe(Type.Object({})) });
const refused = validator(
  Type.Object({
    errors: Type.Array(Type.Object({ message: Type.String() }), { minItems: 1 }),
  }),
);

const ENABLE = `mutation ($id: ID!, $sha: GitObjectID!, $how: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, expectedHeadOid: $sha, mergeMethod: $how }) { clientMutationId }
}`;
const DISABLE = `mutation ($id: ID!) {
  disablePullRequestAutoMerge(input: { pullRequestId: $id }) { clientMutationId }
}`;
const DEQUEUE = `mutation ($id: ID!) { dequeuePullRequest(input: { id: $id }) { clientMutationId } }`;

/** What GitHub says in a few words, and what is to be done about it. */
const ADVICE: readonly (readonly [message: RegExp, advice: string])[] = [
  [/not allowed for this repository/i, 'switch on "Allow auto-merge" in the settings of the repository'],
  [
    /unstable status|protected branch|rules? not configured/i,
    'protect the branch there and require the check headgate/…, so that there is something to wait for',
  ],
  [/dirty|conflict/i, 'resolve the conflict with the base first'],
  [/draft/i, 'say there that it is ready for review'],
];

interface Parts extends Pick<Octokit, 'graphql' | 'rest'> {
  of: { owner: string; repo: string };
  label: string;
  asked<T>(call: () => Promise<T>): Promise<T>;
}

export function gitHubAutoMerge({ graphql, rest, of, label, asked }: Parts): NonNullable<Forge['autoMerge']> {
  async function errorOf(query: string, variables: Record<string, string>): Promise<string | null> {
    let message: string | null = null;
    await asked(async () => {
      try {
        await graphql(query, variables);
      } catch (error) {
        // With status 200.
        if (refused.issues(error).length > 0) throw error;
        message = (error as { errors: { message: string }[] }).errors.map((one) => one.message).join('; ');
      }
    });
    return message;
  }
  const refusal = (message: string): ForgeError => {
    const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
    return new ForgeError(
      'refused',
      `${label} refuses it (${message.slice(0, 200)})${advice ? `: ${advice}` : ''}`,
    );
  };
  return async (number, wanted) => {
    const pull = async () =>
      read(label, Node, (await asked(() => rest.pulls.get({ ...of, pull_number: number }))).data);
    const { node_id: id } = await pull();
    if (wanted === null) {
      const message = await errorOf(DISABLE, { id });
      if (message === null) return;
      // One that is in the merge queue by now is taken out of that.
      if ((await errorOf(DEQUEUE, { id })) === null) return;
      // It may have had none.
      if ((await pull()).auto_merge) throw refusal(message);
      return;
    }
    const { headSha: sha, method } = wanted;
    const message = await errorOf(ENABLE, { id, sha, how: method.toUpperCase() });
    if (message === null) return;
    // Nothing is left to wait for.
    if (!/clean status/i.test(message)) throw refusal(message);
    await asked(() => rest.pulls.merge({ ...of, pull_number: number, sha, merge_method: method }));
  };
}
