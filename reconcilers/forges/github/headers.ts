/** https://docs.github.com/rest/about-the-rest-api/api-versions */
export const GITHUB_HEADERS = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
} as const;
