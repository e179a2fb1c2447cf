/** What git may do in an environment. The binding's policy is the widest; an Environment manifest can only tighten it. */
import Type, { type Static } from 'typebox';

export const UI_EDITS = ['propose', 'refuse', 'commit'] as const;
export const OWNABLE_KINDS = ['Pipeline', 'AlertRule', 'NodeGroup', 'Silence', 'WebhookEndpoint'] as const;
export type OwnableKind = (typeof OWNABLE_KINDS)[number];

const Percent = Type.Integer({ minimum: 0, maximum: 100 });

export const GitPolicy = Type.Object({
  /** What a change of a git-owned object through UI or API becomes. */
  uiEdits: Type.Enum([...UI_EDITS]),
  /** Whether an object whose manifest left git is deleted. */
  prune: Type.Boolean(),
  /** true puts git's state back after drift; false reports it. */
  selfHeal: Type.Boolean(),
  /** A plan beyond one of these waits for an ADMIN. Null: no such guard. */
  maxDeletes: Type.Union([Type.Integer({ minimum: 0, maximum: 100_000 }), Type.Null()]),
  /** Of the objects that git owns here. */
  maxDeletePercent: Type.Union([Percent, Type.Null()]),
  /** Of the nodes of the environment. */
  maxNodeRestartPercent: Type.Union([Percent, Type.Null()]),
  /** The kinds that git owns here; manifests of others are read and not acted on. */
  owns: Type.Array(Type.Enum([...OWNABLE_KINDS]), { uniqueItems: true, maxItems: OWNABLE_KINDS.length }),
});
export type GitPolicy = Static<typeof GitPolicy>;

/** Of a binding that says nothing. */
export const DEFAULT_POLICY: GitPolicy = {
  uiEdits: 'refuse',
  prune: true,
  selfHeal: true,
  maxDeletes: 10,
  maxDeletePercent: null,
  maxNodeRestartPercent: null,
  owns: [...OWNABLE_KINDS],
};
