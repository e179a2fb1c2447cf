export const SCIM_PATH = '/api/scim/v2';

/** The base URL to enter at the provider; every location in a response begins with it. */
export const scimBaseUrl = (baseUrl: string): string => `${baseUrl.replace(/\/$/, '')}${SCIM_PATH}`;
