/** Of the loop that sends, in signals of the type `wake`. Its keys are the ids of endpoints. */
export const NOTIFICATIONS_LOOP = 'notifications';
