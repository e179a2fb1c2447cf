/**
 * What the signature of a release covers. The digest alone would let an attacker on the controller pass off a signed
 * file as another version or as one for another machine; the name keeps other signatures by the same key from being
 * taken for one of a release.
 */
export interface SignedRelease {
  version: string;
  /** As Node names it: `linux`. */
  os: string;
  /** As Node names it: `x64`, `arm64`. */
  arch: string;
  /** Of the executable, in lower-case hex. */
  sha256: string;
}

/** Of every release, whatever its file is called. */
const NAME = 'headgate-agent';

/** The bytes to sign: one line of JSON without a line break, in this order of keys. docs/agents.md gives the form. */
export function releaseStatement({ version, os, arch, sha256 }: SignedRelease): Buffer {
  // `v1.2.3` and `1.2.3` are one version.
  const canonical = /^\d/.test(version) ? `v${version}` : version;
  return Buffer.from(JSON.stringify({ name: NAME, version: canonical, os, arch, sha256 }));
}

/** For messages: what the signature should have covered. */
export const describeRelease = ({ version, os, arch }: SignedRelease): string =>
  `${NAME} ${version} for ${os}/${arch}`;
