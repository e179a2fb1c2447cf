/** The variable of a secret in configs: `SVC_SECRET_<UPPER_SNAKE>`. Several names give the same variable; only one of them may exist. */
export function secretVariable(name: string): string {
  return `SVC_SECRET_${name.replaceAll(/[^a-zA-Z0-9]+/g, '_').toUpperCase()}`;
}
