/** JSON pointers (RFC 6901). */
export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function pointerTo(parent: string, segment: string | number): string {
  if (typeof segment === 'number') return `${parent}/${segment}`;
  if (!segment.includes('~') && !segment.includes('/')) return `${parent}/${segment}`;
  return `${parent}/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
