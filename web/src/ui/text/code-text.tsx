/** Words of the server, in which backticks stand around what is written in a manifest. */
export const CodeText = ({ text }: { text: string }) =>
  text.split('`').length % 2 === 0
    ? text
    : text.split('`').map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no identity but their place.
        index % 2 === 1 ? <code key={index}>{part}</code> : part,
      );
