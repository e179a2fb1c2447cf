/** Where child processes look for programs: the one thing of the environment that is no setting of ours. */
export const searchPath: string = process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
