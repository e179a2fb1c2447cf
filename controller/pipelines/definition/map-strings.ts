/** Visits every string below a value, with its JSON pointer. */
export function eachString(
  value: unknown,
  pointer: string,
  visit: (text: string, pointer: string) => void,
): void {
  if (typeof value === 'string') visit(value, pointer);
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) eachString(item, `${pointer}/${index}`, visit);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      eachString(item, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, visit);
    }
  }
}
