/** The address of a sign-in with more parameters than it has. */
export function withParameters(url: string, parameters: Record<string, string>): string {
  const more = new URLSearchParams(parameters).toString();
  return more === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${more}`;
}
