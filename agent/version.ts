/** `v<MAJOR>.<MINOR>.<PATCH>` on the stable channel, `dev-<short hash>` on the dev channel. */
export const AGENT_VERSION = 'v0.1.0';
