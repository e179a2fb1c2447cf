/** Versions of the controller and of the agents that it serves. */
import Type, { type Static } from 'typebox';
import { Input, Nullable, Timestamp } from '../common.ts';

export const CheckVersion = Input({
  /** Looks at the files again; otherwise what was found within the last minute counts. */
  force: Type.Optional(Type.Boolean()),
});

/** One executable of a release. */
export const ReleaseFile = Type.Object({
  os: Type.String(),
  arch: Type.Enum(['x64', 'arm64']),
  libc: Type.Enum(['glibc', 'musl']),
  downloadUrl: Type.String(),
  /** `sha256:<hex>` of the file. */
  checksum: Type.String(),
  bytes: Type.Integer(),
  signature: Nullable(Type.String()),
});
export type ReleaseFile = Static<typeof ReleaseFile>;

export const AgentRelease = Type.Object({
  version: Type.String(),
  channel: Type.Enum(['stable', 'dev']),
  releasedAt: Timestamp,
  files: Type.Array(ReleaseFile),
});
export type AgentRelease = Static<typeof AgentRelease>;

export const Versions = Type.Object({
  /** Of this controller. */
  server: Type.Object({ version: Type.String() }),
  /** The newest agent of each channel that this controller serves; null where it serves none. */
  agent: Nullable(AgentRelease),
  devAgent: Nullable(AgentRelease),
  checkedAt: Timestamp,
});
export type Versions = Static<typeof Versions>;
