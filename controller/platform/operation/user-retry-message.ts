/**
 * What is wrong with a git server or a forge, as reconcilers tell it: they look again by themselves. Of what somebody has
 * asked for once that is not true: the message asks them to try again. No I/O.
 */
export const toUserRetryMessage = (message: string): string =>
  message.replaceAll(
    /\bit is (?:tried|asked) again(?: by itself)?(?<when> later| at \d\d:\d\d UTC)?/g,
    'try again$<when>',
  );
