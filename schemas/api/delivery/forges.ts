/** The forge of a binding: how it is reached, and how pull requests are opened and merged there. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Input, Nullable, Timestamp } from '../common.ts';
import { REMOTE_FORGES } from './pull-requests.ts';

/** How a remote lets us in. What was given is sealed and never shown again. */
export const GitCredentials = Type.Union([
  Input({ type: Type.Literal('none') }),
  /** HTTPS: a user name and a password or token. */
  Input({
    type: Type.Literal('basic'),
    username: Type.String({ minLength: 1, maxLength: 255 }),
    password: Type.String({ minLength: 1, maxLength: 4096 }),
  }),
  /** ssh: a private key in OpenSSH or PEM form, without a passphrase. */
  Input({ type: Type.Literal('ssh'), privateKey: Type.String({ minLength: 1, maxLength: 16_384 }) }),
  /** HTTPS: the GitHub App of `forge`, by tokens that are made and renewed here. */
  Input({ type: Type.Literal('app') }),
]);
export type GitCredentials = Static<typeof GitCredentials>;

export const ShownGitCredentials = Type.Object({
  type: Type.Enum(['none', 'basic', 'ssh', 'app']),
  username: Nullable(Type.String()),
  /** Of an ssh key: its public half, to be given to the server. */
  publicKey: Nullable(Type.String()),
});

/** Where the pull requests of a remote live; `none`: Headgate keeps them, which any git server does with. */
export const ForgeKind = Type.Enum(['none', ...REMOTE_FORGES]);

/** Where the pull requests of a remote live. Tokens are sealed and never shown again. */
export const BindForge = Input({
  /** `none`: Headgate keeps the pull requests of the remote itself. */
  name: ForgeKind,
  /** Of its API; absent: as the remote's address tells, for example https://api.github.com or https://git.example.com/api/v1. */
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  /** `owner/name`, of GitLab with all groups; absent: as the remote's address tells. */
  project: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  /** Absent: as before, towards the very same address. */
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  /** GitHub: an app that is installed on the repository, in the place of a token. */
  app: Type.Optional(
    Input({
      /** App ID or client ID. */
      id: Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: worded('^[A-Za-z0-9._-]+$', 'must be the App ID or the client ID of a GitHub App'),
      }),
      /** As GitHub generates it, PEM. */
      privateKey: Type.String({ minLength: 1, maxLength: 16_384 }),
    }),
  ),
  /** What the forge signs its webhooks with. Absent: as before. Null: calls need no signature, they only wake the loop. */
  webhookSecret: Type.Optional(Nullable(Type.String({ minLength: 16, maxLength: 255 }))),
});
export type BindForge = Static<typeof BindForge>;

export const BoundForge = Type.Object({
  name: ForgeKind,
  url: Nullable(Type.String()),
  project: Nullable(Type.String()),
  /** A token, or the key of an app. */
  hasToken: Type.Boolean(),
  /** GitHub: the app by which it is asked; null for a token. */
  appId: Nullable(Type.String()),
  hasWebhookSecret: Type.Boolean(),
  /** Why it did not do what it was asked last, and what to do; null where it did. */
  error: Nullable(Type.Object({ message: Type.String(), at: Timestamp })),
});
export type BoundForge = Static<typeof BoundForge>;

/** What the forge said when it was asked whether the token is good for everything that is done with it. */
export const CheckedForge = Type.Object({ ok: Type.Boolean(), message: Type.String() });
export type CheckedForge = Static<typeof CheckedForge>;

/** Of the embedded repository: how pull requests come into the branch. */
export const ReviewRules = Type.Object({
  /** The branch takes no pushes, only merged pull requests. */
  protectBranch: Type.Boolean(),
  /** Of others than its author, at the head that is merged. */
  requiredApprovals: Type.Integer({ minimum: 0, maximum: 10 }),
});
export type ReviewRules = Static<typeof ReviewRules>;

const OfForge = (most: number) =>
  Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: worded('^\\S(.*\\S)?$', 'must have no blanks at its ends'),
    }),
    { maxItems: most },
  );

/** What the pull requests are like that Headgate opens for the binding, and what becomes of their branches. */
export const PullRequestSettings = Type.Object({
  /** Branches of promotions go when their pull request is merged or closed. A branch with commits of others is kept unless it is merged. */
  deleteBranches: Type.Boolean(),
  /** Opened as a draft. Of a forge only, as are labels, reviewers and assignees. */
  draft: Type.Boolean(),
  labels: OfForge(20),
  /** As the forge names users. On GitHub and Gitea `org/team` for a team. */
  reviewers: OfForge(15),
  assignees: OfForge(10),
  /** Templates with {{title}}, {{kind}}, {{name}}, {{environment}}, {{author}}, of the text also {{body}}. Null: as Headgate writes it. */
  title: Nullable(Type.String({ minLength: 1, maxLength: 200 })),
  body: Nullable(Type.String({ minLength: 1, maxLength: 10_000 })),
});
export type PullRequestSettings = Static<typeof PullRequestSettings>;
