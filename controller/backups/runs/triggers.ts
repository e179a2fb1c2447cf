/** Names of the system actors that begin runs: what began a run is read from them. */
export const SCHEDULE = 'backup schedule';
export const COMMAND = 'headgate backup';
