/** Where alerts are sent to: endpoints of teams and environments, deliveries to them, and the formats of messages. */
export { deliverDue } from './deliveries/deliver.ts';
export { enqueueNotices, enqueueRepeats } from './deliveries/enqueue-store.ts';
export * as alertDeliveryOperations from './deliveries/environment-operations.ts';
export { NOTIFICATIONS_LOOP } from './deliveries/loop-name.ts';
export * as endpointDeliveryOperations from './deliveries/operations.ts';
export { countNotifications, deleteOldNotifications, listBusyEndpoints } from './deliveries/store.ts';
export { convergeWebhookEndpoints, pruneWebhookEndpoint } from './endpoints/converge.ts';
export * as alertWebhookOperations from './endpoints/environment-operations.ts';
export { isMailto, readMailto } from './endpoints/mail-addresses.ts';
export * as webhookEndpointOperations from './endpoints/operations.ts';
export { assertTarget } from './endpoints/target.ts';
export type { AlertNotice } from './notice.ts';
