/** Set when a release is built. */
declare const HEADGATE_AGENT_VERSION: string | undefined;

/** `v<MAJOR>.<MINOR>.<PATCH>` on the stable channel, `dev-<short hash>` on the dev channel. */
export const AGENT_VERSION: string =
  typeof HEADGATE_AGENT_VERSION === 'string' ? HEADGATE_AGENT_VERSION : 'v0.1.0';
