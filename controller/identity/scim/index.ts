export { SCIM_PATH, scimBaseUrl } from './base-url.ts';
export { type Filter, type Path, parsePath, withoutCoreUrn } from './filter/filter.ts';
export * as scimGroupOperations from './group-operations.ts';
export { addRefusal } from './refusals-store.ts';
export { type ScimType, scimError } from './scim-errors.ts';
export * as scimSettings from './settings-operations.ts';
export { readScimSettings, type ScimSettings } from './settings-store.ts';
export { isScimToken } from './token.ts';
export * as scimUserOperations from './user-operations.ts';
