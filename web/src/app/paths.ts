/** The one place that builds addresses of pages. */
type Query = Record<string, string | undefined>;

function build(segments: string[], query: Query = {}): string {
  const path = `/${segments.map(encodeURIComponent).join('/')}`;
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) search.set(key, value);
  return search.size > 0 ? `${path}?${search}` : path;
}

export type PipelineTab = 'nodes' | 'versions' | 'config';

export const paths = {
  signIn: (next?: string) => build(['sign-in'], { next }),
  overview: (env: string) => build(['e', env, 'overview']),
  pipelines: (env: string, query?: { q?: string; sort?: string; status?: string }) =>
    build(['e', env, 'pipelines'], query),
  pipeline: (env: string, id: string, query?: { tab?: PipelineTab; focus?: string }) =>
    build(['e', env, 'pipelines', id], query),
  fleet: (env: string, query?: { q?: string; health?: string; view?: string }) =>
    build(['e', env, 'fleet'], query),
  node: (env: string, id: string) => build(['e', env, 'fleet', id]),
  git: (env: string, query?: { focus?: string }) => build(['e', env, 'git'], query),
  secrets: (env: string) => build(['e', env, 'secrets']),
  settings: (env: string) => build(['e', env, 'settings']),
};

/** The same page in another environment; a single object does not exist there, so its list is shown. */
export function samePageIn(pathname: string, env: string): string {
  const page = pathname.split('/')[3] ?? 'overview';
  return build(['e', env, page]);
}
