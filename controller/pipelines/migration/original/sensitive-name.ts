/** Which names of parameters, headers and fields stand before a credential. */

const SENSITIVE =
  /pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|authorization|cookie|webhook|dsn$|sec_key|connection_?string|(?<![a-z0-9])(?:sas|salt)(?![a-z0-9])|(?:aws|access)_key_id|(?:api|access|private|license|account|shared|signing|encryption|auth|write|stream|master|instrumentation|ingestion|insert|integration)[-_]?key(?!_id)/i;
/** Of options that only sound like it: a path, a switch, a number of seconds. */
const HARMLESS =
  /(?:_path|_file|_url|_uri|_dir|_timeout|_interval|_ttl|_count|_size|_type|_name|tokeni[sz]er|pass_?through)$/i;
/** The address of a webhook is all that it takes to use it. */
const ADDRESS = /webhook|hook_url/i;

export const isSensitiveName = (name: string): boolean =>
  ADDRESS.test(name) || (SENSITIVE.test(name) && !HARMLESS.test(name));
