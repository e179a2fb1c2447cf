export const SCIM_PATH = '/api/scim/v2';

/** What a provider is given, to the letter; every location that it is told begins with it. */
export const scimBaseUrl = (baseUrl: string): string => `${baseUrl.replace(/\/$/, '')}${SCIM_PATH}`;
